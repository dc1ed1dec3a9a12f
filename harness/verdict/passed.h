#pragma once

#include "harness/verdict/decide.h"

namespace flce {

/// What a run without any failure is worth: sets outcome, reason and explanation. Only a run that reached the call in
/// eager and compiled the code that makes it is `fixed`.
void DecidePassed(const CaseFacts::Call& call, const Observation& observation, const NumericsRecord* numerics, Verdict& verdict);

}  // namespace flce
