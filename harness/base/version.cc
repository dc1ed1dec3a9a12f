#include "harness/base/version.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "harness/base/text.h"

namespace flce {
namespace {

/// Reads a run of digits at the front of `rest`.
std::optional<int> TakeNumber(std::string_view& rest) {
  int number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || end == rest.data()) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return number;
}

bool TakeWord(std::string_view& rest, std::string_view word) {
  if (rest.substr(0, word.size()) != word) return false;
  rest.remove_prefix(word.size());
  return true;
}

int ReleaseAt(const std::vector<int>& release, size_t i) { return i < release.size() ? release[i] : 0; }

}  // namespace

std::optional<Version> Version::Parse(std::string_view text) {
  Version version;
  version.text_ = std::string(Trim(text));
  const std::string lower = ToLower(version.text_);
  std::string_view rest = lower;
  TakeWord(rest, "v");
  do {
    const std::optional<int> number = TakeNumber(rest);
    if (!number || *number < 0) return std::nullopt;
    version.release_.push_back(*number);
  } while (rest.size() > 1 && rest[0] == '.' && std::isdigit(static_cast<unsigned char>(rest[1])) && TakeWord(rest, "."));

  constexpr std::pair<std::string_view, int> kStages[] = {{"rc", 2}, {"alpha", 0}, {"beta", 1}, {"a", 0}, {"b", 1}};
  for (const auto& [word, stage] : kStages) {
    if (TakeWord(rest, word)) {
      version.pre_stage_ = stage;
      version.pre_number_ = TakeNumber(rest).value_or(0);
      break;
    }
  }
  if (TakeWord(rest, ".post")) version.post_ = TakeNumber(rest).value_or(0);
  if (TakeWord(rest, ".dev")) version.dev_ = TakeNumber(rest).value_or(0);
  if (!rest.empty() && (rest[0] != '+' || rest.size() == 1)) return std::nullopt;
  return version;
}

std::string Version::Public() const { return text_.substr(0, text_.find('+')); }

bool Version::HasPrefix(const Version& prefix) const {
  for (size_t i = 0; i < prefix.release_.size(); ++i)
    if (ReleaseAt(release_, i) != prefix.release_[i]) return false;
  return true;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  const size_t parts = std::max(release_.size(), other.release_.size());
  for (size_t i = 0; i < parts; ++i)
    if (const auto order = ReleaseAt(release_, i) <=> ReleaseAt(other.release_, i); order != 0) return order;
  // A development release without a stage comes before every stage of the same number.
  const auto stage = [](const Version& v) { return v.dev_ != kNone && v.pre_stage_ == kFinal && v.post_ == kNone ? -1 : v.pre_stage_; };
  if (const auto order = stage(*this) <=> stage(other); order != 0) return order;
  if (const auto order = pre_number_ <=> other.pre_number_; order != 0) return order;
  if (const auto order = post_ <=> other.post_; order != 0) return order;
  const auto dev = [](const Version& v) { return v.dev_ == kNone ? INT32_MAX : v.dev_; };
  return dev(*this) <=> dev(other);
}

Result<VersionRange> VersionRange::Parse(std::string_view text) {
  VersionRange range;
  range.text_ = std::string(Trim(text));
  if (range.text_.empty() || range.text_ == "*") return range;
  for (const std::string& piece : Split(range.text_, ',')) {
    std::string_view rest = Trim(piece);
    Op op = Op::kEqual;
    constexpr std::pair<std::string_view, Op> kOps[] = {{">=", Op::kGreaterEqual}, {"<=", Op::kLessEqual}, {"==", Op::kEqual},
                                                        {"!=", Op::kNotEqual},     {">", Op::kGreater},    {"<", Op::kLess}};
    for (const auto& [word, value] : kOps) {
      if (TakeWord(rest, word)) {
        op = value;
        break;
      }
    }
    std::optional<Version> bound = Version::Parse(rest);
    if (!bound)
      return Error{ErrorKind::kUsage, "version range '" + range.text_ + "': '" + piece + "' is not a comparison such as >=2.8"};
    range.clauses_.push_back({op, std::move(*bound)});
  }
  return range;
}

bool VersionRange::Contains(const Version& version) const {
  return std::all_of(clauses_.begin(), clauses_.end(), [&](const Clause& clause) {
    switch (clause.op) {
      case Op::kEqual:
        return version == clause.bound || (!version.IsPreRelease() && version.HasPrefix(clause.bound));
      case Op::kNotEqual:
        return version != clause.bound && !version.HasPrefix(clause.bound);
      case Op::kLess:
        return version < clause.bound;
      case Op::kLessEqual:
        return version <= clause.bound || version.HasPrefix(clause.bound);
      case Op::kGreater:
        return version > clause.bound && !version.HasPrefix(clause.bound);
      case Op::kGreaterEqual:
        return version >= clause.bound;
    }
    return false;
  });
}

}  // namespace flce
