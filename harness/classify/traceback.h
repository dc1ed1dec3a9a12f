#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/classify/log_prefix.h"
#include "harness/classify/report_frames.h"
#include "harness/model/observation.h"

namespace flce {

/// A failure as a log shows it.
struct LoggedFailure {
  ExceptionRecord exception;
  std::string stream;       ///< who wrote it; "" when the log does not say
  std::string output;       ///< what stood in the log just before it
  uint64_t first_line = 0;  ///< from 1
  bool cut = false;         ///< the log ends inside it
  bool mentioned = false;   ///< a line that only quotes an exception: a failure only if its words are known
};

/// Puts printed exceptions together, line by line, for one stream of a log: chained tracebacks of Python, IPython and
/// rich (in a box), the reports of pytest, and exception lines whose traceback was cut off. Memory is bounded whatever comes.
class TracebackAssembler {
 public:
  using Sink = std::function<void(LoggedFailure)>;
  TracebackAssembler(std::string stream, Sink sink) : stream_(std::move(stream)), sink_(std::move(sink)) {}

  /// `recent` is what stood before this line, used when it begins a failure.
  void Feed(const LogLine& line, uint64_t number, std::string_view recent);
  /// The log ends: what is under way is given out.
  void Finish();
  bool idle() const { return state_ == State::kIdle; }
  uint64_t last_line() const { return last_line_; }

 private:
  enum class State { kIdle, kFrames, kMessage, kBetween };
  void Begin(uint64_t number, std::string_view recent);
  void FeedIdle(const LogLine& line, uint64_t number, std::string_view recent);
  void FeedFrames(const LogLine& line);
  bool FeedMessage(const LogLine& line);
  bool FeedReport(const LogLine& line);
  void FeedBetween(const LogLine& line);
  void AddFrame(Frame frame);
  bool StartTraceback(std::string_view text);
  void StartMessage(std::string type, std::string_view message, unsigned prefixes);
  void Emit();

  const std::string stream_;
  const Sink sink_;
  State state_ = State::kIdle;
  LoggedFailure failure_;
  std::vector<ExceptionLink> links_;  ///< as printed: the cause first
  std::vector<Frame> frames_;
  std::string relation_ = "raised";   ///< of the link before the next one
  size_t indent_ = 0;                 ///< column of "Traceback"
  size_t pytest_indent_ = 0;
  unsigned prefixes_ = 0;             ///< kinds of prefixes that the failure's own lines have
  size_t quiet_ = 0, message_lines_ = 0;
  size_t width_ = 0;                  ///< of the box that the traceback is in; 0: it is in none
  size_t column_ = 0;                 ///< where the message's last line began, in the message
  bool report_ = false;               ///< of pytest
  BoxedFrames boxed_;
  bool after_code_ = false;
  uint64_t last_line_ = 0;
};

}  // namespace flce
