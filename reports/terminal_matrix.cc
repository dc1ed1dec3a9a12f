#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <set>
#include <tuple>

#include "harness/base/text.h"
#include "reports/clean_text.h"
#include "reports/folded_table.h"
#include "reports/terminal_parts.h"

namespace flce {
namespace {

constexpr size_t kMaxAttention = 20;
constexpr size_t kMaxFixTables = 8;  // a screen or two; Markdown and the page have all

std::string LegendText(const RunRecord& run, const ReportOptions& options, const TerminalOptions& terminal, const Ink& ink) {
  std::vector<std::pair<Mark, int>> counts;
  bool memory = false;
  std::set<Standing> standings;
  for (const CellRecord& cell : run.cells) {
    const Mark mark = MarkOf(cell, options);
    auto it = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first.label == mark.label; });
    if (it == counts.end()) it = counts.insert(counts.end(), {mark, 0});
    ++it->second;
    memory |= OverBudget(cell);
    if (cell.standing) standings.insert(*cell.standing);
  }
  // Failures first, then what works: the order of the classes, and of the signs within one.
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.mark_class, a.first.sign) < std::tie(b.first.mark_class, b.first.sign);
  });
  std::string out = "\n";
  std::string line = "  ";
  size_t used = 2;
  const auto add = [&](const std::string& painted, const std::string& plain) {
    if (used + DisplayWidth(plain) + 3 > terminal.width && used > 2) {
      while (line.back() == ' ') line.pop_back();
      out += line + "\n", line = "  ", used = 2;
    }
    line += painted + "   ";
    used += DisplayWidth(plain) + 3;
  };
  for (const auto& [mark, count] : counts) {
    const std::string sign = terminal.unicode ? mark.sign : mark.ascii_sign;
    const std::string rest = " " + ReadableLine(mark.label, 60) + ": " + std::to_string(count);
    add(PaintMark(mark, sign, 0, ink) + rest, sign + rest);
  }
  if (memory) add("m over the memory budget", "m over the memory budget");
  if (standings.count(Standing::kRegressed)) add(terminal.unicode ? "↓ regressed" : "v regressed", "↓ regressed");
  if (standings.count(Standing::kImproved)) add(terminal.unicode ? "↑ improved" : "^ improved", "↑ improved");
  if (standings.count(Standing::kChanged)) add("~ changed", "~ changed");
  while (line.back() == ' ') line.pop_back();
  return out + line + "\n";
}

/// A table for each case and shape: a fix, what came of it, its peak and its time; what its numbers are stands below it.
std::string FixesText(const RunRecord& run, const ReportOptions& options, const TerminalOptions& terminal, const Ink& ink) {
  std::string out;
  bool emulated = false;
  std::vector<FixTable> tables = FixTables(run, options);
  const size_t more = tables.size() > kMaxFixTables ? tables.size() - kMaxFixTables : 0;
  tables.resize(tables.size() - more);
  for (const FixTable& table : tables) {
    std::vector<std::array<std::string, 5>> rows = {{"fix", "verdict", "peak", "x eager", "eager -> compiled"}};
    for (const FixSummary& fix : table.rows) {
      char ratio[40] = "";
      if (fix.ratio > 0) std::snprintf(ratio, sizeof ratio, "%.3g%s", fix.ratio, fix.over_budget ? " m" : "");
      // A patch is known by its file name; where it lies is in the report.
      rows.push_back({FitWidth(ReadableLine(fix.fix.substr(fix.fix.rfind('/') + 1)), 24), fix.verdict, fix.ratio > 0 ? HumanBytes(fix.compiled_peak) : "-", fix.ratio > 0 ? ratio : "-", TimeWords(fix)});
      emulated |= !fix.executed;
    }
    std::array<size_t, 5> widths{};
    for (const auto& row : rows)
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]) + 2);
    widths[1] = std::min<size_t>(widths[1], 40);
    const bool fits = std::accumulate(widths.begin(), widths.end(), size_t{4}) <= terminal.width + 2;
    out += "\n  " + ink.Bold(FitWidth(ReadableLine("Fixes of " + table.case_name + (table.shape.empty() ? "" : ", " + table.shape)), terminal.width - 2)) + "\n";
    for (size_t r = 0; r < rows.size(); ++r) {
      std::string line;
      for (size_t i = 0; i < rows[r].size() - !fits; ++i) line += PadWidth(FitWidth(rows[r][i], widths[i] - 2), widths[i]);
      line = "    " + FitWidth(std::string(Trim(line)), terminal.width - 4);
      out += (r == 0 ? ink.Dim(line) : line) + "\n";
      if (r == 0) continue;
      const FixSummary& fix = table.rows[r - 1];
      // What has no room beside the others stands below.
      const std::string time = fits || !fix.executed ? "" : "time " + TimeWords(fix);
      const std::string below = time + (time.empty() || fix.numerics.empty() ? "" : "; ") + fix.numerics;
      if (below.empty()) continue;
      for (const std::string& text : WrapWords(below, std::min<size_t>(terminal.width - 8, 100))) out += "        " + ink.Dim(text) + "\n";
    }
    if (const std::string note = FixMemoryNote(table.rows); !note.empty())
      for (const std::string& line : WrapWords(note, std::min<size_t>(terminal.width - 4, 106))) out += "    " + ink.Dim(line) + "\n";
  }
  if (more > 0) out += "\n    " + ink.Dim(FitWidth("fixes of " + std::to_string(more) + " more: --markdown FILE has every table", terminal.width - 4)) + "\n";
  if (!out.empty() && emulated)
    for (const std::string& text : WrapWords("on the emulated device times were not measured and values not computed", std::min<size_t>(terminal.width - 4, 100)))
      out += "    " + ink.Dim(text) + "\n";
  return out;
}

std::string AttentionText(const RunRecord& run, const ReportOptions& options, const TerminalOptions& terminal, const Ink& ink) {
  std::string out;
  size_t shown = 0, all = 0;
  for (const CellRecord& cell : run.cells) {
    if (!NeedsAttention(cell)) continue;
    if (++all > kMaxAttention) continue;
    ++shown;
    const Mark mark = MarkOf(cell, options);
    std::string what = VerdictWords(cell) + (mark.mark_class == MarkClass::kSignature ? " " + mark.label : "");
    const std::string standing = StandingWords(cell);
    if (cell.standing && *cell.standing != Standing::kUnlisted) what = standing + ": " + what;
    out += "    " + PaintMark(mark, terminal.unicode ? mark.sign : mark.ascii_sign, 3, ink) + FitWidth(ReadableLine(cell.case_name + ": " + CellWords(cell)), terminal.width - 8) + "\n";
    out += "       " + ink.Bold(FitWidth(what, terminal.width - 8)) + "\n";
    const std::string line = cell.exception ? FailureLine(cell) : cell.verdict.explanation;
    if (!line.empty()) out += "       " + ink.Dim(FitWidth(ReadableLine(line), terminal.width - 8)) + "\n";
  }
  if (all == 0) return "";
  if (all > shown) out += "    and " + std::to_string(all - shown) + " more: see the report\n";
  return "\n  " + ink.Bold("Look at these") + "\n" + out;
}

std::string StandingCounts(const RunRecord& run) {
  std::vector<std::string> pieces;
  for (Standing standing : AllStandings()) {
    const auto count = std::count_if(run.cells.begin(), run.cells.end(), [&](const CellRecord& c) { return c.standing == standing; });
    if (count > 0) pieces.push_back(std::to_string(count) + " " + (standing == Standing::kExpected ? "as expected" : std::string(Text(standing))));
  }
  return Join(pieces, ", ");
}

}  // namespace

std::string PaintMark(const Mark& mark, const std::string& sign, size_t width, const Ink& ink) {
  const std::string padding = PadWidth("", width > DisplayWidth(sign) ? width - DisplayWidth(sign) : 0);
  switch (mark.mark_class) {
    case MarkClass::kSignature:
      return (mark.sign == "1" ? ink.Bold(ink.Yellow(sign)) : ink.Bold(ink.Magenta(sign))) + padding;
    case MarkClass::kFixed:
      return ink.Green(sign) + padding;
    case MarkClass::kNotAffected:
    case MarkClass::kNotExercised:
    case MarkClass::kNotCompiled:
    case MarkClass::kSkipped:
      return ink.Dim(sign) + padding;
    case MarkClass::kEnvironment:
    case MarkClass::kTimedOut:
      return ink.Cyan(sign) + padding;
    default:
      return ink.Bold(ink.Red(sign)) + padding;
  }
}

std::string MatrixText(const RunRecord& run, const ReportOptions& options, const TerminalOptions& terminal) {
  const Ink ink(terminal.color);
  std::string out;
  const std::string standings = StandingCounts(run);
  for (const std::string& line : WrapWords(ReadableLine(Headline(run, options), 1000), std::min<size_t>(terminal.width, 110))) out += ink.Bold(line) + "\n";
  const std::string counts = std::to_string(run.cells.size()) + " cells" + (standings.empty() ? "" : ": " + standings);
  if (terminal.quiet) return out + counts + "\n";
  std::string singles;  // a table of one cell would be three lines for one sign
  const FoldedMatrix matrix = FoldedMatrixTables(run, options, terminal.unicode);
  for (const FoldedTable& table : matrix.folded) out += FoldedTableText(table, options, terminal);
  for (const MatrixTable& table : matrix.tables) {
    if (table.torches.size() > 1 || table.columns.size() > 1) {
      out += MatrixTableText(table, options, terminal);
      continue;
    }
    const CellRecord& cell = *table.columns[0].cells[0];
    const Mark mark = MarkOf(cell, options);
    singles += "    " + PaintMark(mark, table.columns[0].signs[0], 4, ink) +
               FitWidth(ReadableLine(table.Title() + ": " + mark.label + " on torch " + table.torches[0] + ", Liger " + table.columns[0].liger + ", " + table.columns[0].DevicesName()), terminal.width - 9) + "\n";
  }
  if (!singles.empty()) out += "\n  " + ink.Bold("Single cells") + "\n" + singles;
  out += LegendText(run, options, terminal, ink);
  out += FixesText(run, options, terminal, ink);
  out += AttentionText(run, options, terminal, ink);
  const bool emulated = std::any_of(run.cells.begin(), run.cells.end(), [](const CellRecord& c) { return c.verdict.evidence == Evidence::kEmulated; });
  out += "\n";
  for (const std::string& line : WrapWords(counts, terminal.width - 4)) out += "  " + line + "\n";
  if (emulated) out += LabelledText("evidence", "emulated cells were compiled and launched for real: verdict and peak memory count, values were not computed", terminal);
  return out;
}

}  // namespace flce
