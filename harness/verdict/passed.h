#pragma once

#include <string>

#include "harness/verdict/decide.h"

namespace flce {

/// What a run without any failure is worth: sets outcome, reason and explanation. Only a run that reached the call in
/// eager and compiled the code that makes it is `fixed`.
void DecidePassed(const CaseFacts::Call& call, const Observation& observation, const NumericsRecord* numerics, Verdict& verdict);

/// How it comes that nothing a fix changes ran: "it changes f of liger_kernel/..., which never ran". "" when something did,
/// or when that cannot be told.
std::string WhyFixHadNoEffect(const Observation& observation);

}  // namespace flce
