#pragma once

#include <optional>
#include <string>

#include "harness/model/run_record.h"
#include "harness/verdict/expectations.h"

namespace flce {

/// How a cell's result compares with what was expected of it.
struct Judgement {
  /// Absent when the cell decided nothing that was not expected (an environment failure, a time-out, a skip).
  std::optional<Standing> standing;
  std::string rule;         ///< id of the rule that matched, "" if none
  std::string text;         ///< one line: the rule and how the cell compares with it
  std::string edit;         ///< the change of cases/expectations.json that would make the cell expected; "" if it is
  bool needs_gpu = false;   ///< the rule asks for a run on a GPU, and this one was emulated
};

/// Pure. The verdict is not touched: expectations compare, they never decide.
///   expected  all that the rule names is so
///   changed   another failure than the expected one, or a pass of another worth (a failure that is merely no longer
///             exercised is no improvement)
///   improved  a failure was expected and the cell passed with the code in question compiled (or gone)
///   regressed a pass was expected, or a weaker failure
///   unlisted  no rule speaks of the cell, or only one that an emulated cell cannot satisfy
Judgement Judge(const CellRecord& cell, const Expectations& expectations);

/// Writes the standing, the rule in words and, where one is needed, a finding into the record; what an earlier judgement
/// wrote there goes.
void Apply(const Judgement& judgement, CellRecord& cell);

/// Kind of the finding of a cell whose rule asks for a GPU.
constexpr const char* kNeedsGpuFinding = "needs_gpu";
/// Kind of the finding that says how the rules would have to change.
constexpr const char* kEditFinding = "expectation_edit";

}  // namespace flce
