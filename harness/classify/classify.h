#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/classify/signature_book.h"
#include "harness/model/failure.h"
#include "harness/model/observation.h"

namespace flce {

/// What is known besides the exception.
struct FailureContext {
  std::string_view output;  ///< what the process wrote: the end of standard error, or the log before the traceback
  std::string_view torch;   ///< version, for the version surprise; "" when unknown
};

/// The signature of a failure, or nothing. Pure; linear in the size of the messages. `exception` may be null when a
/// process died and only its output is known.
std::optional<Match> Classify(const SignatureBook& book, const ExceptionRecord* exception, const FailureContext& context);

/// Every signature that matches, by priority. The tests demand at most one for every recording.
std::vector<Match> ClassifyAll(const SignatureBook& book, const ExceptionRecord* exception, const FailureContext& context);

/// A signature that a failure misses by one clause: what it looks like, and why it is not.
struct NearMiss {
  std::string signature;
  std::string clause;      ///< name of the clause
  bool forbidden = false;  ///< true: the clause holds and must not; false: it does not hold and must
};
/// Those whose other clauses all hold; a signature with a single clause is never one.
std::vector<NearMiss> FindNearMisses(const SignatureBook& book, const ExceptionRecord* exception, const FailureContext& context);

/// Reads every failure of an observation.
Readings ReadFailures(const SignatureBook& book, const Observation& observation);

}  // namespace flce
