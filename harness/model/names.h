#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Closed sets of words. Each has ONE table of {value, text, ...}; the texts are the report's contract and never change
/// their meaning within a major schema version.
namespace flce {

/// What happened in a cell.
enum class Outcome {
  kReproduced,        ///< failed with a known signature
  kNotReproduced,     ///< compiled and ran; the Reason says what that is worth
  kUnexpected,        ///< a failure of no known signature, or of one that is not the case's own; has a fingerprint
  kSkipped,           ///< cannot be asked here; the Reason says why
  kEagerFailed,       ///< fails without torch.compile: not a compile bug
  kNumericsMismatch,  ///< ran, and broke a claim about its values
  kEnvironment,       ///< the toolchain or machine failed, not the code in question
  kCrashed,           ///< the process died
  kTimedOut,          ///< the deadline passed
};

/// The qualifier of an outcome.
enum class Reason {
  kNone,
  kFixed,            ///< the call was reached in eager, its function was compiled, nothing failed
  kNotAffected,      ///< this torch has no such overload, or this Liger no such call
  kNotExercised,     ///< the call is there but was not reached
  kNotCompiled,      ///< the code ran, but not compiled: a fallback, a disabled compiler, a graph broken on purpose
  kFixDoesNotApply,  ///< the patch does not fit this version
  kFixNoEffect,      ///< the patch fits but changed nothing that ran
  kUnsupported,      ///< hardware or input that the code does not support
  kNotProvisioned,   ///< no environment could be made for this cell
  kOutOfMemory,      ///< the device's memory does not suffice
};

/// How a cell compares with cases/expectations.json.
enum class Standing { kExpected, kRegressed, kImproved, kChanged, kUnlisted };

/// What a cell's result is worth: executed by a GPU, or compiled and launched on the emulated device.
enum class Evidence { kExecuted, kEmulated };

/// How far a cell came, in order.
enum class Stage { kImport, kDevice, kEager, kDynamo, kDecomposition, kLowering, kCodegen, kLaunch, kBackward, kNumerics };

enum class DeviceKind { kEmulated, kCuda };

std::string_view Text(Outcome value);
std::string_view Text(Reason value);  ///< "" for kNone
std::string_view Text(Standing value);
std::string_view Text(Evidence value);
std::string_view Text(Stage value);
std::string_view Text(DeviceKind value);

/// The outcome as the terminal and the seed's script print it: "REPRODUCED", "NOT REPRODUCED", ...
std::string_view Label(Outcome value);
/// True for outcomes that are failures of the code under test or of its numbers (not of the machine).
bool IsFailure(Outcome value);
/// True for outcomes that decide nothing (environment, time-out, crash of the machine's doing is kCrashed and is a failure).
bool IsInconclusive(Outcome value);

std::optional<Outcome> ParseOutcome(std::string_view text);
std::optional<Reason> ParseReason(std::string_view text);
std::optional<Standing> ParseStanding(std::string_view text);
std::optional<Evidence> ParseEvidence(std::string_view text);
std::optional<Stage> ParseStage(std::string_view text);
std::optional<DeviceKind> ParseDeviceKind(std::string_view text);

const std::vector<Outcome>& AllOutcomes();
const std::vector<Standing>& AllStandings();

}  // namespace flce
