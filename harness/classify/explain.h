#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/classify/classify.h"
#include "harness/classify/traceback.h"

namespace flce {

/// One failure of a log, with every place it was seen.
struct ExplainedFailure {
  std::optional<Match> match;
  std::vector<NearMiss> near_misses;  ///< of a failure of no known signature
  Fingerprint fingerprint;
  ExceptionRecord exception;
  std::string caller;                 ///< "Liger's fused linear cross entropy"; "" when the log does not say
  uint64_t first_line = 0, count = 0;
  std::vector<std::string> streams;   ///< the first few that had it: "rank 0"
  bool cut = false;                   ///< the log ends inside it
};

struct LogExplanation {
  uint64_t bytes = 0, lines = 0;
  std::string torch;                       ///< version that the log names; ""
  std::vector<ExplainedFailure> failures;  ///< both tiers first, then known ones, then unknown ones; each by first line
  uint64_t further = 0;                    ///< failures beyond those that are kept apart
  std::string unreadable;                  ///< why this is no text; ""
};

/// Exit codes of `flce-repro explain`.
enum class ExplainExit {
  kKnown = 0,       ///< a failure of a known signature
  kUnknown = 1,     ///< failures, none of a known signature
  kUnreadable = 2,  ///< no text, or it cannot be read
  kNoFailure = 5,   ///< no failure found
};
ExplainExit ExitOf(const LogExplanation& explanation);

/// Finds and reads the failures of a log that comes in pieces of any size. Memory is bounded, whatever comes: long lines
/// are cut, streams and distinct failures are limited.
class LogExplainer {
 public:
  /// `book` must outlive this.
  explicit LogExplainer(const SignatureBook& book);
  ~LogExplainer();
  void Feed(std::string_view bytes);
  LogExplanation Finish();
  /// True once the input is known to be no text: reading on is pointless.
  bool unreadable() const { return !result_.unreadable.empty(); }

 private:
  void FeedLine(std::string_view line);
  void FeedSegment(std::string_view segment);
  void FeedParsed(const LogLine& line);
  void Remember(std::string_view bytes);
  void Take(LoggedFailure failure);
  bool AnyActive() const;

  const SignatureBook& book_;
  LogExplanation result_;
  std::map<std::string, std::unique_ptr<TracebackAssembler>> streams_;
  std::string pending_;  ///< a line without its end yet
  std::string recent_;   ///< the end of what was read
  bool overlong_ = false;
};

/// Reads `read(buffer, size)` (bytes read, 0 at the end) to its end.
Result<LogExplanation> ExplainLog(const SignatureBook& book, const std::function<Result<size_t>(char*, size_t)>& read);
/// A file, or standard input for "-".
Result<LogExplanation> ExplainFile(const SignatureBook& book, const std::string& path);

/// For people, and as JSON (schema: cases/schema/explain.schema.json).
std::string ExplanationText(const SignatureBook& book, const LogExplanation& explanation);
nlohmann::ordered_json ExplanationJson(const SignatureBook& book, const LogExplanation& explanation);

}  // namespace flce
