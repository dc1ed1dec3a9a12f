#include "harness/classify/explain.h"

#include <fcntl.h>
#include <re2/re2.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/base/text.h"
#include "harness/classify/fingerprint.h"
#include "harness/classify/user_code.h"

namespace flce {
namespace {

constexpr size_t kMaxLine = 64 * 1024, kRecent = 8 * 1024, kMaxStreams = 64, kMaxFailures = 64, kMaxNamedStreams = 16;
constexpr size_t kChunk = 256 * 1024;

/// What every line that can begin a failure holds; case matters.
constexpr std::string_view kNeedles[] = {"rror", "xception", "Traceback (most recent", "Unsupported", "TritonMissing", "Interrupt", "Failed"};

bool Holds(std::string_view text, std::string_view needle) {
  return memmem(text.data(), text.size(), needle.data(), needle.size()) != nullptr;
}
bool CanBegin(std::string_view text) {
  return std::any_of(std::begin(kNeedles), std::end(kNeedles), [&](std::string_view needle) { return Holds(text, needle); });
}

/// What launchers raise because a worker failed: said only when nothing else is.
bool IsConsequence(const ExceptionRecord& exception) {
  constexpr std::string_view kTypes[] = {"torch.distributed.elastic.multiprocessing.errors.ChildFailedError",
                                         "torch.multiprocessing.spawn.ProcessExitedException", "KeyboardInterrupt", "SystemExit"};
  const std::string& type = exception.chain.front().type;
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](std::string_view known) { return type == known; });
}

int Rank(const ExplainedFailure& failure) {
  if (!failure.match) return IsConsequence(failure.exception) ? 3 : 2;
  return failure.match->family == Family::kTier1 || failure.match->family == Family::kTier2 ? 0 : 1;
}

std::string WhyUnreadable(std::string_view head) {
  const auto starts = [&](std::string_view magic) { return head.substr(0, magic.size()) == magic; };
  if (starts("\x1f\x8b") || starts("\x28\xb5\x2f\xfd") || starts("BZh") || starts("\xfd" "7zXZ") || starts("PK\x03\x04"))
    return "it is compressed: unpack it first (zcat, zstdcat, ... | flce-repro explain -)";
  if (starts("\xff\xfe") || starts("\xfe\xff")) return "it is UTF-16: convert it first (iconv -f utf-16 -t utf-8)";
  if (starts("\x7f" "ELF")) return "it is a program, not a log";
  const size_t zeros = std::count(head.begin(), head.end(), '\0');
  if (zeros * 20 > head.size()) return "it is no text";
  return "";
}

}  // namespace

ExplainExit ExitOf(const LogExplanation& explanation) {
  if (!explanation.unreadable.empty()) return ExplainExit::kUnreadable;
  if (explanation.failures.empty()) return ExplainExit::kNoFailure;
  const bool known = std::any_of(explanation.failures.begin(), explanation.failures.end(), [](const ExplainedFailure& f) { return f.match.has_value(); });
  return known ? ExplainExit::kKnown : ExplainExit::kUnknown;
}

LogExplainer::LogExplainer(const SignatureBook& book) : book_(book) {}
LogExplainer::~LogExplainer() = default;

bool LogExplainer::AnyActive() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& item) { return !item.second->idle(); });
}

void LogExplainer::Remember(std::string_view bytes) {
  if (bytes.size() >= kRecent) {
    recent_.assign(bytes.substr(bytes.size() - kRecent));
    return;
  }
  if (recent_.size() + bytes.size() > 3 * kRecent) recent_.erase(0, recent_.size() + bytes.size() - kRecent);
  recent_ += bytes;
}

void LogExplainer::Feed(std::string_view bytes) {
  if (bytes.empty() || unreadable()) return;
  if (result_.bytes == 0) result_.unreadable = WhyUnreadable(bytes.substr(0, 4096));
  if (unreadable()) return;
  result_.bytes += bytes.size();
  // Most of a log is noise between failures: whole lines of it are only counted.
  const size_t last_end = bytes.rfind('\n');
  if (pending_.empty() && !overlong_ && last_end != std::string_view::npos && !AnyActive()) {
    const std::string_view whole = bytes.substr(0, last_end + 1);
    if (!CanBegin(whole)) {
      result_.lines += std::count(whole.begin(), whole.end(), '\n');
      Remember(whole);
      bytes.remove_prefix(whole.size());
    }
  }
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (end == std::string_view::npos) {
      const size_t room = kMaxLine - std::min(kMaxLine, pending_.size());
      pending_ += part.substr(0, room);
      overlong_ = overlong_ || part.size() > room;
      return;
    }
    bytes.remove_prefix(end + 1);
    ++result_.lines;
    if (pending_.empty() && !overlong_) {
      FeedLine(part.substr(0, kMaxLine));
    } else {
      pending_ += part.substr(0, kMaxLine - std::min(kMaxLine, pending_.size()));
      FeedLine(pending_);
      pending_.clear();
      overlong_ = false;
    }
  }
}

void LogExplainer::FeedLine(std::string_view line) {
  if (AnyActive() || CanBegin(line)) {
    // A progress bar writes over its line: each state of it is a line of its own.
    size_t begin = 0;
    while (begin <= line.size()) {
      const size_t end = std::min(line.find('\r', begin), line.size());
      if (end > begin || end == line.size()) FeedSegment(line.substr(begin, end - begin));
      if (end + 1 == line.size()) break;  // "\r\n"
      begin = end + 1;
    }
  }
  Remember(line);
  Remember("\n");
}

void LogExplainer::FeedSegment(std::string_view segment) {
  std::string plain;
  if (segment.find('\x1b') != std::string_view::npos) {
    plain = StripAnsi(segment);
    segment = plain;
  }
  // A traceback inside a JSON string: its line ends are written out.
  if (Holds(segment, "Traceback (most recent call last):\\n")) {
    const std::string unescaped = ReplaceAll(ReplaceAll(ReplaceAll(std::string(segment), "\\\"", "\""), "\\\\", "\\"), "\\n", "\n");
    bool first = true;
    for (std::string_view line : Lines(unescaped)) {
      LogLine parsed = first ? StripLogPrefix(line) : LogLine{line, "", 0, false};
      first = false;
      parsed.stream = "";
      FeedParsed(parsed);
    }
    if (const auto it = streams_.find(""); it != streams_.end()) it->second->Finish();
    return;
  }
  FeedParsed(StripLogPrefix(segment));
}

void LogExplainer::FeedParsed(const LogLine& line) {
  auto it = streams_.find(line.stream);
  if (it == streams_.end()) {
    if (!CanBegin(line.text)) return;
    if (streams_.size() >= kMaxStreams) {
      // The one that was quiet for longest makes room.
      const auto oldest = std::min_element(streams_.begin(), streams_.end(), [](const auto& a, const auto& b) { return a.second->last_line() < b.second->last_line(); });
      oldest->second->Finish();
      streams_.erase(oldest);
    }
    auto assembler = std::make_unique<TracebackAssembler>(line.stream, [this](LoggedFailure failure) { Take(std::move(failure)); });
    it = streams_.emplace(line.stream, std::move(assembler)).first;
  }
  const std::string_view recent = recent_;
  it->second->Feed(line, result_.lines, recent.substr(recent.size() > kRecent ? recent.size() - kRecent : 0));
}

void LogExplainer::Take(LoggedFailure failure) {
  static const auto* version = new RE2(R"((?i)\b(?:py)?torch(?:[ _-]?version)?['"]?\s*(?:[:=]+|\s)\s*['"]?v?(\d+\.\d+\.\d+[\w.+]*))");
  if (result_.torch.empty() && Holds(failure.output, "orch")) RE2::PartialMatch(failure.output, *version, &result_.torch);
  const FailureContext context{failure.output, result_.torch};
  ExplainedFailure found;
  found.match = Classify(book_, &failure.exception, context);
  if (!found.match) found.near_misses = FindNearMisses(book_, &failure.exception, context);
  if (failure.mentioned && !found.match && found.near_misses.empty()) return;
  found.fingerprint = FingerprintOf(failure.exception);
  found.caller = CallerOf(failure.exception);
  const auto same = [&](const ExplainedFailure& other) {
    if (other.match.has_value() != found.match.has_value()) return false;
    if (!found.match) return other.fingerprint.id == found.fingerprint.id;
    return other.match->signature == found.match->signature && (other.caller == found.caller || other.caller.empty() || found.caller.empty());
  };
  const auto it = std::find_if(result_.failures.begin(), result_.failures.end(), same);
  if (it == result_.failures.end() && result_.failures.size() >= kMaxFailures) {
    ++result_.further;
    return;
  }
  if (it == result_.failures.end()) {
    found.first_line = failure.first_line;
    found.count = 1;
    found.cut = failure.cut;
    if (!failure.stream.empty()) found.streams.push_back(failure.stream);
    found.exception = std::move(failure.exception);
    result_.failures.push_back(std::move(found));
    return;
  }
  ++it->count;
  if (it->caller.empty()) it->caller = found.caller;
  const bool named = std::find(it->streams.begin(), it->streams.end(), failure.stream) != it->streams.end();
  if (!failure.stream.empty() && !named && it->streams.size() < kMaxNamedStreams) it->streams.push_back(failure.stream);
}

LogExplanation LogExplainer::Finish() {
  if (!pending_.empty()) {
    ++result_.lines;
    FeedLine(std::exchange(pending_, ""));
  }
  for (auto& [name, assembler] : streams_) assembler->Finish();
  std::vector<ExplainedFailure>& failures = result_.failures;
  const bool only_consequences = std::all_of(failures.begin(), failures.end(), [](const ExplainedFailure& f) { return Rank(f) == 3; });
  if (!only_consequences)
    failures.erase(std::remove_if(failures.begin(), failures.end(), [](const ExplainedFailure& f) { return Rank(f) == 3; }), failures.end());
  std::stable_sort(failures.begin(), failures.end(), [](const ExplainedFailure& a, const ExplainedFailure& b) {
    return std::pair(Rank(a), a.first_line) < std::pair(Rank(b), b.first_line);
  });
  return std::move(result_);
}

Result<LogExplanation> ExplainLog(const SignatureBook& book, const std::function<Result<size_t>(char*, size_t)>& read) {
  LogExplainer explainer(book);
  std::string buffer(kChunk, '\0');
  while (!explainer.unreadable()) {
    FLCE_TRY(const size_t size, read(buffer.data(), buffer.size()));
    if (size == 0) break;
    explainer.Feed({buffer.data(), size});
  }
  return explainer.Finish();
}

Result<LogExplanation> ExplainFile(const SignatureBook& book, const std::string& path) {
  const int fd = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo, path + ": " + strerror(errno)};
  Result<LogExplanation> explanation = ExplainLog(book, [&](char* buffer, size_t size) -> Result<size_t> {
    for (;;) {
      const ssize_t got = ::read(fd, buffer, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return Error{ErrorKind::kIo, path + ": " + strerror(errno)};
    }
  });
  if (path != "-") close(fd);
  return explanation;
}

}  // namespace flce
