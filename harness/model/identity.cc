#include "harness/model/identity.h"

namespace flce {

std::string IdentityOf(const Verdict& verdict) {
  std::string identity(Text(verdict.outcome));
  if (verdict.reason != Reason::kNone) identity += " " + std::string(Text(verdict.reason));
  if (!verdict.signature.empty()) {
    identity += " " + verdict.signature;
  } else if (!verdict.fingerprint.empty() && IsFailure(verdict.outcome)) {
    identity += " " + verdict.fingerprint;
  }
  return identity;
}

bool Decides(const Verdict& verdict) { return !IsInconclusive(verdict.outcome) && verdict.outcome != Outcome::kSkipped; }

}  // namespace flce
