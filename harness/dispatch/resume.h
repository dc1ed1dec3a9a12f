#pragma once

#include <string>
#include <vector>

#include "harness/dispatch/journal.h"

namespace flce {

enum class CellAction { kRun, kReuse, kSkip };

/// A cell that is wanted now.
struct WantedCell {
  CellKey key;
  std::string cannot_run;  ///< why it cannot be run (no environment, say), or ""
};

struct ResumeDecision {
  CellAction action = CellAction::kRun;
  std::string why;                       ///< "the case file changed", "the same inputs gave reproduced before"
  const JournalEntry* earlier = nullptr;  ///< the result to reuse
};

/// What to do with each wanted cell, in order, given an earlier journal of the run (or null). A result is reused if all
/// its inputs are the same and it decided something: an environment failure is tried again.
std::vector<ResumeDecision> PlanResume(const std::vector<WantedCell>& wanted, const JournalContent* earlier);

}  // namespace flce
