#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/model/names.h"
#include "harness/model/observation.h"

/// What a failure was read as: what stands between classify (which reads failures) and verdict (which decides a cell).
namespace flce {

/// What kind of failure a signature describes. The order is that of the signatures' file.
enum class Family {
  kTier1,         ///< the call in question, stopped in torch's core decomposition
  kTier2,         ///< the call in question, stopped in Inductor's lowering
  kSibling,       ///< another operator with out_dtype, or the same mechanism elsewhere
  kEager,         ///< fails without torch.compile too
  kEnvironment,   ///< toolchain, driver or machine
  kOutOfMemory,   ///< the device's memory does not suffice
  kUnsupported,   ///< hardware or input that the code does not claim to support
  kOtherCompile,  ///< a known failure of torch.compile that has nothing to do with the call
};

/// A signature that a failure matched.
struct Match {
  std::string signature;  ///< id in cases/signatures.json
  std::string title;
  Family family = Family::kOtherCompile;
  std::optional<Reason> reason;       ///< of an outcome that needs one
  std::optional<Stage> stage;         ///< where this failure always stops; nullopt: the frames tell
  std::vector<std::string> operators;  ///< those whose call fails so: "addmm"; empty when it is nobody's call
  std::vector<std::string> evidence;   ///< one line per clause: what was asked for and the text that has it
  std::string version_surprise;       ///< why this torch is not one that the signature is known from; "" if it is
};

/// A failure of no known signature gets the same fingerprint on every machine and patch release.
struct Fingerprint {
  std::string id;    ///< 12 hex digits
  std::string text;  ///< what was hashed, in words: "InductorError < AssertionError: Broadcast failed ... @ expand"
};

/// One failure, read.
struct FailureReading {
  std::optional<Match> match;
  Fingerprint fingerprint;
  std::optional<Stage> stage;  ///< from types and frames alone; nullopt when they do not tell
};

/// Every failure that an observation holds.
struct Readings {
  std::optional<FailureReading> setup;     ///< import, device, or building the case
  std::optional<FailureReading> probe;     ///< the eager run that is watched call by call
  std::optional<FailureReading> eager;
  std::optional<FailureReading> compiled;
  std::optional<FailureReading> process;   ///< standard error of a worker that left no observation
};

/// "/x/site-packages/liger_kernel/ops/a.py" and "liger_kernel/ops/a.py" are the same file.
bool SameFile(std::string_view path, std::string_view file);
/// True if the traceback, or the code that the compiler names, passes through `file` ("liger_kernel/ops/x.py").
bool PassesThrough(const ExceptionRecord& exception, std::string_view file);

std::string_view Text(Family value);
std::optional<Family> ParseFamily(std::string_view text);

}  // namespace flce
