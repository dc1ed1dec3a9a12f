#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace flce {

/// A version of PEP 440 as far as PyTorch, Triton and Liger use it: release numbers, a/b/rc, .post, .dev, +local.
/// Order as in PEP 440 (2.13.0.dev1 < 2.13.0a1 < 2.13.0rc1 < 2.13.0 < 2.13.0.post1); the local part does not count.
class Version {
 public:
  static std::optional<Version> Parse(std::string_view text);

  const std::string& text() const { return text_; }  ///< as written
  std::string Public() const;                        ///< without the local part: "2.13.0+cu130" -> "2.13.0"
  const std::vector<int>& release() const { return release_; }
  bool IsPreRelease() const { return pre_stage_ != kFinal || dev_ != kNone; }
  /// True if this version's release numbers begin with those of `prefix` ("2.13" is a prefix of "2.13.1").
  bool HasPrefix(const Version& prefix) const;

  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == 0; }

 private:
  static constexpr int kFinal = 3, kNone = -1;
  std::string text_;
  std::vector<int> release_;
  int pre_stage_ = kFinal;  // 0 alpha, 1 beta, 2 release candidate, 3 none
  int pre_number_ = 0;
  int post_ = kNone;
  int dev_ = kNone;
};

/// A conjunction of comparisons: ">=2.8,<2.13". An empty text and "*" hold for every version. "==2.13" (or "2.13") holds
/// for every release that begins so; "!=" is its negation. A pre-release of the bound counts as before it.
class VersionRange {
 public:
  static Result<VersionRange> Parse(std::string_view text);
  bool Contains(const Version& version) const;
  const std::string& text() const { return text_; }

 private:
  enum class Op { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
  struct Clause {
    Op op;
    Version bound;
  };
  std::string text_;
  std::vector<Clause> clauses_;
};

}  // namespace flce
