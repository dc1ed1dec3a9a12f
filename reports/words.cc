#include "reports/words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/model/peak.h"
#include "reports/clean_text.h"

namespace flce {
namespace {

struct MarkRow {
  MarkClass mark_class;
  std::string_view sign, ascii_sign, label;
};
constexpr MarkRow kMarks[] = {
    {MarkClass::kSignature, "●", "*", "reproduced"},
    {MarkClass::kFixed, "✓", "+", "fixed"},
    {MarkClass::kNotAffected, "–", "-", "not affected"},
    {MarkClass::kNotExercised, "○", "o", "not exercised"},
    {MarkClass::kNotCompiled, "◌", "c", "not compiled"},
    {MarkClass::kUnexpected, "!", "!", "unexpected failure"},
    {MarkClass::kSkipped, "·", ".", "skipped"},
    {MarkClass::kEagerFailed, "e", "e", "fails in eager"},
    {MarkClass::kNumerics, "≠", "#", "wrong numbers"},
    {MarkClass::kEnvironment, "?", "?", "environment"},
    {MarkClass::kCrashed, "✗", "x", "crashed"},
    {MarkClass::kTimedOut, "t", "t", "timed out"},
};

MarkClass ClassOf(const Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kReproduced:
      return MarkClass::kSignature;
    case Outcome::kNotReproduced:
      switch (verdict.reason) {
        case Reason::kNotAffected:
          return MarkClass::kNotAffected;
        case Reason::kNotExercised:
        case Reason::kFixNoEffect:
          return MarkClass::kNotExercised;
        case Reason::kNotCompiled:
          return MarkClass::kNotCompiled;
        default:
          return MarkClass::kFixed;
      }
    case Outcome::kUnexpected:
      return MarkClass::kUnexpected;
    case Outcome::kSkipped:
      return MarkClass::kSkipped;
    case Outcome::kEagerFailed:
      return MarkClass::kEagerFailed;
    case Outcome::kNumericsMismatch:
      return MarkClass::kNumerics;
    case Outcome::kEnvironment:
      return MarkClass::kEnvironment;
    case Outcome::kCrashed:
      return MarkClass::kCrashed;
    case Outcome::kTimedOut:
      return MarkClass::kTimedOut;
  }
  return MarkClass::kEnvironment;
}

// A model has many gradients; more than these are counted, not named.
constexpr size_t kTensorsNamed = 2;

std::string Number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

double GradWeightDifference(const CellRecord& cell) {
  if (!cell.numerics || !cell.numerics->computed) return -1;
  const auto it = cell.numerics->tensors.find("grad_w");
  if (it == cell.numerics->tensors.end()) return 0;
  return std::isnan(it->second.max_abs) ? INFINITY : it->second.max_abs;
}

}  // namespace

Mark MarkOf(const CellRecord& cell, const ReportOptions& options) {
  const MarkRow& row = kMarks[static_cast<size_t>(ClassOf(cell.verdict))];
  Mark mark{row.mark_class, std::string(row.sign), std::string(row.ascii_sign), std::string(row.label)};
  if (mark.mark_class == MarkClass::kSignature) {
    const SignatureText text = SignatureOf(cell.verdict.signature, options);
    mark.label = text.label;
    if (!text.mark.empty()) mark.sign = mark.ascii_sign = text.mark;
  } else if (cell.verdict.reason == Reason::kFixNoEffect || cell.verdict.reason == Reason::kFixDoesNotApply) {
    mark.label = cell.verdict.reason == Reason::kFixNoEffect ? "the fix changed nothing" : "the fix does not apply";
  }
  return mark;
}

SignatureText SignatureOf(const std::string& id, const ReportOptions& options) {
  const auto it = options.signatures.find(id);
  SignatureText text = it == options.signatures.end() ? SignatureText{} : it->second;
  const size_t colon = text.title.find(": ");
  if (text.label.empty() && colon != std::string::npos && colon <= 12) {  // "Tier 1: addmm ..."
    text.label = text.title.substr(0, colon);
    text.title = text.title.substr(colon + 2);
  }
  if (text.label.empty()) text.label = !text.title.empty() ? text.title : id.empty() ? "a known failure" : id;
  if (text.title.empty()) text.title = text.label;
  if (text.mark.empty() && text.label.starts_with("Tier ")) text.mark = text.label.substr(5, 2);
  return text;
}

std::string VerdictWords(const CellRecord& cell) {
  std::string words(Label(cell.verdict.outcome));
  const std::string reason = ReplaceAll(std::string(Text(cell.verdict.reason)), "_", " ");
  if (!reason.empty()) words += " (" + reason + ")";
  return words;
}

std::string PublicVersion(const std::string& version) { return version.substr(0, version.find('+')); }

std::string DeviceWords(const CellRecord& cell) {
  if (cell.device_kind == DeviceKind::kEmulated) return "emulated " + cell.capability;
  return (cell.device_name.empty() ? "GPU" : cell.device_name) + " (" + cell.capability + ")";
}

std::string CellWords(const CellRecord& cell) {
  std::string words = "torch " + PublicVersion(cell.torch) + ", Liger " + cell.liger;
  if (cell.fix != "none" && !cell.fix.empty()) words += ", fix " + cell.fix;
  words += ", " + DeviceWords(cell);
  if (cell.shape) words += ", " + Text(*cell.shape);
  if (cell.seed) words += ", seed " + std::to_string(*cell.seed);
  return words;
}

std::string EvidenceWords(const CellRecord& cell) {
  if (cell.verdict.evidence == Evidence::kExecuted)
    return std::string("executed on a real GPU: the numbers count") + (cell.poisoned == true ? "; free memory held NaNs before each measured run" : "");
  return "compiled and launched on an emulated GPU: verdict and peak memory count, values were not computed";
}

bool OverBudget(const CellRecord& cell) {
  return std::any_of(cell.verdict.findings.begin(), cell.verdict.findings.end(),
                     [](const Finding& finding) { return finding.kind == "memory_budget"; });
}

std::string MemoryWords(const CellRecord& cell) {
  const MemoryRecord& memory = cell.memory;
  std::string words;
  if (memory.eager_peak_bytes) words = "eager " + HumanBytes(*memory.eager_peak_bytes);
  if (memory.compiled_peak_bytes)
    words += (words.empty() ? "compiled " : ", compiled ") + HumanBytes(*memory.compiled_peak_bytes);
  if (memory.eager_peak_bytes && memory.compiled_peak_bytes && *memory.eager_peak_bytes > 0) {
    char buffer[64];
    const double ratio = static_cast<double>(*memory.compiled_peak_bytes) / static_cast<double>(*memory.eager_peak_bytes);
    std::snprintf(buffer, sizeof buffer, ": %.3g x", ratio);
    words += buffer;
    if (memory.budget_ratio) {
      std::snprintf(buffer, sizeof buffer, ", budget %.3g x", *memory.budget_ratio);
      words += buffer;
    }
    if (OverBudget(cell)) words += ", over budget";
  }
  return words;
}

std::string NumericsWords(const CellRecord& cell) {
  if (!cell.numerics || !cell.numerics->computed) return "";
  const auto& tensors = cell.numerics->tensors;
  std::vector<std::string> names, others, pieces;
  for (const char* usual : {"loss", "result", "grad_x", "grad_w"})
    if (tensors.count(usual) > 0) names.emplace_back(usual);
  for (const auto& entry : tensors)
    if (std::find(names.begin(), names.end(), entry.first) == names.end()) others.push_back(entry.first);
  const bool named = others.size() <= kTensorsNamed;
  if (named) names.insert(names.end(), others.begin(), others.end());
  for (const std::string& name : names) {
    const TensorComparison& c = tensors.at(name);
    std::string piece = name + (c.bitwise ? " bitwise equal" : c.max_abs == 0 ? " differs by a NaN or the sign of a zero" : " differs by up to " + Number(c.max_abs));
    if (!c.bitwise && c.max_ulp && c.max_abs != 0) piece += " (" + Number(*c.max_ulp) + " ulp)";
    if (!c.bitwise && c.within_bound) piece += *c.within_bound ? ", within its bound" : ", BEYOND its bound";
    pieces.push_back(std::move(piece));
  }
  if (!named) {
    const auto equal = std::count_if(others.begin(), others.end(), [&](const std::string& name) { return tensors.at(name).bitwise; });
    pieces.push_back(std::to_string(others.size()) + " other gradients, " + std::to_string(equal) + " of them bitwise equal");
  }
  return Join(pieces, "; ");
}

std::string FailureLine(const CellRecord& cell) {
  if (!cell.exception || cell.exception->chain.empty()) return "";
  const std::vector<ExceptionLink>& chain = cell.exception->chain;
  const std::string root = FirstLine(chain.back().message.substr(0, 4096));
  const std::string first = FirstLine(chain.front().message.substr(0, 4096));
  if (root.empty() || chain.size() == 1 || first.find(root) != std::string::npos)
    return first.empty() ? chain.front().type : first;
  // Newer torches open with a general sentence and name the cause below it.
  const size_t dot = chain.back().type.rfind('.');
  return (dot == std::string::npos ? chain.back().type : chain.back().type.substr(dot + 1)) + ": " + root;
}

std::string StandingWords(const CellRecord& cell) {
  if (!cell.standing) return "";
  switch (*cell.standing) {
    case Standing::kExpected:
      return "as expected";
    case Standing::kRegressed:
      return "REGRESSED";
    case Standing::kImproved:
      return "improved: better than expected";
    case Standing::kChanged:
      return "changed: another failure than expected";
    case Standing::kUnlisted:
      return "not in the expectations";
  }
  return "";
}

std::vector<std::string> CaseNames(const RunRecord& run) {
  std::vector<std::string> names;
  for (const CellRecord& cell : run.cells)
    if (std::find(names.begin(), names.end(), cell.case_name) == names.end()) names.push_back(cell.case_name);
  return names;
}

bool NeedsAttention(const CellRecord& cell) {
  if (cell.standing && *cell.standing != Standing::kUnlisted) return *cell.standing != Standing::kExpected;
  return (IsFailure(cell.verdict.outcome) && cell.verdict.outcome != Outcome::kReproduced) || IsInconclusive(cell.verdict.outcome);
}

const CellRecord* LeadingCell(const RunRecord& run) {
  const auto rank = [](const CellRecord& cell) {
    const bool attention = NeedsAttention(cell);
    if (attention && !IsInconclusive(cell.verdict.outcome)) return 0;
    if (cell.verdict.outcome == Outcome::kReproduced && cell.fix == "none") return 1;
    if (attention) return 2;
    return IsFailure(cell.verdict.outcome) ? 3 : 4;
  };
  const CellRecord* best = nullptr;
  const auto newer = [](const CellRecord& a, const CellRecord& b) {  // among equals, the newest torch says most
    const std::optional<Version> left = Version::Parse(a.torch), right = Version::Parse(b.torch);
    return left && right && *left > *right;
  };
  for (const CellRecord& cell : run.cells)
    if (best == nullptr || rank(cell) < rank(*best) || (rank(cell) == rank(*best) && newer(cell, *best))) best = &cell;
  return best;
}

namespace {

std::string Milliseconds(double ms) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.3g", ms);
  return ms >= 1000 ? HumanSeconds(ms / 1000) : std::string(buffer) + " ms";
}

std::optional<double> TimeOf(const CellRecord& cell, const char* name) {
  if (cell.verdict.evidence != Evidence::kExecuted) return std::nullopt;
  const auto it = cell.timings_ms.find(name);
  return it == cell.timings_ms.end() ? std::nullopt : std::optional<double>(it->second);
}

std::optional<double> MedianTime(const std::vector<const CellRecord*>& cells, const char* name) {
  std::vector<double> times;
  for (const CellRecord* cell : cells)
    if (const std::optional<double> time = TimeOf(*cell, name)) times.push_back(*time);
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  const size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

FixSummary Summarise(const std::vector<const CellRecord*>& cells) {
  FixSummary summary;
  summary.fix = cells.front()->fix;
  double worst = -1;
  for (const CellRecord* cell : cells) {
    const MarkClass mark_class = ClassOf(cell->verdict);
    // Where the call is not made there is nothing to fix; where the machine failed, nothing is known.
    summary.affected += !IsInconclusive(cell->verdict.outcome) && mark_class != MarkClass::kNotAffected && mark_class != MarkClass::kNotExercised && mark_class != MarkClass::kSkipped;
    summary.fixed += mark_class == MarkClass::kFixed;
    summary.failing += IsFailure(cell->verdict.outcome);
    summary.over_budget |= OverBudget(*cell);
    summary.executed |= cell->verdict.evidence == Evidence::kExecuted;
    const MemoryRecord& memory = cell->memory;
    if (memory.eager_peak_bytes && memory.compiled_peak_bytes && *memory.eager_peak_bytes > 0) {
      const double ratio = static_cast<double>(*memory.compiled_peak_bytes) / static_cast<double>(*memory.eager_peak_bytes);
      if (ratio > summary.ratio) {
        summary.ratio = ratio;
        summary.eager_peak = *memory.eager_peak_bytes;
        summary.compiled_peak = *memory.compiled_peak_bytes;
        summary.shape = cell->shape ? Text(*cell->shape) : "the case's own";
      }
    }
    if (const double difference = GradWeightDifference(*cell); difference > worst) {
      worst = difference;
      summary.numerics = NumericsWords(*cell);
    }
  }
  summary.eager_ms = MedianTime(cells, "eager");
  summary.compiled_ms = MedianTime(cells, "compiled");
  summary.first_ms = MedianTime(cells, "compiled_first");
  return summary;
}

/// Cells by fix, in order of first appearance.
std::vector<std::vector<const CellRecord*>> ByFix(const std::vector<const CellRecord*>& cells) {
  std::vector<std::vector<const CellRecord*>> groups;
  for (const CellRecord* cell : cells) {
    auto it = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.front()->fix == cell->fix; });
    if (it == groups.end()) it = groups.emplace(groups.end());
    it->push_back(cell);
  }
  return groups;
}

/// "fixed", or each result with its number of cells.
std::string VerdictsOf(const std::vector<const CellRecord*>& cells, const ReportOptions& options) {
  std::vector<std::pair<std::string, size_t>> counts;
  for (const CellRecord* cell : cells) {
    std::string label = MarkOf(*cell, options).label;
    if (cell->verdict.outcome == Outcome::kReproduced && cell->verdict.reason == Reason::kFixNoEffect) label += ": the fix had no part";
    auto it = std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == label; });
    if (it == counts.end()) it = counts.insert(counts.end(), {label, 0});
    ++it->second;
  }
  if (cells.size() == 1) return counts.front().first;
  std::vector<std::string> pieces;
  for (const auto& [label, count] : counts) pieces.push_back(label + " in " + std::to_string(count));
  return Join(pieces, ", ");
}

}  // namespace

std::vector<FixSummary> FixSummaries(const RunRecord& run, const std::string& case_name) {
  std::vector<const CellRecord*> cells;
  for (const CellRecord& cell : run.cells)
    if (cell.case_name == case_name) cells.push_back(&cell);
  std::vector<FixSummary> summaries;
  for (const std::vector<const CellRecord*>& group : ByFix(cells)) summaries.push_back(Summarise(group));
  return summaries;
}

std::string ControlsWords(const RunRecord& run) {
  std::vector<std::string> right, wrong;
  for (const ControlRecord& control : run.controls) {
    if (control.as_required) {
      right.push_back(control.role);
    } else {
      wrong.push_back(control.case_name + " must come out " + control.role + ": " + control.text);
    }
  }
  if (run.controls.empty()) return "";
  std::string words = std::to_string(right.size()) + " of " + std::to_string(run.controls.size()) + " came out as they must";
  if (!right.empty()) words += " (" + Join(right, ", ") + ")";
  return wrong.empty() ? words : words + "; nothing here can be trusted: " + Join(wrong, "; ");
}

std::string FixMemoryNote(const std::vector<FixSummary>& fixes) {
  const bool measured = std::any_of(fixes.begin(), fixes.end(), [](const FixSummary& fix) { return fix.ratio > 0; });
  const bool small = std::all_of(fixes.begin(), fixes.end(), [](const FixSummary& fix) { return fix.eager_peak < kTellingPeak; });
  return measured && small ? "Peaks of tensors this small say little: what a fix costs shows with --shape 2048x1024x151936." : "";
}

std::vector<FixTable> FixTables(const RunRecord& run, const ReportOptions& options) {
  std::vector<FixTable> tables;
  std::vector<std::vector<const CellRecord*>> cells;
  for (const CellRecord& cell : run.cells) {
    const std::string shape = cell.shape ? Text(*cell.shape) : "";
    auto it = std::find_if(tables.begin(), tables.end(),
                           [&](const FixTable& table) { return table.case_name == cell.case_name && table.shape == shape; });
    if (it == tables.end()) {
      it = tables.insert(tables.end(), FixTable{cell.case_name, shape, {}});
      cells.emplace_back();
    }
    cells[static_cast<size_t>(it - tables.begin())].push_back(&cell);
  }
  for (size_t i = 0; i < tables.size(); ++i)
    for (const std::vector<const CellRecord*>& group : ByFix(cells[i])) {
      tables[i].rows.push_back(Summarise(group));
      tables[i].rows.back().verdict = VerdictsOf(group, options);
    }
  std::erase_if(tables, [](const FixTable& table) {
    return std::all_of(table.rows.begin(), table.rows.end(), [](const FixSummary& fix) { return fix.fix == "none"; });
  });
  return tables;
}

std::string TimeWords(const FixSummary& fix) {
  if (!fix.executed) return "not measured";
  std::string words = fix.eager_ms ? Milliseconds(*fix.eager_ms) : "-";
  words += " -> " + (fix.compiled_ms ? Milliseconds(*fix.compiled_ms) : std::string("-"));
  if (fix.first_ms) words += ", " + Milliseconds(*fix.first_ms) + " first";
  return words;
}

std::string TimeWords(const CellRecord& cell) {
  const std::optional<double> eager = TimeOf(cell, "eager"), compiled = TimeOf(cell, "compiled"), first = TimeOf(cell, "compiled_first");
  std::vector<std::string> pieces;
  if (eager) pieces.push_back("eager " + Milliseconds(*eager));
  if (compiled) pieces.push_back("compiled " + Milliseconds(*compiled));
  std::string words = Join(pieces, ", ");
  if (compiled && first) words += "; first call, compile included, " + Milliseconds(*first);
  return words;
}

}  // namespace flce
