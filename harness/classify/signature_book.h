#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/base/version.h"
#include "harness/model/failure.h"

namespace re2 {
class RE2;
}

namespace flce {

using Pattern = std::shared_ptr<const re2::RE2>;

/// One demand on a failure. Members that are set must hold together; "type" and "message" on the same exception.
struct Clause {
  std::string name;              ///< unique in its signature; says what the clause is about
  Pattern type;                  ///< whole qualified type of an exception of the chain ("builtins." is not written)
  Pattern message;               ///< somewhere in the message of an exception of the chain
  enum class Link { kAny, kOutermost, kInnermost };
  Link link = Link::kAny;        ///< which exception "type" and "message" look at
  Pattern target;                ///< somewhere in the operator overload that a lowering error names
  Pattern frame_file;            ///< a traceback frame whose file ...
  Pattern frame_function;        ///< ... and function match
  Pattern user_file;             ///< a frame of code outside torch (from the traceback or "from user code:")
  Pattern output;                ///< somewhere in what the process wrote (standard error), or before the traceback in a log

  bool empty() const { return !type && !message && !target && !frame_file && !frame_function && !user_file && !output; }
};

struct Confusable {
  std::string with;     ///< a signature's id, or words for what has none
  std::string why_not;  ///< what tells the two apart
};

struct Signature {
  std::string id, title;
  Family family = Family::kOtherCompile;
  int priority = 0;  ///< lower first; matters only if two ever match one failure, which the tests forbid
  std::vector<std::string> operators;  ///< those whose call with out_dtype fails so: a case about one of them asks for this
  std::optional<Reason> reason;
  std::optional<Stage> stage;
  std::vector<Clause> required;   ///< all of them
  std::vector<Clause> forbidden;  ///< none of them
  std::optional<VersionRange> known_range;  ///< torch versions it was seen on; information, never a condition
  std::string known;                        ///< the same in words: since and until when
  std::string what_to_do;
  std::vector<std::string> links;
  std::vector<Confusable> confusable_with;
};

/// cases/signatures.json, read and checked: ids and priorities unique, patterns compiled, at least one required clause
/// each, names of confusable signatures known.
class SignatureBook {
 public:
  /// kData naming the entry and the member otherwise. `origin` names the text in errors.
  static Result<SignatureBook> Parse(std::string_view json, const std::string& origin);
  static Result<SignatureBook> Load(const fs::path& path);

  /// By priority.
  const std::vector<Signature>& signatures() const { return signatures_; }
  const Signature* Find(std::string_view id) const;

 private:
  std::vector<Signature> signatures_;
};

}  // namespace flce
