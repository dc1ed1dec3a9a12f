#pragma once

#include <string>
#include <vector>

#include "harness/model/run_record.h"

namespace flce {

/// One derived predicate: within the group, every tested cell of it behaves so, and no cell that behaves otherwise is in it.
struct DerivedRule {
  std::string when;      ///< "torch >=2.8,<2.13; liger >=0.8.1; capability >=8.0"; "always" without a bound
  std::string identity;  ///< "reproduced tier1-addmm-dtype-decomposition"
  int cells = 0;         ///< tested cells that it covers
};

/// Cells that differ only in torch, Liger and capability.
struct RuleGroup {
  std::string case_name, fix, device;
  std::vector<DerivedRule> rules;          ///< few and wide, the one that covers most first
  std::vector<std::string> contradictions;  ///< the same cell with different results
  std::vector<std::string> gaps;            ///< what the rules rest on without a test
  int cells = 0;
};

/// Releases that exist, to tell what was not tested. Empty lists say nothing.
struct KnownReleases {
  std::vector<std::string> torch, liger;
};

/// The smallest set of version predicates found that explains the cells: boxes (an interval of each axis) grown from
/// uncovered cells as far as no cell of another behaviour is in them, the one that explains most taken first. Cells that
/// decide nothing (environment, time-out, skip) constrain nothing and are told as gaps.
std::vector<RuleGroup> DeriveRules(const std::vector<CellRecord>& cells, const KnownReleases& known = {});

}  // namespace flce
