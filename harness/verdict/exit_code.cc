#include "harness/verdict/exit_code.h"

#include <algorithm>
#include <map>

#include "harness/base/text.h"
#include "harness/verdict/judge.h"

namespace flce {
namespace {

/// What one cell does to the exit code.
enum class Weight { kFine, kFailure, kImproved, kInconclusive };

bool HasFinding(const CellRecord& cell, std::string_view kind) {
  return std::any_of(cell.verdict.findings.begin(), cell.verdict.findings.end(), [&](const Finding& finding) { return finding.kind == kind; });
}

Weight GateWeight(const CellRecord& cell) {
  // A compile that works by spending many times the memory is no pass, whatever was expected of its verdict.
  if (HasFinding(cell, "memory_budget")) return Weight::kFailure;
  if (!cell.standing) return Weight::kInconclusive;
  switch (*cell.standing) {
    case Standing::kExpected:
      return Weight::kFine;
    case Standing::kRegressed:
    case Standing::kChanged:
      return Weight::kFailure;
    case Standing::kImproved:
      return Weight::kImproved;
    case Standing::kUnlisted:
      break;
  }
  if (HasFinding(cell, kNeedsGpuFinding)) return Weight::kInconclusive;
  if (IsFailure(cell.verdict.outcome)) return Weight::kFailure;
  return cell.verdict.outcome == Outcome::kNotReproduced ? Weight::kFine : Weight::kInconclusive;
}

int Gate(const std::vector<const CellRecord*>& cells, bool control_wrong, bool controls_only) {
  if (control_wrong) return 4;
  if (cells.empty()) return controls_only ? 0 : 5;
  bool improved = false, inconclusive = false;
  for (const CellRecord* cell : cells) {
    const Weight weight = GateWeight(*cell);
    if (weight == Weight::kFailure) return 1;
    improved |= weight == Weight::kImproved;
    inconclusive |= weight == Weight::kInconclusive;
  }
  return inconclusive ? 4 : improved ? 3 : 0;
}

int SeedCode(Outcome outcome) {
  switch (outcome) {
    case Outcome::kReproduced:
      return 0;
    case Outcome::kSkipped:
    case Outcome::kEnvironment:
    case Outcome::kTimedOut:
      return 2;
    case Outcome::kNotReproduced:
    case Outcome::kUnexpected:
    case Outcome::kEagerFailed:
    case Outcome::kNumericsMismatch:
    case Outcome::kCrashed:
      return 1;
  }
  return 1;
}

int Seed(const std::vector<const CellRecord*>& cells, bool control_wrong) {
  bool undecided = cells.empty() || control_wrong;
  for (const CellRecord* cell : cells) {
    const int code = SeedCode(cell->verdict.outcome);
    if (code == 1) return 1;
    undecided |= code == 2;
  }
  return undecided ? 2 : 0;
}

int GitBisect(const std::vector<const CellRecord*>& cells, bool control_wrong) {
  if (cells.empty()) return 128;
  if (control_wrong) return 125;
  bool unclear = false;
  for (const CellRecord* cell : cells) {
    if (cell->verdict.outcome == Outcome::kReproduced) return 1;
    const bool good = cell->verdict.outcome == Outcome::kNotReproduced &&
                      (cell->verdict.reason == Reason::kFixed || cell->verdict.reason == Reason::kNotAffected);
    unclear |= !good;
  }
  return unclear ? 125 : 0;
}

}  // namespace

ControlsVerdict CheckControls(const std::vector<CellRecord>& cells, const Expectations& expectations, bool required) {
  ControlsVerdict verdict;
  std::map<ControlRole, int> seen;
  for (const CellRecord& cell : cells) {
    const ExpectationRule* rule = expectations.Find(FactsOf(cell));
    if (rule == nullptr || !rule->control) continue;
    verdict.cells.insert(cell.id);
    ++seen[*rule->control];
    const Judgement judgement = Judge(cell, expectations);
    if (judgement.standing != Standing::kExpected)
      verdict.problems.push_back("control '" + cell.case_name + "' must come out " + std::string(Text(*rule->control)) + ": " + judgement.text);
  }
  if (required)
    for (ControlRole role : kRequiredControls)
      if (seen[role] == 0) verdict.problems.push_back("no control that must come out " + std::string(Text(role)) + " was run");
  return verdict;
}

std::vector<ControlRecord> ReportControls(const std::vector<CellRecord>& controls, const Expectations& expectations) {
  std::vector<ControlRecord> records;
  for (const CellRecord& cell : controls) {
    const ExpectationRule* rule = expectations.Find(FactsOf(cell));
    if (rule == nullptr || !rule->control) continue;
    const Judgement judgement = Judge(cell, expectations);
    records.push_back({std::string(Text(*rule->control)), cell.case_name, cell.verdict.outcome, judgement.standing == Standing::kExpected, judgement.text});
  }
  return records;
}

Result<ExitProfile> ParseExitProfile(std::string_view text) {
  if (text == "gate") return ExitProfile::kGate;
  if (text == "seed") return ExitProfile::kSeed;
  if (text == "git-bisect") return ExitProfile::kGitBisect;
  return Error{ErrorKind::kUsage, UnknownName("exit profile", text, {"gate", "seed", "git-bisect"})};
}

int ExitCode(ExitProfile profile, const std::vector<CellRecord>& cells, const ControlsVerdict& controls) {
  std::vector<const CellRecord*> counted;
  for (const CellRecord& cell : cells)
    if (controls.cells.find(cell.id) == controls.cells.end()) counted.push_back(&cell);
  const bool wrong = !controls.problems.empty();
  switch (profile) {
    case ExitProfile::kGate:
      return Gate(counted, wrong, !controls.cells.empty());
    case ExitProfile::kSeed:
      return Seed(counted, wrong);
    case ExitProfile::kGitBisect:
      return GitBisect(counted, wrong);
  }
  return 70;
}

int ExitCode(ExitProfile profile, const Error& error) {
  const int gate = ExitCodeOf(error.kind);
  if (profile == ExitProfile::kGitBisect) return gate == 4 ? 125 : 128;
  return profile == ExitProfile::kSeed && gate == 4 ? 2 : gate;
}

}  // namespace flce
