#include "harness/verdict/expectations.h"

#include <algorithm>
#include <array>
#include <set>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr int kFormat = 1;

struct RoleRow {
  ControlRole value;
  std::string_view text;
};
constexpr std::array kRoles = {RoleRow{ControlRole::kClean, "clean"},       RoleRow{ControlRole::kFailing, "failing"},
                               RoleRow{ControlRole::kCrashed, "crashed"},   RoleRow{ControlRole::kTimedOut, "timed_out"},
                               RoleRow{ControlRole::kEnvironment, "environment"}, RoleRow{ControlRole::kNotCompiled, "not_compiled"}};

std::optional<ControlRole> ParseRole(std::string_view text) {
  for (const RoleRow& row : kRoles)
    if (row.text == text) return row.value;
  return std::nullopt;
}

/// Another member is an error: a misspelt constraint would silently widen a rule.
Status KnownMembers(const Json& json, const std::string& path, const std::vector<std::string>& known) {
  if (!json.is_object()) return Error{ErrorKind::kData, path + ": expected an object"};
  for (const auto& [key, value] : json.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      return Error{ErrorKind::kData, path + ": " + UnknownName("member", key, known)};
  return Done{};
}

bool IsDate(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (i != 4 && i != 7 && !std::isdigit(static_cast<unsigned char>(text[i]))) return false;
  const int month = std::stoi(text.substr(5, 2)), day = std::stoi(text.substr(8, 2));
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

Result<ExpectedResult> ReadExpected(const Json& json, const std::string& path) {
  FLCE_TRY_DO(KnownMembers(json, path, {"outcome", "reason", "signature", "evidence"}));
  ExpectedResult expected;
  JsonReader reader(json, path);
  if (reader.Member("outcome") == nullptr) return Error{ErrorKind::kData, path + ": member \"outcome\" is missing"};
  reader.ReadWord("outcome", expected.outcome, ParseOutcome);
  if (reader.Member("reason") != nullptr) {
    Reason reason{};
    reader.ReadWord("reason", reason, ParseReason);
    expected.reason = reason;
  }
  if (reader.Member("evidence") != nullptr) {
    Evidence evidence{};
    reader.ReadWord("evidence", evidence, ParseEvidence);
    expected.evidence = evidence;
  }
  reader.Read("signature", expected.signature);
  FLCE_TRY_DO(reader.status());
  if (expected.outcome == Outcome::kReproduced && expected.signature.empty())
    return Error{ErrorKind::kData, path + ": outcome reproduced needs a \"signature\""};
  return expected;
}

Result<ExpectationRule> ReadRule(const Json& json, const std::string& place) {
  ExpectationRule rule;
  if (!json.is_object() || !json.contains("id") || !json["id"].is_string() || json["id"].get_ref<const std::string&>().empty())
    return Error{ErrorKind::kData, place + ": member \"id\" must be a text"};
  rule.id = json["id"].get<std::string>();
  const std::string path = place.substr(0, place.find(':')) + ": rule '" + rule.id + "'";
  FLCE_TRY_DO(KnownMembers(json, path, {"id", "when", "expect", "control", "why", "link", "owner", "expires", "on_pass"}));
  for (const char* key : {"when", "expect"})
    if (!json.contains(key)) return Error{ErrorKind::kData, path + ": member \"" + key + "\" is missing"};
  FLCE_TRY(rule.when, CellPattern::FromJson(json["when"], path + ".when"));
  FLCE_TRY(rule.expect, ReadExpected(json["expect"], path + ".expect"));
  JsonReader reader(json, path);
  if (reader.Member("control") != nullptr) {
    ControlRole role{};
    reader.ReadWord("control", role, ParseRole);
    rule.control = role;
  }
  reader.Read("why", rule.why);
  reader.Read("link", rule.link);
  reader.Read("owner", rule.owner);
  reader.Read("expires", rule.expires);
  reader.Read("on_pass", rule.on_pass);
  FLCE_TRY_DO(reader.status());
  if (rule.why.empty()) return Error{ErrorKind::kData, path + ": member \"why\" is missing: every rule says why"};
  if (!rule.expires.empty() && !IsDate(rule.expires))
    return Error{ErrorKind::kData, path + ".expires: expected a day such as 2027-06-30, not '" + rule.expires + "'"};
  return rule;
}

}  // namespace

std::string_view Text(ControlRole role) {
  for (const RoleRow& row : kRoles)
    if (row.value == role) return row.text;
  return kRoles[0].text;
}

std::string Text(const ExpectedResult& expected) {
  std::string text(Text(expected.outcome));
  if (expected.reason && *expected.reason != Reason::kNone) text += " (" + std::string(Text(*expected.reason)) + ")";
  if (!expected.signature.empty()) text += " (" + expected.signature + ")";
  if (expected.evidence) text += ", " + std::string(Text(*expected.evidence));
  return text;
}

Result<Expectations> Expectations::Load(const fs::path& file) {
  FLCE_TRY(const std::string text, ReadFile(file, 4 << 20));
  return Parse(text, "cases/" + file.filename().string());
}

Result<Expectations> Expectations::Parse(std::string_view text, const std::string& origin) {
  FLCE_TRY(const Json json, ParseJson(text, origin));
  FLCE_TRY_DO(KnownMembers(json, origin, {"format", "rules", "$schema", "about"}));
  int format = 0;
  JsonReader reader(json, origin);
  reader.Read("format", format);
  FLCE_TRY_DO(reader.status());
  if (format != kFormat) return Error{ErrorKind::kData, origin + ": member \"format\" must be " + std::to_string(kFormat)};
  Expectations expectations;
  std::set<std::string> ids;
  size_t index = 0;
  reader.ForEach("rules", [&](const Json& element, const std::string&) -> Status {
    FLCE_TRY(ExpectationRule rule, ReadRule(element, origin + ": rules[" + std::to_string(index++) + "]"));
    if (!ids.insert(rule.id).second) return Error{ErrorKind::kData, origin + ": the rule '" + rule.id + "' is there twice"};
    expectations.rules_.push_back(std::move(rule));
    return Done{};
  });
  FLCE_TRY_DO(reader.status());
  if (expectations.rules_.empty()) return Error{ErrorKind::kData, origin + ": no rules"};
  return expectations;
}

const ExpectationRule* Expectations::Find(const CellFacts& facts) const {
  for (const ExpectationRule& rule : rules_)
    if (rule.when.Matches(facts)) return &rule;
  return nullptr;
}

Json ToJson(const ExpectationRule& rule) {
  Json expect = {{"outcome", Text(rule.expect.outcome)}};
  if (rule.expect.reason && *rule.expect.reason != Reason::kNone) expect["reason"] = Text(*rule.expect.reason);
  if (!rule.expect.signature.empty()) expect["signature"] = rule.expect.signature;
  if (rule.expect.evidence) expect["evidence"] = Text(*rule.expect.evidence);
  Json json = {{"id", rule.id}};
  if (rule.control) json["control"] = Text(*rule.control);
  json["when"] = rule.when.ToJson();
  json["expect"] = std::move(expect);
  for (const auto& [key, value] : {std::pair{"why", &rule.why}, {"link", &rule.link}, {"owner", &rule.owner}, {"expires", &rule.expires},
                                   {"on_pass", &rule.on_pass}})
    if (!value->empty()) json[key] = *value;
  return json;
}

}  // namespace flce
