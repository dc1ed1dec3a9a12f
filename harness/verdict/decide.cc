#include "harness/verdict/decide.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/model/peak.h"
#include "harness/verdict/passed.h"

namespace flce {
namespace {

std::string FirstLineOf(const ExceptionRecord& exception) {
  return Truncate(FirstLine(exception.chain.front().message), 160);
}

/// The reading's own failure in words: the signature if there is one, else type and first line.
std::string Describe(const FailureReading& reading, const std::optional<ExceptionRecord>& exception) {
  if (reading.match) return reading.match->title + " (" + reading.match->signature + ")";
  if (!exception || exception->chain.empty()) return reading.fingerprint.text;
  return exception->chain.front().type + ": " + FirstLineOf(*exception);
}

bool IsTier(const std::optional<FailureReading>& reading) {
  return reading && reading->match && (reading->match->family == Family::kTier1 || reading->match->family == Family::kTier2);
}

class Decision {
 public:
  Decision(const CaseFacts& facts, const Observation& observation, const Readings& readings)
      : facts_(facts), o_(observation), readings_(readings) {
    verdict_.evidence = o_.device_kind == DeviceKind::kCuda ? Evidence::kExecuted : Evidence::kEmulated;
  }

  Verdict Make(const NumericsRecord* numerics, std::optional<double> memory_budget) {
    if (!o_.skipped.empty()) {
      Set(Outcome::kSkipped, Reason::kUnsupported, "The case cannot run here: " + o_.skipped + ".");
    } else if (!o_.complete) {
      DecideEnd();
    } else if (readings_.setup) {
      DecideFailure(Where::kSetup, *readings_.setup, o_.exception);
    } else if (o_.eager.status == Phase::Status::kRaised && readings_.eager) {
      DecideFailure(Where::kEager, *readings_.eager, o_.eager.exception);
    } else if (o_.compiled.status == Phase::Status::kRaised && readings_.compiled) {
      DecideFailure(Where::kCompiled, *readings_.compiled, o_.compiled.exception);
    } else if (o_.eager.status != Phase::Status::kOk || o_.compiled.status != Phase::Status::kOk) {
      Set(Outcome::kEnvironment, Reason::kNone,
          std::string("The worker ended without running the ") + (o_.eager.status == Phase::Status::kOk ? "compiled" : "eager") + " phase.");
    } else {
      DecidePassed(facts_.call, o_, numerics, verdict_);
    }
    LookAtFix();
    AddFindings(memory_budget);
    return std::move(verdict_);
  }

 private:
  enum class Where { kSetup, kEager, kCompiled };

  void Set(Outcome outcome, Reason reason, std::string explanation) {
    verdict_.outcome = outcome;
    verdict_.reason = reason;
    verdict_.explanation = std::move(explanation);
  }

  /// A fix of which nothing ran has no part in what happened: neither in a pass nor in the failure it leaves.
  void LookAtFix() {
    const std::string why = WhyFixHadNoEffect(o_);
    if (why.empty()) return;
    verdict_.findings.push_back({"fix_no_effect", "The fix changed nothing that ran: " + why + "."});
    const bool passed = verdict_.outcome == Outcome::kNotReproduced && verdict_.reason == Reason::kFixed;
    if (!passed && verdict_.outcome != Outcome::kReproduced) return;
    verdict_.reason = Reason::kFixNoEffect;
    verdict_.explanation += " The fix has no part in it: " + why + ".";
  }

  /// The worker's process ended without an observation.
  void DecideEnd() {
    verdict_.stage = o_.stages.empty() ? o_.stage : std::optional<Stage>(o_.stages.back());
    const std::string during = verdict_.stage ? " during stage " + std::string(Text(*verdict_.stage)) : "";
    if (readings_.process) verdict_.fingerprint = readings_.process->fingerprint.id;
    switch (o_.end.kind) {
      case ProcessEnd::Kind::kNotStarted:
        return Set(Outcome::kEnvironment, Reason::kNone, "The worker could not start: " + o_.end.detail + ".");
      case ProcessEnd::Kind::kTimedOut:
        return Set(Outcome::kTimedOut, Reason::kNone, "No end within " + HumanSeconds(o_.end.seconds) + during + ".");
      case ProcessEnd::Kind::kSignaled:
        return Set(Outcome::kCrashed, Reason::kNone, "The process died of signal " + std::to_string(o_.end.code) + during + ".");
      case ProcessEnd::Kind::kExited:
        break;
    }
    if (readings_.process && readings_.process->match && readings_.process->match->family == Family::kEnvironment) {
      verdict_.signature = readings_.process->match->signature;
      return Set(Outcome::kEnvironment, Reason::kNone, "The process gave up" + during + ": " + readings_.process->match->title + ".");
    }
    // The harness's own failure says nothing of the code under test.
    if (!o_.error.empty()) return Set(Outcome::kEnvironment, Reason::kNone, "The worker could not do its work" + during + ": " + o_.error + ".");
    Set(Outcome::kCrashed, Reason::kNone,
        "The process ended by itself with exit code " + std::to_string(o_.end.code) + during + ", without a result.");
  }

  void DecideFailure(Where where, const FailureReading& reading, const std::optional<ExceptionRecord>& exception) {
    verdict_.fingerprint = reading.fingerprint.id;
    verdict_.stage = o_.stage ? o_.stage : reading.stage;
    const bool out_of_memory = (where == Where::kEager && o_.eager.out_of_memory) || (where == Where::kCompiled && o_.compiled.out_of_memory);
    if (reading.match) {
      verdict_.signature = reading.match->signature;
      if (reading.match->stage && where == Where::kCompiled) verdict_.stage = reading.match->stage;
      if (!reading.match->version_surprise.empty())
        verdict_.findings.push_back({"version_surprise", reading.match->version_surprise});
    }
    CompareStages(where, reading);
    if (out_of_memory) return DecideOutOfMemory(where);
    if (!reading.match && IsRefusal(exception))
      return Set(Outcome::kEnvironment, Reason::kNone, "The emulated device does not have what was asked of it (" + Refused() + "): " + FirstLineOf(*exception) + ".");
    if (!reading.match) return DecideUnknown(where, reading, exception);
    switch (reading.match->family) {
      case Family::kTier1:
      case Family::kTier2:
      case Family::kSibling:
        return where == Where::kCompiled ? DecideOwn(reading, exception) : DecideUnknown(where, reading, exception);
      case Family::kOutOfMemory:
        return DecideOutOfMemory(where);
      case Family::kEnvironment:
        return Set(Outcome::kEnvironment, Reason::kNone,
                   "The toolchain or the machine failed, not the code: " + Describe(reading, exception) + TierBehind(where) + ".");
      case Family::kUnsupported:
        if (reading.match->reason == Reason::kNotAffected)
          return Set(Outcome::kNotReproduced, Reason::kNotAffected, reading.match->title + TierBehind(where) + ".");
        return Set(Outcome::kSkipped, Reason::kUnsupported, reading.match->title + TierBehind(where) + ".");
      case Family::kEager:
      case Family::kOtherCompile:
        return DecideUnknown(where, reading, exception);
    }
  }

  /// Known mechanism, but is it this case's?
  void DecideOwn(const FailureReading& reading, const std::optional<ExceptionRecord>& exception) {
    const Match& match = *reading.match;
    if (!IsOwn(match))
      return Set(Outcome::kUnexpected, Reason::kNone,
                 "The compiled run failed with " + match.title + " (" + match.signature + "), which is not what " + facts_.name + " asks for.");
    if (!facts_.call.module.empty() && !PassesThrough(*exception, facts_.call.module))
      return Set(Outcome::kUnexpected, Reason::kNone,
                 "The words of " + match.signature + ", but raised outside " + facts_.call.module + ".");
    Set(Outcome::kReproduced, Reason::kNone, match.title + (facts_.call.module.empty() ? "." : ", at the call in " + facts_.call.module + "."));
  }

  bool IsOwn(const Match& match) const {
    const auto holds = [](const std::vector<std::string>& list, const std::string& text) {
      return std::find(list.begin(), list.end(), text) != list.end();
    };
    return holds(match.operators, facts_.call.op) || holds(facts_.reproduces, match.signature);
  }

  /// A CUDA error on the emulated device after it refused an entry point says nothing about the code.
  bool IsRefusal(const std::optional<ExceptionRecord>& exception) const {
    if (o_.device_kind != DeviceKind::kEmulated || o_.refused.empty() || !exception) return false;
    return std::any_of(exception->chain.begin(), exception->chain.end(), [](const ExceptionLink& link) {
      for (const char* words : {"CUDA error", "CUBLAS_STATUS", "CUDA driver error", "cudaError", "Triton Error [CUDA]"})
        if (link.message.find(words) != std::string::npos) return true;
      return false;
    });
  }

  std::string Refused() const {
    std::vector<std::string> names;
    for (const auto& [api, count] : o_.refused) names.push_back(api);
    return Join(names, ", ");
  }

  /// A failure that no signature of its own place explains.
  void DecideUnknown(Where where, const FailureReading& reading, const std::optional<ExceptionRecord>& exception) {
    const std::string what = Describe(reading, exception);
    switch (where) {
      case Where::kSetup:
        if (o_.stage == Stage::kImport || o_.stage == Stage::kDevice)
          return Set(Outcome::kEnvironment, Reason::kNone, "Stage " + std::string(Text(*o_.stage)) + " failed: " + what + ".");
        return Set(Outcome::kEagerFailed, Reason::kNone, "The case could not be built: " + what + ".");
      case Where::kEager:
        return Set(Outcome::kEagerFailed, Reason::kNone, "Fails without torch.compile: " + what + TierBehind(where) + ".");
      case Where::kCompiled:
        return Set(Outcome::kUnexpected, Reason::kNone,
                   std::string("The compiled run failed, eager did not: ") + what + (reading.match ? "." : "; no known signature."));
    }
  }

  void DecideOutOfMemory(Where where) {
    const Phase& phase = where == Where::kCompiled ? o_.compiled : o_.eager;
    std::string text = std::string(where == Where::kCompiled ? "The compiled run" : "Eager") + " needs more memory than the device has";
    if (phase.out_of_memory && phase.out_of_memory->requested_bytes > 0)
      text += ": " + HumanBytes(phase.out_of_memory->requested_bytes) + " asked for with " + HumanBytes(phase.out_of_memory->allocated_bytes) +
              " in use of " + HumanBytes(phase.out_of_memory->capacity_bytes);
    if (where == Where::kCompiled && o_.eager.status == Phase::Status::kOk) text += "; eager fits";
    verdict_.findings.push_back({"out_of_memory", text});
    Set(Outcome::kEnvironment, Reason::kOutOfMemory, text + ".");
  }

  /// Eager failed for a reason of its own, and the compile shows the tier all the same.
  std::string TierBehind(Where where) const {
    if (where != Where::kEager || !IsTier(readings_.compiled)) return "";
    return "; the compile stops at " + readings_.compiled->match->signature + " all the same";
  }

  void CompareStages(Where where, const FailureReading& reading) {
    if (where != Where::kCompiled || !o_.stage || !reading.stage || *o_.stage == *reading.stage) return;
    verdict_.findings.push_back({"stage_disagreement", "the worker says stage " + std::string(Text(*o_.stage)) +
                                                           ", the traceback says " + std::string(Text(*reading.stage))});
  }

  void AddFindings(std::optional<double> memory_budget) {
    if (memory_budget && o_.eager.peak_bytes && *o_.eager.peak_bytes > 0) {
      // A run that ended out of memory asked for at least this much.
      std::optional<uint64_t> compiled = o_.compiled.peak_bytes;
      if (o_.compiled.out_of_memory) compiled = compiled.value_or(0) + o_.compiled.out_of_memory->requested_bytes;
      const double ratio = compiled ? static_cast<double>(*compiled) / static_cast<double>(*o_.eager.peak_bytes) : 0;
      if (ratio > *memory_budget && *compiled >= kTellingPeak)
        verdict_.findings.push_back({"memory_budget", "compiled peak " + HumanBytes(*compiled) + " is " + Ratio(ratio) + " times eager's " +
                                                          HumanBytes(*o_.eager.peak_bytes) + "; the budget is " + Ratio(*memory_budget)});
    }
    for (const auto& [api, count] : o_.refused)
      verdict_.findings.push_back({"refused_api", "the emulated device refused " + api + " (" + std::to_string(count) + " times)"});
    if (o_.eager.status == Phase::Status::kOk && readings_.probe)
      verdict_.findings.push_back({"probe_failed", "the watched eager run failed, the plain one did not: " +
                                                       Describe(*readings_.probe, o_.probe_exception)});
    const bool ended_badly = o_.end.kind != ProcessEnd::Kind::kExited || o_.end.code != 0;
    if (o_.complete && ended_badly)
      verdict_.findings.push_back({"process_end", "after its result was written the worker " + EndText()});
  }

  std::string EndText() const {
    switch (o_.end.kind) {
      case ProcessEnd::Kind::kSignaled:
        return "died of signal " + std::to_string(o_.end.code);
      case ProcessEnd::Kind::kTimedOut:
        return "did not end by itself";
      case ProcessEnd::Kind::kNotStarted:
        return "is said not to have started";
      case ProcessEnd::Kind::kExited:
        break;
    }
    return "ended with exit code " + std::to_string(o_.end.code);
  }

  static std::string Ratio(double value) {
    std::string text = std::to_string(value);
    return text.substr(0, text.find('.') + 2);
  }

  const CaseFacts& facts_;
  const Observation& o_;
  const Readings& readings_;
  Verdict verdict_;
};

}  // namespace

Verdict Decide(const CaseFacts& facts, const Observation& observation, const Readings& readings,
               const NumericsRecord* numerics, std::optional<double> memory_budget) {
  return Decision(facts, observation, readings).Make(numerics, memory_budget);
}

}  // namespace flce
