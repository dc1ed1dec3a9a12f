#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/model/names.h"

namespace flce {

/// A finding beside the outcome: something a reader must know even if the cell passed (a broken memory budget, an
/// emulator entry point that was refused, two sources that disagree on the stage).
struct Finding {
  std::string kind;  ///< "memory_budget", "out_of_memory", "refused_api", "stage_disagreement", "version_surprise",
                     ///< "fix_no_effect", ...
  std::string text;
};

/// What one observation means. Standing is added by the judge.
struct Verdict {
  Outcome outcome = Outcome::kEnvironment;
  Reason reason = Reason::kNone;
  Evidence evidence = Evidence::kEmulated;
  std::string signature;  ///< id in cases/signatures.json, or ""
  std::optional<Stage> stage;
  std::string fingerprint;  ///< of a failure; "" otherwise
  std::string explanation;  ///< one sentence: why this outcome
  std::vector<Finding> findings;
};

}  // namespace flce
