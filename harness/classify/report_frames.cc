#include "harness/classify/report_frames.h"

#include <re2/re2.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/classify/log_prefix.h"
#include "harness/classify/user_code.h"

namespace flce {
namespace {

using re2::StringPiece;

constexpr size_t kLongestReportLine = 4096, kMostReportFrames = 64, kLongestPending = 1024;

StringPiece AsPiece(std::string_view text) { return {text.data(), text.size()}; }
bool Opens(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }
bool Closes(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// Characters, not bytes: borders and messages need not be ASCII.
size_t Characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

bool SetFrame(Frame& frame, std::string function) {
  frame.file = ShortFile(frame.file);
  frame.function = std::move(function);
  return true;
}

bool FindFrame(std::string_view text, Frame& frame) {
  static const auto* after = new RE2(R"((\S[^:]*\.(?:py|pyx|ipynb)|<[^<>]{1,100}>):(\d{1,9}) in (\S+))");
  std::string function;
  return text.size() < kLongestReportLine && RE2::FullMatch(AsPiece(text), *after, &frame.file, &frame.line, &function) && SetFrame(frame, function);
}

}  // namespace

bool ReadPytestFrame(std::string_view line, Frame& frame, bool& is_end) {
  static const auto* pattern = new RE2(R"(([^\s:]+\.pyx?):(\d{1,9}):(?: in (\S+)| ([A-Z]\w*))?\s*)");
  std::string function, type;
  if (line.size() >= kLongestReportLine || !RE2::FullMatch(AsPiece(line), *pattern, &frame.file, &frame.line, &function, &type)) return false;
  is_end = !type.empty();
  return SetFrame(frame, std::move(function));
}

std::vector<Frame> PytestFramesIn(std::string_view recent) {
  std::vector<Frame> frames;
  for (std::string_view raw : Lines(recent)) {
    const std::string plain = StripAnsi(raw);
    const LogLine line = StripLogPrefix(plain);
    Frame frame;
    bool is_end = false;
    if (line.pytest || Opens(line.text, "____") || Opens(line.text, "====")) {
      frames.clear();
    } else if (ReadPytestFrame(line.text, frame, is_end)) {
      if (is_end) {
        frames.clear();
      } else {
        if (frames.size() >= kMostReportFrames) frames.erase(frames.begin());
        frames.push_back(std::move(frame));
      }
    }
  }
  return frames;
}

BoxLine ReadBoxLine(std::string_view line) {
  constexpr std::string_view kSide = "\u2502", kTop = "\u256D\u2500", kBottom = "\u2570\u2500";
  const std::string_view body = Trim(line);
  BoxLine box;
  const auto is = [&](BoxLine::Kind kind, std::string_view text) {
    box.kind = kind;
    box.text = text;
    box.width = Characters(body);
    return box;
  };
  if (Opens(body, kTop)) return is(BoxLine::Kind::kTop, body);
  if (Opens(body, kBottom)) return is(BoxLine::Kind::kBottom, body);
  if (Opens(body, "+-")) return is(body.find("Traceback") != std::string_view::npos ? BoxLine::Kind::kTop : BoxLine::Kind::kBottom, body);
  for (std::string_view side : {kSide, std::string_view("|")})
    if (body.size() >= 2 * side.size() && Opens(body, side) && Closes(body, side))
      return is(BoxLine::Kind::kText, Trim(body.substr(side.size(), body.size() - 2 * side.size())));
  return box;
}

std::optional<Frame> BoxedFrames::Feed(std::string_view text) {
  static const auto* begins = new RE2(R"((?:[/.~]|[A-Za-z]:\\|[\w.-]+/)[^\s]*(?: in)?|\S+\.py:\d+(?: in)?)");
  Frame frame;
  // A path from the root begins anew; the rest of one may look like a place of its own.
  const std::string alone(text), joined = pending_ + alone, spaced = pending_ + " " + alone;
  const bool anew = pending_.empty() || Opens(text, "/");
  for (const std::string& whole : {anew ? alone : joined, anew ? joined : spaced, anew ? spaced : alone})
    if (FindFrame(whole, frame)) {
      pending_.clear();
      return frame;
    }
  const bool goes_on = !pending_.empty() && !text.empty() && pending_.size() < kLongestPending && text.find(' ') == std::string_view::npos;
  if (goes_on) {
    pending_ += text;
  } else {
    pending_ = text.size() < kLongestReportLine && RE2::FullMatch(AsPiece(text), *begins) ? std::string(text) : std::string();
  }
  return std::nullopt;
}

bool IsWrapped(std::string_view line, std::string_view next, size_t width) {
  if (width == 0 || line.empty() || next.empty() || next.front() == ' ' || next.front() == '\t') return false;
  return Characters(line) + 1 + Characters(next.substr(0, next.find(' '))) > width;
}

}  // namespace flce
