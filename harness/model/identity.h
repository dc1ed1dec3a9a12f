#pragma once

#include <string>

#include "harness/model/verdict.h"

namespace flce {

/// What makes two results the same for history, bisection and rules: the outcome with its reason and signature, and for a
/// failure without a signature its fingerprint. "reproduced tier2-addmm-dtype-lowering", "not_reproduced not_affected".
std::string IdentityOf(const Verdict& verdict);

/// True if the result says something of the code in question: no environment failure, time-out or skip.
bool Decides(const Verdict& verdict);

}  // namespace flce
