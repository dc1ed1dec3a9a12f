#include "harness/classify/classify.h"

#include <re2/re2.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/classify/fingerprint.h"
#include "harness/classify/stage.h"

namespace flce {
namespace {

constexpr size_t kEvidenceWidth = 200;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

std::string_view TypeOf(const ExceptionLink& link) {
  constexpr std::string_view kBuiltins = "builtins.";
  const std::string_view type = link.type;
  return type.substr(0, kBuiltins.size()) == kBuiltins ? type.substr(kBuiltins.size()) : type;
}

/// The line of `text` that holds the match, shortened around it.
std::string LineAround(std::string_view text, const re2::StringPiece& found) {
  const size_t at = found.data() - text.data();
  const size_t line_begin = text.rfind('\n', at) == std::string_view::npos ? 0 : text.rfind('\n', at) + 1;
  const size_t line_end = std::min(text.find('\n', at), text.size());
  std::string_view line = text.substr(line_begin, line_end - line_begin);
  if (line.size() > kEvidenceWidth) {
    const size_t offset = at - line_begin;
    const size_t begin = offset > kEvidenceWidth / 4 ? offset - kEvidenceWidth / 4 : 0;
    return "..." + ToValidUtf8(Trim(line.substr(begin, kEvidenceWidth))) + "...";
  }
  return ToValidUtf8(Trim(line));
}

/// The text that satisfies a pattern, or nothing.
std::optional<std::string> Search(const Pattern& pattern, std::string_view text) {
  re2::StringPiece found;
  if (!pattern->Match(Piece(text), 0, text.size(), RE2::UNANCHORED, &found, 1)) return std::nullopt;
  return LineAround(text, found);
}

class Matcher {
 public:
  Matcher(const ExceptionRecord* exception, const FailureContext& context) : exception_(exception), context_(context) {}

  /// The evidence for a clause, or nothing if it does not hold.
  std::optional<std::string> Holds(const Clause& clause) const {
    std::string evidence;
    const auto add = [&evidence](const std::optional<std::string>& part) {
      if (!part) return false;
      evidence += (evidence.empty() ? "" : "; ") + *part;
      return true;
    };
    if ((clause.type || clause.message) && !add(Chain(clause))) return std::nullopt;
    if (clause.target && !add(Target(clause))) return std::nullopt;
    if ((clause.frame_file || clause.frame_function) && !add(Frames(clause))) return std::nullopt;
    if (clause.user_file && !add(UserFrames(clause))) return std::nullopt;
    if (clause.output && !add(Output(clause))) return std::nullopt;
    return evidence;
  }

 private:
  std::optional<std::string> Chain(const Clause& clause) const {
    if (exception_ == nullptr) return std::nullopt;
    const std::vector<ExceptionLink>& chain = exception_->chain;
    for (size_t i = 0; i < chain.size(); ++i) {
      if (clause.link == Clause::Link::kOutermost && i != 0) break;
      if (clause.link == Clause::Link::kInnermost && i + 1 != chain.size()) continue;
      const std::string_view type = TypeOf(chain[i]);
      if (clause.type && !RE2::FullMatch(Piece(type), *clause.type)) continue;
      if (!clause.message) return std::string(type);
      if (std::optional<std::string> found = Search(clause.message, chain[i].message)) return found;
    }
    return std::nullopt;
  }

  std::optional<std::string> Target(const Clause& clause) const {
    if (exception_ == nullptr || !RE2::PartialMatch(exception_->target, *clause.target)) return std::nullopt;
    return "target: " + exception_->target;
  }

  static std::optional<std::string> InFrames(const std::vector<Frame>& frames, const Pattern& file, const Pattern& function) {
    for (const Frame& frame : frames) {
      if (file && !RE2::PartialMatch(frame.file, *file)) continue;
      if (function && !RE2::PartialMatch(frame.function, *function)) continue;
      return frame.file + ":" + std::to_string(frame.line) + " in " + frame.function;
    }
    return std::nullopt;
  }

  std::optional<std::string> Frames(const Clause& clause) const {
    if (exception_ == nullptr) return std::nullopt;
    for (const ExceptionLink& link : exception_->chain)
      if (auto found = InFrames(link.frames, clause.frame_file, clause.frame_function)) return found;
    return std::nullopt;
  }

  std::optional<std::string> UserFrames(const Clause& clause) const {
    if (exception_ == nullptr) return std::nullopt;
    return InFrames(exception_->user_frames, clause.user_file, nullptr);
  }

  std::optional<std::string> Output(const Clause& clause) const { return Search(clause.output, context_.output); }

  const ExceptionRecord* exception_;
  const FailureContext& context_;
};

std::optional<Match> MatchOf(const Signature& signature, const Matcher& matcher, const FailureContext& context) {
  Match match;
  for (const Clause& clause : signature.required) {
    std::optional<std::string> evidence = matcher.Holds(clause);
    if (!evidence) return std::nullopt;
    match.evidence.push_back(clause.name + ": " + *evidence);
  }
  for (const Clause& clause : signature.forbidden)
    if (matcher.Holds(clause)) return std::nullopt;
  match.signature = signature.id;
  match.title = signature.title;
  match.family = signature.family;
  match.operators = signature.operators;
  match.reason = signature.reason;
  match.stage = signature.stage;
  if (signature.known_range && !context.torch.empty()) {
    const std::optional<Version> version = Version::Parse(context.torch);
    if (version && !signature.known_range->Contains(*version))
      match.version_surprise = signature.id + " is known from torch " + signature.known_range->text() + ", this is torch " +
                               version->text() + ": a vendor's build, a nightly, or a new failure with the old words";
  }
  return match;
}

FailureReading ReadOne(const SignatureBook& book, const ExceptionRecord& exception, const FailureContext& context) {
  FailureReading reading;
  reading.match = Classify(book, &exception, context);
  reading.fingerprint = FingerprintOf(exception);
  reading.stage = AttributeStage(exception);
  return reading;
}

}  // namespace

std::vector<Match> ClassifyAll(const SignatureBook& book, const ExceptionRecord* exception, const FailureContext& context) {
  std::vector<Match> matches;
  const Matcher matcher(exception, context);
  for (const Signature& signature : book.signatures())
    if (std::optional<Match> match = MatchOf(signature, matcher, context)) matches.push_back(std::move(*match));
  return matches;
}

std::optional<Match> Classify(const SignatureBook& book, const ExceptionRecord* exception, const FailureContext& context) {
  const Matcher matcher(exception, context);
  for (const Signature& signature : book.signatures())
    if (std::optional<Match> match = MatchOf(signature, matcher, context)) return match;
  return std::nullopt;
}

std::vector<NearMiss> FindNearMisses(const SignatureBook& book, const ExceptionRecord* exception, const FailureContext& context) {
  std::vector<NearMiss> misses;
  const Matcher matcher(exception, context);
  for (const Signature& signature : book.signatures()) {
    if (signature.required.size() + signature.forbidden.size() < 2) continue;
    std::vector<NearMiss> failing;
    size_t holding = 0;
    for (const Clause& clause : signature.required) {
      if (matcher.Holds(clause)) {
        ++holding;
      } else {
        failing.push_back({signature.id, clause.name, false});
      }
    }
    for (const Clause& clause : signature.forbidden)
      if (matcher.Holds(clause)) failing.push_back({signature.id, clause.name, true});
    if (failing.size() == 1 && holding > 0) misses.push_back(failing.front());
  }
  return misses;
}

Readings ReadFailures(const SignatureBook& book, const Observation& observation) {
  const FailureContext context{observation.end.stderr_tail, observation.torch};
  const auto read = [&](const std::optional<ExceptionRecord>& exception) -> std::optional<FailureReading> {
    if (!exception || exception->chain.empty()) return std::nullopt;
    return ReadOne(book, *exception, context);
  };
  Readings readings;
  readings.setup = read(observation.exception);
  readings.probe = read(observation.probe_exception);
  readings.eager = read(observation.eager.exception);
  readings.compiled = read(observation.compiled.exception);
  if (!observation.complete) {
    FailureReading process;
    process.match = Classify(book, nullptr, context);
    process.fingerprint = FingerprintOf(observation.end);
    readings.process = std::move(process);
  }
  return readings;
}

}  // namespace flce
