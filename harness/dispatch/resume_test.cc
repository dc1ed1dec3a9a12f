#include "harness/dispatch/resume.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

JournalEntry Entry(const std::string& id, std::map<std::string, std::string> inputs, Outcome outcome) {
  JournalEntry entry;
  entry.key = {id, std::move(inputs)};
  entry.record.id = id;
  entry.record.verdict.outcome = outcome;
  return entry;
}

TEST(ResumeTest, SaysPerCellWhatAndWhy) {
  JournalContent earlier;
  earlier.entries = {Entry("same", {{"case", "1"}}, Outcome::kReproduced),
                     Entry("changed", {{"case", "1"}, {"fix", "0"}}, Outcome::kReproduced),
                     Entry("environment", {{"case", "1"}}, Outcome::kEnvironment),
                     Entry("late", {{"case", "1"}}, Outcome::kTimedOut)};
  const std::vector<WantedCell> wanted = {{{"same", {{"case", "1"}}}, ""},
                                          {{"changed", {{"case", "2"}, {"worker", "w"}}}, ""},
                                          {{"environment", {{"case", "1"}}}, ""},
                                          {{"new", {{"case", "1"}}}, ""},
                                          {{"blocked", {{"case", "1"}}}, "torch 2.99 cannot be provisioned"},
                                          {{"late", {{"case", "1"}}}, ""}};
  const std::vector<ResumeDecision> decisions = PlanResume(wanted, &earlier);
  const std::vector<std::pair<CellAction, std::string>> expected = {
      {CellAction::kReuse, "the same inputs gave reproduced before"},
      {CellAction::kRun, "case changed, worker is new, fix is gone"},
      {CellAction::kRun, "the environment failed before"},
      {CellAction::kRun, "not finished before"},
      {CellAction::kSkip, "torch 2.99 cannot be provisioned"},
      {CellAction::kReuse, "the same inputs gave timed_out before"},
  };
  ASSERT_EQ(decisions.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(decisions[i].action, expected[i].first) << i;
    EXPECT_EQ(decisions[i].why, expected[i].second);
  }
  EXPECT_EQ(decisions[0].earlier, &earlier.entries[0]);
}

TEST(ResumeTest, ANewRunRunsEverythingThatCan) {
  const std::vector<ResumeDecision> decisions = PlanResume({{{"a", {}}, ""}, {{"b", {}}, "no GPU"}}, nullptr);
  EXPECT_EQ(decisions[0].why, "a new run");
  EXPECT_EQ(decisions[1].action, CellAction::kSkip);
}

}  // namespace
}  // namespace flce
