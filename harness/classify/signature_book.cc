#include "harness/classify/signature_book.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr int kFormat = 1;

const std::vector<std::string> kClauseMembers = {"name",   "type",          "message",   "link",
                                                 "target", "frame_file",    "frame_function",
                                                 "user_file", "output"};
const std::vector<std::string> kSignatureMembers = {
    "id",        "title", "family",     "priority", "operators", "reason", "stage", "required", "forbidden",
    "known_range", "known", "what_to_do", "links",    "confusable_with"};

/// A misspelt member would silently weaken a signature, so an unknown one is an error.
Status CheckMembers(const Json& json, const std::string& path, const std::vector<std::string>& known) {
  if (!json.is_object()) return Error{ErrorKind::kData, path + ": expected an object"};
  for (const auto& [key, value] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      return Error{ErrorKind::kData, path + ": " + UnknownName("member", key, known)};
  return Done{};
}

Result<Pattern> Compile(const Json& json, const char* key, const std::string& path) {
  const auto it = json.find(key);
  if (it == json.end()) return Pattern();
  if (!it->is_string()) return Error{ErrorKind::kData, path + "." + key + ": expected a regular expression"};
  RE2::Options options;
  options.set_log_errors(false);
  // Messages come from logs: bytes that are no UTF-8 must not end a match.
  options.set_encoding(RE2::Options::EncodingLatin1);
  auto pattern = std::make_shared<const RE2>(it->get<std::string>(), options);
  if (!pattern->ok()) return Error{ErrorKind::kData, path + "." + key + ": " + pattern->error()};
  return Pattern(std::move(pattern));
}

Result<Clause> ReadClause(const Json& json, const std::string& path) {
  FLCE_TRY_DO(CheckMembers(json, path, kClauseMembers));
  Clause clause;
  JsonReader reader(json, path);
  reader.Read("name", clause.name);
  std::string link = "any";
  reader.Read("link", link);
  FLCE_TRY_DO(reader.status());
  if (clause.name.empty()) return Error{ErrorKind::kData, path + ".name: expected a name"};
  if (link == "outermost") {
    clause.link = Clause::Link::kOutermost;
  } else if (link == "innermost") {
    clause.link = Clause::Link::kInnermost;
  } else if (link != "any") {
    return Error{ErrorKind::kData, path + ".link: expected any, outermost or innermost, not '" + link + "'"};
  }
  FLCE_TRY(clause.type, Compile(json, "type", path));
  FLCE_TRY(clause.message, Compile(json, "message", path));
  FLCE_TRY(clause.target, Compile(json, "target", path));
  FLCE_TRY(clause.frame_file, Compile(json, "frame_file", path));
  FLCE_TRY(clause.frame_function, Compile(json, "frame_function", path));
  FLCE_TRY(clause.user_file, Compile(json, "user_file", path));
  FLCE_TRY(clause.output, Compile(json, "output", path));
  if (clause.empty()) return Error{ErrorKind::kData, path + ": asks for nothing"};
  return clause;
}

Status ReadClauses(JsonReader& reader, const char* key, std::vector<Clause>& clauses) {
  std::set<std::string> names;
  reader.ForEach(key, [&](const Json& element, const std::string& path) -> Status {
    FLCE_TRY(Clause clause, ReadClause(element, path));
    if (!names.insert(clause.name).second)
      return Error{ErrorKind::kData, path + ".name: '" + clause.name + "' is already there"};
    clauses.push_back(std::move(clause));
    return Done{};
  });
  return reader.status();
}

Result<Signature> ReadSignature(const Json& json, std::string path) {
  if (json.is_object() && json.contains("id") && json["id"].is_string()) path += " (" + json["id"].get<std::string>() + ")";
  FLCE_TRY_DO(CheckMembers(json, path, kSignatureMembers));
  Signature s;
  JsonReader reader(json, path);
  reader.Read("id", s.id);
  reader.Read("title", s.title);
  reader.ReadWord("family", s.family, ParseFamily);
  reader.Read("priority", s.priority);
  reader.Read("operators", s.operators);
  reader.Read("known", s.known);
  reader.Read("what_to_do", s.what_to_do);
  reader.Read("links", s.links);
  Reason reason = Reason::kNone;
  reader.ReadWord("reason", reason, ParseReason);
  if (reason != Reason::kNone) s.reason = reason;
  if (reader.Member("stage") != nullptr) {
    Stage stage = Stage::kImport;
    reader.ReadWord("stage", stage, ParseStage);
    s.stage = stage;
  }
  std::optional<std::string> range;
  reader.Read("known_range", range);
  reader.ForEach("confusable_with", [&](const Json& element, const std::string& where) -> Status {
    Confusable other;
    JsonReader item(element, where);
    item.Read("with", other.with);
    item.Read("why_not", other.why_not);
    if (other.with.empty() || other.why_not.empty()) item.Fail(where, "\"with\" and \"why_not\"");
    s.confusable_with.push_back(std::move(other));
    return item.status();
  });
  for (const char* key : {"id", "title", "family", "what_to_do", "known"})
    if (reader.Member(key) == nullptr) reader.Fail(path + "." + key, "a text");
  if (reader.Member("priority") == nullptr) reader.Fail(path + ".priority", "a number");
  FLCE_TRY_DO(reader.status());
  FLCE_TRY_DO(ReadClauses(reader, "required", s.required));
  FLCE_TRY_DO(ReadClauses(reader, "forbidden", s.forbidden));
  if (s.required.empty()) return Error{ErrorKind::kData, path + ".required: a signature needs evidence"};
  if (range) {
    Result<VersionRange> parsed = VersionRange::Parse(*range);
    if (!parsed) return Error{ErrorKind::kData, path + ".known_range: " + parsed.error().message};
    s.known_range = std::move(parsed).value();
  }
  return s;
}

}  // namespace

Result<SignatureBook> SignatureBook::Parse(std::string_view text, const std::string& origin) {
  FLCE_TRY(const Json json, ParseJson(text, origin));
  JsonReader reader(json, origin);
  int format = 0;
  reader.Read("format", format);
  FLCE_TRY_DO(reader.status());
  if (format != kFormat)
    return Error{ErrorKind::kData, origin + ": format " + std::to_string(format) + ", this program reads " + std::to_string(kFormat)};
  SignatureBook book;
  std::set<std::string> ids;
  std::set<int> priorities;
  reader.ForEach("signatures", [&](const Json& element, const std::string& path) -> Status {
    FLCE_TRY(Signature signature, ReadSignature(element, path));
    if (!ids.insert(signature.id).second)
      return Error{ErrorKind::kData, path + ".id: '" + signature.id + "' is already there"};
    if (!priorities.insert(signature.priority).second)
      return Error{ErrorKind::kData, path + " (" + signature.id + ").priority: " + std::to_string(signature.priority) + " is already taken"};
    book.signatures_.push_back(std::move(signature));
    return Done{};
  });
  FLCE_TRY_DO(reader.status());
  if (book.signatures_.empty()) return Error{ErrorKind::kData, origin + ": holds no signatures"};
  for (const Signature& signature : book.signatures_) {
    for (const Confusable& other : signature.confusable_with)
      if (other.with.find(' ') == std::string::npos && ids.count(other.with) == 0)
        return Error{ErrorKind::kData, origin + " (" + signature.id + ").confusable_with: " +
                                           UnknownName("signature", other.with, {ids.begin(), ids.end()})};
  }
  std::sort(book.signatures_.begin(), book.signatures_.end(),
            [](const Signature& a, const Signature& b) { return a.priority < b.priority; });
  return book;
}

Result<SignatureBook> SignatureBook::Load(const fs::path& path) {
  FLCE_TRY(const std::string text, ReadFile(path, 16u << 20));
  return Parse(text, path.filename().string());
}

const Signature* SignatureBook::Find(std::string_view id) const {
  for (const Signature& signature : signatures_)
    if (signature.id == id) return &signature;
  return nullptr;
}

}  // namespace flce
