#include "harness/verdict/judge.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

const Expectations& Rules() {
  static const Expectations rules = Expectations::Parse(R"({"format":1,"rules":[
    {"id":"gpu","when":{"case":"timed"},"expect":{"outcome":"not_reproduced","reason":"fixed","evidence":"executed"},"why":"w"},
    {"id":"env","when":{"capability":">=12.1"},"expect":{"outcome":"environment"},"why":"w"},
    {"id":"fixed","when":{"fix":"guard"},"expect":{"outcome":"not_reproduced","reason":"fixed"},"why":"the guard keeps it out"},
    {"id":"unaffected","when":{"torch":"<2.8"},"expect":{"outcome":"not_reproduced","reason":"not_affected"},"why":"w"},
    {"id":"tier-1","when":{"torch":">=2.8,<2.13"},"expect":{"outcome":"reproduced","signature":"t1"},"why":"w","link":"L","owner":"O",
     "on_pass":"Revisit the guard"}]})", "e").value();
  return rules;
}

CellRecord Cell(const char* torch, Outcome outcome, Reason reason = Reason::kNone, const char* signature = "") {
  CellRecord cell;
  cell.id = "id";
  cell.case_name = "flce";
  cell.fix = "none";
  cell.torch = torch;
  cell.liger = "0.8.5";
  cell.capability = "9.0";
  cell.verdict.outcome = outcome;
  cell.verdict.reason = reason;
  cell.verdict.signature = signature;
  return cell;
}

std::string StandingOf(const CellRecord& cell) {
  const Judgement judgement = Judge(cell, Rules());
  return judgement.standing ? std::string(Text(*judgement.standing)) : "none";
}

TEST(JudgeTest, AFailureThatWasExpected) {
  EXPECT_EQ(StandingOf(Cell("2.12.1+cu130", Outcome::kReproduced, Reason::kNone, "t1")), "expected");
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kReproduced, Reason::kNone, "t2")), "changed") << "one signature became another";
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kUnexpected)), "changed");
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kNotReproduced, Reason::kFixed)), "improved");
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kNotReproduced, Reason::kNotAffected)), "improved");
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kNotReproduced, Reason::kNotCompiled)), "changed") << "a fallback is no improvement";
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kNotReproduced, Reason::kNotExercised)), "changed");
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kEagerFailed)), "regressed");
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kCrashed)), "regressed");
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kEnvironment)), "none") << "a broken machine says nothing of the code";
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kTimedOut)), "none");
  EXPECT_EQ(StandingOf(Cell("2.12.1", Outcome::kSkipped)), "none");
}

TEST(JudgeTest, APassThatWasExpected) {
  EXPECT_EQ(StandingOf(Cell("2.7.1", Outcome::kNotReproduced, Reason::kNotAffected)), "expected");
  EXPECT_EQ(StandingOf(Cell("2.7.1", Outcome::kNotReproduced, Reason::kFixed)), "changed");
  EXPECT_EQ(StandingOf(Cell("2.7.1", Outcome::kReproduced, Reason::kNone, "t1")), "regressed");
  EXPECT_EQ(StandingOf(Cell("2.7.1", Outcome::kNumericsMismatch)), "regressed");
  CellRecord guard = Cell("2.12.1", Outcome::kNotReproduced, Reason::kFixed);
  guard.fix = "guard";
  EXPECT_EQ(StandingOf(guard), "expected");
  guard.verdict.reason = Reason::kNotCompiled;
  EXPECT_EQ(StandingOf(guard), "changed");
}

TEST(JudgeTest, AnEnvironmentThatWasExpected) {
  CellRecord cell = Cell("2.9.1", Outcome::kEnvironment);
  cell.capability = "12.1";
  EXPECT_EQ(StandingOf(cell), "expected");
  cell.verdict.outcome = Outcome::kReproduced;
  EXPECT_EQ(StandingOf(cell), "changed");
  cell.verdict.outcome = Outcome::kNotReproduced;
  cell.verdict.reason = Reason::kFixed;
  EXPECT_EQ(StandingOf(cell), "improved");
}

TEST(JudgeTest, AnEmulatedCellNeverSatisfiesARuleThatAsksForAGpu) {
  CellRecord cell = Cell("2.12.1", Outcome::kNotReproduced, Reason::kFixed);
  cell.case_name = "timed";
  Judgement judgement = Judge(cell, Rules());
  EXPECT_EQ(judgement.standing, Standing::kUnlisted);
  EXPECT_TRUE(judgement.needs_gpu);
  EXPECT_EQ(judgement.text, "rule 'gpu' expects not_reproduced (fixed), executed, and an emulated run cannot satisfy it");
  Apply(judgement, cell);
  ASSERT_EQ(cell.verdict.findings.size(), 1u);
  EXPECT_EQ(cell.verdict.findings[0].kind, kNeedsGpuFinding);
  cell.verdict.outcome = Outcome::kReproduced;
  EXPECT_EQ(Judge(cell, Rules()).standing, Standing::kRegressed) << "a failure to compile needs no GPU to be one";
  cell.verdict.outcome = Outcome::kNotReproduced;
  cell.verdict.evidence = Evidence::kExecuted;
  EXPECT_EQ(Judge(cell, Rules()).standing, Standing::kExpected);
}

TEST(JudgeTest, ACellOfNoRuleIsUnlisted) {
  EXPECT_EQ(StandingOf(Cell("2.13.0", Outcome::kReproduced)), "unlisted");
  EXPECT_EQ(StandingOf(Cell("2.13.0", Outcome::kEnvironment)), "none");
}

TEST(JudgeTest, AnUnexpectedPassPrintsTheEditThatMakesItExpected) {
  const CellRecord cell = Cell("2.12.1", Outcome::kNotReproduced, Reason::kFixed);
  const Judgement judgement = Judge(cell, Rules());
  EXPECT_EQ(judgement.text, "rule 'tier-1' expects reproduced (t1); got not_reproduced (fixed), better than expected. Revisit the guard");
  const std::string prefix = "in cases/expectations.json, before the rule 'tier-1', add: ";
  ASSERT_EQ(judgement.edit.substr(0, prefix.size()), prefix);
  // The edit does what it says: with the rule in front, the cell is as expected.
  const std::string rule = judgement.edit.substr(prefix.size());
  Result<Expectations> edited = Expectations::Parse(R"({"format":1,"rules":[)" + rule + "]}", "e");
  ASSERT_TRUE(edited.ok()) << edited.error().message;
  EXPECT_EQ(Judge(cell, *edited).standing, Standing::kExpected);
  EXPECT_EQ(edited->rules()[0].link, "L");
}

TEST(JudgeTest, ALaterJudgementReplacesTheEarlierOne) {
  CellRecord cell = Cell("2.12.1", Outcome::kNotReproduced, Reason::kFixed);
  cell.verdict.findings = {{"memory_budget", "stays"}};
  Apply(Judge(cell, Rules()), cell);
  ASSERT_EQ(cell.verdict.findings.size(), 2u);
  EXPECT_EQ(cell.verdict.findings[1].kind, kEditFinding);
  Judgement later;
  later.standing = Standing::kExpected;
  later.text = "rule 'later'";
  Apply(later, cell);
  ASSERT_EQ(cell.verdict.findings.size(), 1u);
  EXPECT_EQ(cell.verdict.findings[0].text, "stays");
  EXPECT_EQ(cell.standing, Standing::kExpected);
  EXPECT_EQ(cell.expectation, "rule 'later'");
}

}  // namespace
}  // namespace flce
