#pragma once

#include <string>
#include <vector>

#include "harness/model/run_record.h"

namespace flce {

/// How a cell of one run compares with the same cell of an earlier one.
enum class Difference {
  kBroke,      ///< passed before, fails now
  kFixed,      ///< failed before, passes now with the code in question compiled or gone
  kChanged,    ///< another failure, or a pass of another worth
  kUndecided,  ///< decided before, not now, or the other way round
  kNew,        ///< not there before
  kGone,       ///< not there now
  kSame,
};
std::string_view Text(Difference value);

struct CellDifference {
  std::string cell;
  Difference kind = Difference::kSame;
  std::string before, after;  ///< identities, "" when absent
};

/// Every cell of either run, the worst first, then by cell. Pure.
std::vector<CellDifference> DiffRuns(const std::vector<CellRecord>& before, const std::vector<CellRecord>& after);

/// Where a cell's results, in the order of time, changed: the indices of the first and of every later one that differs
/// from the one before it. Results that decide nothing are passed over.
std::vector<size_t> ChangesOverTime(const std::vector<const CellRecord*>& results);

}  // namespace flce
