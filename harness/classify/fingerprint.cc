#include "harness/classify/fingerprint.h"

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/base/text.h"

namespace flce {
namespace {

constexpr size_t kLongest = 300;

struct Rewrite {
  std::unique_ptr<RE2> pattern;
  const char* replacement;
};

/// In order: what a later rewrite would tear apart goes first.
const std::vector<Rewrite>& Rewrites() {
  static const auto* rewrites = new std::vector<Rewrite>([] {
    std::vector<Rewrite> list;
    const auto add = [&list](const char* pattern, const char* replacement) { list.push_back({std::make_unique<RE2>(pattern), replacement}); };
    add(R"(\b0x[0-9a-fA-F]+\b)", "ADDRESS");
    // A path keeps its last part unless that part is generated.
    add(R"((?:[A-Za-z]:)?[/\\](?:[\w.+@~ -]+[/\\])+([\w.+-]+))", "\\1");
    add(R"(\bc[a-z2-7]{40,}(\.\w+)?)", "GENERATED");
    add(R"(\b[0-9a-f]{12,}\b)", "HASH");
    add(R"(torch_dynamo_resume_in_(\w+?)_at_\d+)", "\\1");
    add(R"(\b(cuda|cpu|xpu):\d+)", "\\1");
    // Lists and tuples of numbers keep their rank: a shape of another rank is another failure.
    add(R"(\d+(?:\.\d+)*(?:e[+-]?\d+)?)", "N");
    return list;
  }());
  return *rewrites;
}

/// The last part of a dotted name.
std::string_view ShortType(std::string_view type) {
  const size_t dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

/// FNV-1a with a final mix: 48 of its 64 bits are far more than the few thousand failures anybody will ever compare.
std::string Hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdu;
  hash ^= hash >> 33;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id;
  for (int shift = 60; shift > 12; shift -= 4) id += kDigits[(hash >> shift) & 15];
  return id;
}

/// Function names that the compiler makes carry line numbers.
std::string StableFunction(std::string name) {
  static const auto* resume = new RE2(R"(torch_dynamo_resume_in_(\w+?)_at_\d+)");
  RE2::GlobalReplace(&name, *resume, "\\1");
  static const auto* digits = new RE2(R"(\d+)");
  RE2::GlobalReplace(&name, *digits, "N");
  return name;
}

}  // namespace

std::string NormaliseMessage(std::string_view message) {
  // An exception's words may begin after a blank line, and the first line may only be "backend='inductor' raised:".
  std::string line;
  for (std::string_view candidate : Lines(message.substr(0, 16384))) {
    candidate = Trim(candidate);
    if (candidate.empty()) continue;
    line = ToValidUtf8(candidate.substr(0, 4 * kLongest));
    if (candidate.back() != ':') break;
  }
  for (const Rewrite& rewrite : Rewrites()) RE2::GlobalReplace(&line, *rewrite.pattern, rewrite.replacement);
  return line.size() > kLongest ? line.substr(0, kLongest) : line;
}

Fingerprint FingerprintOf(const ExceptionRecord& exception) {
  const ExceptionLink& outer = exception.chain.front();
  const ExceptionLink& inner = exception.chain.back();
  std::string text(ShortType(outer.type));
  if (exception.chain.size() > 1) text += " < " + std::string(ShortType(inner.type));
  text += ": " + NormaliseMessage(inner.message.empty() ? outer.message : inner.message);
  if (!exception.target.empty()) text += " | " + exception.target;
  if (!inner.frames.empty()) text += " @ " + StableFunction(inner.frames.back().function);
  if (!exception.user_frames.empty()) text += " from " + StableFunction(exception.user_frames.back().function);
  return {Hash(text), text};
}

Fingerprint FingerprintOf(const ProcessEnd& end) {
  std::string text;
  switch (end.kind) {
    case ProcessEnd::Kind::kExited:
      text = "exit " + std::to_string(end.code);
      break;
    case ProcessEnd::Kind::kSignaled:
      text = "signal " + std::to_string(end.code);
      break;
    case ProcessEnd::Kind::kTimedOut:
      text = "time-out";
      break;
    case ProcessEnd::Kind::kNotStarted:
      text = "not started: " + NormaliseMessage(end.detail);
      break;
  }
  std::string last;
  for (std::string_view line : Lines(end.stderr_tail))
    if (!Trim(line).empty()) last = NormaliseMessage(line);
  if (!last.empty()) text += ": " + last;
  return {Hash(text), text};
}

}  // namespace flce
