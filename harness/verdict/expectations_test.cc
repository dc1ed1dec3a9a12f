#include "harness/verdict/expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/model/json_reader.h"

namespace flce {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Rules(const std::string& rules) { return R"({"format":1,"rules":[)" + rules + "]}"; }
std::string Rule(const std::string& id, const std::string& when, const std::string& expect, const std::string& more = "") {
  return R"({"id":")" + id + R"(","when":{)" + when + R"(},"expect":{)" + expect + R"(},"why":"w")" + more + "}";
}
constexpr const char* kPass = R"("outcome":"not_reproduced","reason":"fixed")";
constexpr const char* kFail = R"("outcome":"reproduced","signature":"t1")";
constexpr const char* kOwned = R"(,"link":"l","owner":"o")";

TEST(ExpectationsTest, TheFirstMatchingRuleCounts) {
  const Expectations expectations = Expectations::Parse(Rules(Rule("new", R"("torch":">=2.13")", kPass) + "," + Rule("all", "", kFail)), "e").value();
  const auto find = [&](const char* torch) {
    return expectations.Find(FactsOf(Cell{"c", torch, "0.8.5", "none", {DeviceKind::kEmulated, "9.0", "", 1}, std::nullopt}))->id;
  };
  EXPECT_EQ(find("2.13.0"), "new");
  EXPECT_EQ(find("2.12.1"), "all");
}

TEST(ExpectationsTest, ErrorsNameTheRuleAndTheMember) {
  const auto message = [](const std::string& rules) { return Expectations::Parse(Rules(rules), "e.json").error().message; };
  EXPECT_EQ(message(Rule("a", R"("torhc":"2")", kPass)), "e.json: rule 'a'.when: unknown member 'torhc'; did you mean 'torch'?");
  EXPECT_EQ(message(Rule("a", "", R"("outcome":"passed")")), "e.json: rule 'a'.expect.outcome: expected a known word, not 'passed'");
  EXPECT_EQ(message(Rule("a", "", R"("outcome":"reproduced")")), "e.json: rule 'a'.expect: outcome reproduced needs a \"signature\"");
  EXPECT_EQ(message(Rule("a", "", kPass, R"(,"expires":"soon")")), "e.json: rule 'a'.expires: expected a day such as 2027-06-30, not 'soon'");
  EXPECT_EQ(message(Rule("a", "", kPass, R"(,"contol":"clean")")), "e.json: rule 'a': unknown member 'contol'; did you mean 'control'?");
  EXPECT_EQ(message(Rule("a", "", kPass) + "," + Rule("a", "", kPass)), "e.json: the rule 'a' is there twice");
  EXPECT_EQ(message(R"({"id":"a","when":{},"expect":{"outcome":"crashed"}})"), "e.json: rule 'a': member \"why\" is missing: every rule says why");
  EXPECT_EQ(message("3"), "e.json: rules[0]: member \"id\" must be a text");
  EXPECT_EQ(message(""), "e.json: no rules");
}

TEST(LintTest, FindsRulesThatNothingReaches) {
  const auto lint = [](const std::string& rules, const LintContext& context = {}) {
    return Lint(Expectations::Parse(Rules(rules), "e").value(), context);
  };
  const std::string behind = "rule 'b' is unreachable: the rules before it take every cell that it matches";
  EXPECT_THAT(lint(Rule("a", R"("torch":">=2.8")", kPass) + "," + Rule("b", R"("torch":">=2.13","fix":"none")", kPass)), ElementsAre(behind));
  EXPECT_THAT(lint(Rule("a", R"("torch":">=2.8")", kPass) + "," + Rule("b", R"("torch":">=2.7")", kPass)), IsEmpty());
  EXPECT_THAT(lint(Rule("a", R"("torch":"==2.8")", kPass) + "," + Rule("b", R"("torch":">=2.8,<2.9")", kPass)), ElementsAre(behind))
      << "2.8 stands for every 2.8.x";
  // Two rules that together cover a third.
  EXPECT_THAT(lint(Rule("x", R"("torch":"<2.10")", kPass) + "," + Rule("y", R"("torch":">=2.10")", kPass) + "," + Rule("b", R"("fix":"guard")", kPass)),
              ElementsAre(behind));
  EXPECT_THAT(lint(Rule("x", R"("capability":">=8")", kPass) + "," + Rule("b", R"("capability":">=7")", kPass)), IsEmpty());
  EXPECT_THAT(lint(Rule("a", R"("device":"emulated")", kPass) + "," + Rule("b", "", kPass)), IsEmpty());
  EXPECT_THAT(lint(Rule("b", R"("torch":">=2.9,<2.8")", kPass)), ElementsAre(behind)) << "a range that holds nothing";
  // Known names: a wildcard that takes all of them leaves nothing.
  EXPECT_THAT(lint(Rule("a", R"("case":"flce-*")", kPass) + "," + Rule("b", R"("case":"flce-x")", kPass), {{"flce-x", "flce-y"}, {}, {}, ""}),
              ElementsAre(behind));
}

TEST(LintTest, FindsExpiredRulesUnknownNamesAndFailuresThatNobodyOwns) {
  const Expectations expectations =
      Expectations::Parse(Rules(Rule("old", R"("torch":"<2.8")", kPass, R"(,"expires":"2026-01-31","owner":"ann")") + "," +
                                Rule("fail", R"("case":"flce-aa","fix":"gard")", kFail)),
                          "e")
          .value();
  EXPECT_THAT(Lint(expectations, {{"flce-a"}, {"guard"}, {"t2"}, "2026-02-01"}),
              ElementsAre("rule 'old' expired on 2026-01-31; ask ann whether it still holds, then move the day or remove the rule",
                          "rule 'fail': unknown case 'flce-aa'; did you mean 'flce-a'?", "rule 'fail': unknown fix 'gard'; did you mean 'guard'?",
                          "rule 'fail': unknown signature 't1'; did you mean 't2'?",
                          "rule 'fail' is unreachable: the rules before it take every cell that it matches",
                          "rule 'fail' accepts a failure without a \"link\" to its issue", "rule 'fail' accepts a failure without an \"owner\""));
  const Expectations clean = Expectations::Parse(Rules(Rule("fail", "", kFail, kOwned)), "e").value();
  EXPECT_THAT(Lint(clean, {{}, {}, {}, "2026-02-01"}), IsEmpty());
}

TEST(LintTest, TheShippedExpectationsAreClean) {
  Result<Expectations> expectations = Expectations::Load(fs::path(FLCE_SOURCE_DIR) / "cases" / "expectations.json");
  ASSERT_TRUE(expectations.ok()) << expectations.error().message;
  LintContext context;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(FLCE_SOURCE_DIR) / "cases")) {
    if (entry.path().extension() != ".json") continue;
    const Json json = ParseJson(ReadFile(entry.path()).value(), "").value();
    if (json.contains("module")) context.cases.push_back(json["name"].get<std::string>());
  }
  const Json fixes = ParseJson(ReadFile(fs::path(FLCE_SOURCE_DIR) / "cases" / "fixes" / "fixes.json").value(), "").value();
  for (const Json& fix : fixes["fixes"]) context.fixes.push_back(fix["name"].get<std::string>());
  const Json signatures = ParseJson(ReadFile(fs::path(FLCE_SOURCE_DIR) / "cases" / "signatures.json").value(), "").value();
  for (const Json& signature : signatures["signatures"]) context.signatures.push_back(signature["id"].get<std::string>());
  EXPECT_THAT(Lint(*expectations, context), IsEmpty());
}

}  // namespace
}  // namespace flce
