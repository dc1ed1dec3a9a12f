#include "harness/classify/traceback.h"

#include <re2/re2.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/classify/user_code.h"

namespace flce {
namespace {

using re2::StringPiece;

constexpr size_t kMaxLinks = 24, kMaxFrames = 64, kMaxMessageBytes = 64 * 1024, kMaxMessageLines = 400;
// A pytest report lists whole functions between two frames.
constexpr size_t kMaxNoise = 100, kMaxReportNoise = 3000, kMaxMentionLines = 12;
constexpr std::string_view kHeader = "Traceback (most recent call last)";

StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }
bool BeginsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }
size_t IndentOf(std::string_view text) { return std::min(text.find_first_not_of(" \t"), text.size()); }

struct Patterns {
  RE2 frame{R"re(\s*File "([^"]+)", line (\d{1,9})(?:, in (.+?))?\s*)re"};
  RE2 notebook_frame{R"re(\s*File ([^\s"]+?\.py):(\d{1,9})(?:, in (.+?))?\s*)re"};
  /// A qualified name, or one that is an exception's by its ending.
  RE2 exception{R"(((?:[A-Za-z_]\w*\.)+[A-Z]\w*|[A-Z]\w*(?:Error|Exception|ExceptionGroup|Interrupt|Exit|Missing|Unsupported|Failed)|StopIteration)(?::(?: (.*))?)?)"};
  /// Right below a frame's source line any name is one.
  RE2 any_name{R"(((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::(?: (.*))?)?)"};
  RE2 mentioned{R"(((?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)): (\S.*))"};
};

const Patterns& Known() {
  static const auto* patterns = new Patterns();
  return *patterns;
}

bool IsException(std::string_view text, bool after_code, std::string& type, std::string& message) {
  // The message may hold bytes that are no UTF-8: only the name is matched, the rest is taken as it is.
  const size_t colon = text.find(": ");
  const std::string_view head = colon == std::string_view::npos ? Trim(text) : text.substr(0, colon);
  std::string ignored;
  const RE2& pattern = after_code ? Known().any_name : Known().exception;
  if (head.size() > 200 || !RE2::FullMatch(Piece(head), pattern, &type, &ignored)) return false;
  message = colon == std::string_view::npos ? std::string() : std::string(text.substr(colon + 2));
  return true;
}

}  // namespace

void TracebackAssembler::Feed(const LogLine& given, uint64_t number, std::string_view recent) {
  LogLine line = given;
  last_line_ = number;
  if (line.pytest) {
    // Every line of a report's exception is indented as its first one is.
    const size_t indent = IndentOf(line.text);
    if (state_ == State::kIdle) pytest_indent_ = indent;
    line.text.remove_prefix(std::min(indent, pytest_indent_));
  }
  if (state_ != State::kIdle && line.text.find(kHeader) != std::string_view::npos) {
    if (state_ != State::kBetween) {
      // Not joined to what came before: another failure.
      Emit();
      Begin(number, recent);
    }
    StartTraceback(line.text);
    prefixes_ = line.prefixes & ~unsigned{kLevelPrefix};
    return;
  }
  switch (state_) {
    case State::kIdle:
      return FeedIdle(line, number, recent);
    case State::kFrames:
      return FeedFrames(line);
    case State::kMessage:
      if (!FeedMessage(line)) {
        Emit();
        FeedIdle(line, number, recent);
      }
      return;
    case State::kBetween:
      return FeedBetween(line);
  }
}

void TracebackAssembler::Begin(uint64_t number, std::string_view recent) {
  failure_ = LoggedFailure();
  failure_.stream = stream_;
  failure_.first_line = number;
  failure_.output = std::string(recent);
  links_.clear();
  frames_.clear();
  relation_ = "raised";
  quiet_ = message_lines_ = width_ = 0;
  after_code_ = report_ = false;
}

bool TracebackAssembler::StartTraceback(std::string_view text) {
  if (text.find(kHeader) == std::string_view::npos) return false;
  const size_t indent = IndentOf(text);
  indent_ = BeginsWith(text.substr(indent), kHeader) ? indent : 0;
  const BoxLine box = ReadBoxLine(text);
  width_ = box.kind == BoxLine::Kind::kTop ? box.width : 0;
  boxed_ = BoxedFrames();
  frames_.clear();
  state_ = State::kFrames;
  quiet_ = 0;
  after_code_ = false;
  return true;
}

void TracebackAssembler::FeedIdle(const LogLine& line, uint64_t number, std::string_view recent) {
  if (line.text.find(kHeader) != std::string_view::npos) {
    Begin(number, recent);
    StartTraceback(line.text);
    prefixes_ = line.prefixes & ~unsigned{kLevelPrefix};
    return;
  }
  const std::string_view body = Trim(line.text);
  std::string type, message;
  const bool alone = IndentOf(line.text) == 0 && IsException(body, false, type, message);
  if (alone) {
    Begin(number, recent);
    report_ = line.pytest;
    if (report_) frames_ = PytestFramesIn(recent);
    return StartMessage(std::move(type), message, line.prefixes);
  }
  StringPiece quoted;
  if (body.size() < 4096 && RE2::PartialMatch(Piece(body), Known().mentioned, &type, &quoted)) {
    Begin(number, {});
    failure_.mentioned = true;
    StartMessage(std::move(type), {quoted.data(), quoted.size()}, line.prefixes);
  }
}

void TracebackAssembler::FeedFrames(const LogLine& line) {
  Frame frame;
  const std::string_view text = line.text;
  if (width_ > 0) {
    const BoxLine box = ReadBoxLine(text);
    if (box.kind == BoxLine::Kind::kText) {
      if (std::optional<Frame> boxed = boxed_.Feed(box.text)) AddFrame(std::move(*boxed));
      prefixes_ = line.prefixes;
      quiet_ = 0;
      return;
    }
    after_code_ = after_code_ || box.kind == BoxLine::Kind::kBottom;
    if (box.kind != BoxLine::Kind::kNone) return;
  }
  const Patterns& known = Known();
  if (text.size() < 4096 && (RE2::FullMatch(Piece(text), known.frame, &frame.file, &frame.line, &frame.function) ||
                             RE2::FullMatch(Piece(text), known.notebook_frame, &frame.file, &frame.line, &frame.function))) {
    frame.file = ShortFile(frame.file);
    frame.function = frame.function.substr(0, frame.function.find('('));
    AddFrame(std::move(frame));
    prefixes_ = line.prefixes;
    quiet_ = 0;
    after_code_ = true;
    return;
  }
  const std::string_view body = Trim(text);
  if (body.empty()) return;
  const size_t indent = IndentOf(text);
  if (indent > indent_) return;  // a source line, a marker below it, "[Previous line repeated ...]"
  std::string type, message;
  if (IsException(body, after_code_, type, message)) return StartMessage(std::move(type), message, line.prefixes);
  after_code_ = false;
  if (++quiet_ > kMaxNoise) Emit();
}

void TracebackAssembler::AddFrame(Frame frame) {
  if (frames_.size() >= kMaxFrames) frames_.erase(frames_.begin() + kMaxFrames / 3);
  frames_.push_back(std::move(frame));
}

void TracebackAssembler::StartMessage(std::string type, std::string_view message, unsigned prefixes) {
  ExceptionLink link;
  link.type = std::move(type);
  link.message = std::string(message.substr(0, kMaxMessageBytes));
  link.relation = relation_;
  link.frames = std::move(frames_);
  frames_.clear();
  // Of an endless chain the root and the latest are worth most.
  if (links_.size() >= kMaxLinks) links_.erase(links_.begin() + kMaxLinks / 2);
  links_.push_back(std::move(link));
  state_ = State::kMessage;
  prefixes_ |= prefixes;
  message_lines_ = column_ = 0;
}

/// The lines of a pytest report that are no part of the message: where it was raised ends it. False: not one of them.
bool TracebackAssembler::FeedReport(const LogLine& line) {
  Frame frame;
  bool is_end = false;
  if (Trim(line.text).empty()) return true;
  if (!ReadPytestFrame(line.text, frame, is_end) || !is_end) return false;
  std::vector<Frame>& frames = links_.back().frames;
  // The last place may be the last frame, named already.
  if (frames.empty() || frames.back().file != frame.file || frames.back().line != frame.line) frames.push_back(std::move(frame));
  return true;
}

bool TracebackAssembler::FeedMessage(const LogLine& line) {
  const std::string_view body = Trim(line.text);
  if (BeginsWith(body, "The above exception was the direct cause")) {
    relation_ = "cause";
    state_ = State::kBetween;
    quiet_ = 0;
    return true;
  }
  if (BeginsWith(body, "During handling of the above exception")) {
    relation_ = "context";
    state_ = State::kBetween;
    quiet_ = 0;
    return true;
  }
  if (failure_.mentioned) {
    // What follows a quoted exception may still be its text ("  target: ..."), unless it is a failure of its own.
    std::string type, message;
    if (message_lines_ >= kMaxMentionLines || (IndentOf(line.text) == 0 && IsException(body, false, type, message)) ||
        RE2::PartialMatch(Piece(body.substr(0, 4096)), Known().mentioned, &type, &message))
      return false;
  }
  if (report_ && !line.pytest && state_ == State::kMessage) return FeedReport(line);
  // Somebody else's line: it has a prefix that the failure's own lines lack.
  if ((line.prefixes & ~prefixes_) != 0 || ++message_lines_ > kMaxMessageLines) return false;
  std::string& message = links_.back().message;
  if (message.size() + line.text.size() + 1 <= kMaxMessageBytes) {
    const size_t indent = std::min(IndentOf(line.text), indent_);
    // Who prints boxes breaks long lines, too: put together again they are what was raised. The type stood in front of the first.
    const size_t in_front = message_lines_ == 1 ? links_.back().type.size() + 2 : 0;
    const std::string_view text = std::string_view(line.text).substr(indent);
    const bool wrapped = width_ > in_front && IsWrapped(Trim(std::string_view(message).substr(column_)), text, width_ - in_front);
    while (wrapped && message.back() == ' ') message.pop_back();
    message += wrapped ? ' ' : '\n';
    column_ = message.size();
    message += text;
  }
  return true;
}

void TracebackAssembler::FeedBetween(const LogLine& line) {
  if (report_) {
    // The frames of the next exception, then its own lines.
    Frame frame;
    bool is_end = false;
    std::string type, message;
    if (line.pytest && IndentOf(line.text) == 0 && IsException(Trim(line.text), false, type, message))
      return StartMessage(std::move(type), message, line.prefixes);
    if (!line.pytest && ReadPytestFrame(line.text, frame, is_end)) return AddFrame(std::move(frame));
  }
  if (!Trim(line.text).empty() && ++quiet_ > (report_ ? kMaxReportNoise : kMaxNoise)) Emit();
}

void TracebackAssembler::Finish() {
  if (state_ == State::kFrames) failure_.cut = true;
  if (state_ != State::kIdle) Emit();
}

void TracebackAssembler::Emit() {
  if (state_ == State::kFrames && (!frames_.empty() || links_.empty())) {
    // The traceback has no exception line: what was raised is not known.
    failure_.cut = true;
    links_.push_back({"", "", relation_, std::move(frames_)});
  }
  state_ = State::kIdle;
  // Printed causes first; a record has the outermost first, and each inner link says how it hangs on the one before.
  std::vector<ExceptionLink>& chain = failure_.exception.chain;
  std::string relation = "raised";
  for (size_t i = links_.size(); i-- > 0;) {
    ExceptionLink link = std::move(links_[i]);
    std::swap(link.relation, relation);
    while (!link.message.empty() && (link.message.back() == '\n' || link.message.back() == ' ')) link.message.pop_back();
    chain.push_back(std::move(link));
  }
  links_.clear();
  frames_.clear();
  if (chain.empty()) return;
  AddWhatMessagesTell(failure_.exception);
  sink_(std::move(failure_));
  failure_ = LoggedFailure();
}

}  // namespace flce
