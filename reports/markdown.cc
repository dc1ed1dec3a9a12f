#include "reports/markdown.h"

#include <algorithm>
#include <cstdio>

#include "harness/base/text.h"
#include "reports/clean_text.h"
#include "reports/folded_table.h"
#include "reports/reproduction.h"
#include "reports/words.h"

namespace flce {
namespace {

constexpr size_t kMaxAttention = 30;
constexpr size_t kMaxFramesInComment = 8;

/// Writes texts of unknown origin so that Markdown does not act on them.
class Markdown {
 public:
  explicit Markdown(const ReportOptions& options) : options_(options) {}

  std::string Line(std::string_view text, size_t limit = 300) const { return Scrub(ReadableLine(text, limit), options_.private_words); }

  /// A code span, also valid in a table's cell.
  std::string Code(std::string_view text, size_t limit = 300) const {
    std::string line = Line(text, limit);
    if (line.empty()) return "";
    size_t run = 0, longest = 0;
    for (char c : line) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
    const std::string fence(longest + 1, '`');
    const std::string pad = line.front() == '`' || line.back() == '`' ? " " : "";
    return fence + pad + ReplaceAll(std::move(line), "|", "\\|") + pad + fence;
  }

  /// A fenced block whose fence is longer than any in the text.
  std::string Block(std::string_view text, std::string_view language, size_t limit = 8 * 1024) const {
    const std::string clean = Scrub(Readable(text, limit), options_.private_words);
    size_t run = 0, longest = 2;
    for (char c : clean) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
    const std::string fence(longest + 1, '`');
    return fence + std::string(language) + "\n" + clean + (clean.ends_with('\n') ? "" : "\n") + fence + "\n";
  }

  /// Plain words of this program with names in them: what Markdown or GitHub would act on is escaped.
  std::string Words(std::string_view text, size_t limit = 1000) const {
    std::string out;
    for (char c : Line(text, limit)) {
      switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '@': out += "@\u200b"; break;  // no one is called by a report
        case '\\': case '`': case '*': case '_': case '[': case ']': case '|': case '~': case '$':
          out += '\\';
          [[fallthrough]];
        default: out += c;
      }
    }
    return out;
  }

 private:
  const ReportOptions& options_;
};

/// The seed's form.
std::string EnvironmentTable(const RunRecord& run, const CellRecord& cell, const ReportOptions& options, const Markdown& md) {
  const auto host = run.host.find("os");
  const auto info = options.cases.find(cell.case_name);
  const bool emulated = cell.device_kind == DeviceKind::kEmulated;
  std::string gpu = (cell.device_name.empty() ? "GPU" : cell.device_name) + " (compute capability " + cell.capability +
                    (emulated ? ", emulated)" : ")");
  const std::string failure = ReadableLine(FailureLine(cell), 300);
  const std::pair<const char*, std::string> rows[] = {
      {"OS:      ", host == run.host.end() ? "" : host->second},
      {"Python:  ", cell.python},
      {"PyTorch: ", cell.torch + (cell.torch_git.empty() ? "" : " (" + cell.torch_git.substr(0, 12) + ")")},
      {"Liger:   ", cell.liger},
      {"Triton:  ", cell.triton},
      {"CUDA:    ", cell.cuda},
      {"GPU:     ", gpu},
      {"Case:    ", cell.case_name + (info == options.cases.end() || info->second.title.empty() ? "" : ": " + info->second.title)},
      {"Fix:     ", cell.fix == "none" ? "" : cell.fix},
      {"Result:  ", VerdictWords(cell) + (failure.empty() ? "" : " — " + failure)},
  };
  std::string text;
  for (const auto& [label, value] : rows)
    if (!value.empty()) text += label + ReadableLine(value, 400) + "\n";
  return md.Block(text, "");
}

std::string Proof(const CellRecord& cell, const ReportOptions& options, const Markdown& md) {
  std::string out;
  const auto row = [&](const char* label, const std::string& value) {
    if (!value.empty()) out += "- " + std::string(label) + ": " + value + "\n";
  };
  const bool known = !cell.verdict.signature.empty();
  const SignatureText signature = SignatureOf(cell.verdict.signature, options);
  if (cell.exception) {
    row("Exception", md.Code(cell.exception->chain.front().type));
    row("Says", md.Code(FailureLine(cell), 500));
    row("Target", md.Code(cell.exception->target));
  }
  row("Stage", cell.verdict.stage ? std::string(Text(*cell.verdict.stage)) : "");
  row("Call site", md.Code(cell.call_site));
  if (known) row("Known", md.Words(signature.known_range));
  row("Why this verdict", md.Words(cell.verdict.explanation));
  if (known) row("What to do", md.Words(signature.what_to_do));
  row("Fingerprint", known ? "" : md.Code(cell.verdict.fingerprint));
  row("Memory", md.Words(MemoryWords(cell)));
  row("Time", md.Words(TimeWords(cell)));
  row("Numbers", md.Words(NumericsWords(cell)));
  for (const Finding& finding : cell.verdict.findings) row("Note", md.Words(finding.text));
  row("Evidence", md.Words(EvidenceWords(cell)));
  return out;
}

std::string FixesTable(const RunRecord& run, const ReportOptions& options, const Markdown& md) {
  std::string out;
  for (const FixTable& table : FixTables(run, options)) {
    out += "\n" + md.Code(table.case_name) + (table.shape.empty() ? "" : ", " + table.shape) +
           "\n\n| fix | verdict | peak, eager | peak, compiled | ratio | time, eager -> compiled | numbers, against eager |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const FixSummary& fix : table.rows) {
      char ratio[32] = "";
      if (fix.ratio > 0) std::snprintf(ratio, sizeof ratio, "%.3g x%s", fix.ratio, fix.over_budget ? " **over budget**" : "");
      out += "| " + md.Code(fix.fix) + " | " + md.Words(fix.verdict) + " | " + (fix.ratio > 0 ? HumanBytes(fix.eager_peak) : "") + " | " +
             (fix.ratio > 0 ? HumanBytes(fix.compiled_peak) : "") + " | " + ratio + " | " + md.Words(TimeWords(fix)) + " | " +
             md.Words(fix.executed ? fix.numerics : "not computed (emulated)") + " |\n";
    }
    if (const std::string note = FixMemoryNote(table.rows); !note.empty()) out += "\n" + md.Words(note) + "\n";
  }
  return out.empty() ? "" : "### Fixes\n" + out;
}

std::string Folded(const FoldedTable& table, const Markdown& md) {
  std::string out = "\n" + md.Words(table.constants) + "\n\n|", rule = "|";
  for (const std::string& axis : table.row_axes) out += " " + axis + " |", rule += " --- |";
  for (const std::vector<std::string>& column : table.columns) {
    std::vector<std::string> names;
    for (size_t axis = 0; axis < column.size(); ++axis) {
      const std::string& name = table.column_axes[axis];
      // A version that stands alone must say of what; below Liger's it is a capability, as in the other tables.
      names.push_back(name == "fix" && column[axis] == "none" ? "no fix" : (column.size() > 1 && name == "capability" ? "" : name + " ") + md.Words(column[axis]));
    }
    out += " " + Join(names, "<br>") + " |", rule += " :-: |";
  }
  out += "\n" + rule + "\n";
  for (size_t row = 0; row < table.rows.size(); ++row) {
    out += "|";
    for (const std::string& name : table.rows[row]) out += " " + md.Words(name) + " |";
    for (const std::string& sign : table.signs[row]) out += " " + md.Words(sign) + " |";
    out += "\n";
  }
  return out;
}

std::string Matrix(const RunRecord& run, const ReportOptions& options, const Markdown& md) {
  if (run.cells.size() < 2) return "";
  std::string out = "### Matrix\n";
  std::vector<Mark> legend;
  for (const CellRecord& cell : run.cells) {
    Mark mark = MarkOf(cell, options);
    if (std::none_of(legend.begin(), legend.end(), [&](const Mark& other) { return other.label == mark.label; })) legend.push_back(std::move(mark));
  }
  const FoldedMatrix matrix = FoldedMatrixTables(run, options, true);
  for (const FoldedTable& table : matrix.folded) out += Folded(table, md);
  std::string singles;  // a table of one cell would be four lines for one sign
  for (const MatrixTable& table : matrix.tables) {
    if (table.torches.size() == 1 && table.columns.size() == 1) {
      const MatrixColumn& column = table.columns[0];
      singles += "- " + md.Words(column.signs[0]) + " " + md.Words(table.Title() + ": " + MarkOf(*column.cells[0], options).label + " on torch " + table.torches[0] + ", Liger " + column.liger + ", " + column.DevicesName()) + "\n";
      continue;
    }
    out += "\n" + md.Words(table.Title()) + "\n\n| torch |";
    for (const MatrixColumn& column : table.columns) out += " Liger " + md.Words(column.liger) + "<br>" + md.Words(column.DevicesName()) + " |";
    out += "\n| --- |";
    for (size_t i = 0; i < table.columns.size(); ++i) out += " :-: |";
    out += "\n";
    for (size_t row = 0; row < table.torches.size(); ++row) {
      out += "| " + md.Words(table.torches[row]) + " |";
      for (const MatrixColumn& column : table.columns) out += " " + md.Words(column.signs[row]) + " |";
      out += "\n";
    }
  }
  if (!singles.empty()) out += "\nSingle cells\n\n" + singles;
  std::vector<std::string> pieces;
  for (const Mark& mark : legend) pieces.push_back(mark.sign + " " + md.Words(mark.label));
  return out + "\n" + Join(pieces, ", ") + "; m over the memory budget, ↓ regressed, ↑ improved, ~ changed.\n";
}

std::string Attention(const RunRecord& run, const Markdown& md) {
  std::string out;
  size_t count = 0;
  for (const CellRecord& cell : run.cells) {
    if (!NeedsAttention(cell) || ++count > kMaxAttention) continue;
    out += "- " + md.Code(cell.case_name) + ", " + md.Words(CellWords(cell)) + ": **" + VerdictWords(cell) + "**";
    if (cell.standing) out += ", " + StandingWords(cell);
    const std::string line = cell.exception ? FailureLine(cell) : cell.verdict.explanation;
    out += (line.empty() ? "" : ": " + md.Code(line, 200)) + "\n";
  }
  if (count > kMaxAttention) out += "- and " + std::to_string(count - kMaxAttention) + " more\n";
  if (run.cells.size() < 2) out.clear();
  const bool wrong = std::any_of(run.controls.begin(), run.controls.end(), [](const ControlRecord& control) { return !control.as_required; });
  if (wrong) out = "- controls: " + md.Code(ControlsWords(run), 400) + "\n" + out;
  return out.empty() ? "" : "### Not as expected\n\n" + out;
}

std::string Chain(const CellRecord& cell, const Markdown& md) {
  if (!cell.exception) return "";
  std::string text;
  for (const ExceptionLink& link : cell.exception->chain) {
    text += (text.empty() ? "" : "\n") + ReadableLine(link.relation) + ": " + ReadableLine(link.type) + ": " + Readable(link.message, 2000) + "\n";
    const size_t from = link.frames.size() > kMaxFramesInComment ? link.frames.size() - kMaxFramesInComment : 0;
    for (size_t i = from; i < link.frames.size(); ++i)
      text += "    " + ReadableLine(link.frames[i].file) + ":" + std::to_string(link.frames[i].line) + " " + ReadableLine(link.frames[i].function) + "\n";
  }
  return "<details><summary>Exception chain</summary>\n\n" + md.Block(text, "") + "\n</details>\n";
}

struct Part {
  const char* name;  // as it is named when it has to go
  int weight;        // the lightest goes first
  std::string text;
};

}  // namespace

std::string RenderMarkdown(const RunRecord& run, const ReportOptions& options, size_t limit) {
  const Markdown md(options);
  const CellRecord* cell = LeadingCell(run);
  std::vector<Part> parts;
  parts.push_back({"verdict", 100, "## flce-repro: " + md.Words(Headline(run, options)) + "\n"});
  if (cell != nullptr) {
    const std::string which = run.cells.size() > 1 ? "The cell shown below is " + md.Words(CellWords(*cell)) + ", one of " + std::to_string(run.cells.size()) + ".\n\n" : "";
    parts.push_back({"environment", 90, which + EnvironmentTable(run, *cell, options, md)});
    parts.push_back({"proof", 80, "### Proof\n\n" + Proof(*cell, options, md)});
    parts.push_back({"list of cells that are not as expected", 70, Attention(run, md)});
    parts.push_back({"table of fixes", 60, FixesTable(run, options, md)});
    parts.push_back({"matrix", 50, Matrix(run, options, md)});
    const std::string script = ReproductionScript(*cell, options);
    if (!script.empty())
      parts.push_back({"reproduction script", 40,
                       "<details><summary>Reproduction script, stand-alone</summary>\n\n" + md.Block(script, "python") + "\n" +
                           (cell->device_kind == DeviceKind::kEmulated ? "Without a GPU, on the emulated device: " : "In the cell's environment: ") +
                           md.Code(ReproductionCommand(*cell), 600) + "\n\n</details>\n"});
    if (const auto patch = options.fix_patches.find(cell->fix); patch != options.fix_patches.end() && !patch->second.empty())
      parts.push_back({"patch of the fix", 35, "<details><summary>The fix, as a patch (-p1)</summary>\n\n" + md.Block(patch->second, "diff", 16 * 1024) + "\n</details>\n"});
    parts.push_back({"exception chain", 30, Chain(*cell, md)});
    const auto lock = options.locks.find(cell->lock_sha256);
    if (lock != options.locks.end())
      parts.push_back({"lock", 20, "<details><summary>Environment, locked (uv pip install -r)</summary>\n\n" + md.Block(lock->second, "", 32 * 1024) + "\n</details>\n"});
    parts.push_back({"command", 85, "Repeat it: " + md.Code(RepeatCommand(*cell), 600) + "\n"});
  }
  std::vector<std::string> dropped;
  const auto whole = [&] {
    std::string text;
    for (const Part& part : parts)
      if (!part.text.empty()) text += (text.empty() ? "" : "\n") + part.text;
    text += "\n<sub>flce-repro " + md.Words(run.tool_version) + ", run " + md.Words(run.id) + (cell == nullptr || cell->lock_sha256.empty() ? "" : ", lock " + md.Words(cell->lock_sha256.substr(0, 16))) + ".";
    if (!dropped.empty()) text += " Left out for length: " + Join(dropped, ", ") + "; the JSON report holds all.";
    return text + "</sub>\n";
  };
  std::string text = whole();
  while (text.size() >= limit) {
    const auto lightest = std::min_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.weight < b.weight; });
    if (lightest->weight == 100) return Truncate(text, limit > 64 ? limit - 64 : 0);
    if (!lightest->text.empty()) dropped.emplace_back(lightest->name);
    parts.erase(lightest);
    text = whole();
  }
  return text;
}

std::string RenderMarkdown(const RunRecord& run, const ReportOptions& options) { return RenderMarkdown(run, options, kCommentLimit); }

}  // namespace flce
