#include "harness/verdict/run_diff.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

CellRecord Cell(const std::string& id, Outcome outcome, Reason reason = Reason::kNone, const std::string& signature = "") {
  CellRecord cell;
  cell.id = id;
  cell.verdict.outcome = outcome;
  cell.verdict.reason = reason;
  cell.verdict.signature = signature;
  return cell;
}
const auto kTier1 = [](const std::string& id) { return Cell(id, Outcome::kReproduced, Reason::kNone, "t1"); };
const auto kTier2 = [](const std::string& id) { return Cell(id, Outcome::kReproduced, Reason::kNone, "t2"); };
const auto kFixed = [](const std::string& id) { return Cell(id, Outcome::kNotReproduced, Reason::kFixed); };

TEST(RunDiffTest, EveryKindWorstFirst) {
  const std::vector<CellDifference> differences =
      DiffRuns({kTier1("changed"), kTier1("fixed"), kFixed("broke"), kFixed("gone"), kFixed("same"), kFixed("undecided"), kTier1("no-fix")},
               {kTier2("changed"), kFixed("fixed"), kTier1("broke"), kFixed("new"), kFixed("same"), Cell("undecided", Outcome::kEnvironment),
                Cell("no-fix", Outcome::kNotReproduced, Reason::kNotCompiled)});
  std::vector<std::pair<std::string, std::string>> seen;
  for (const CellDifference& d : differences) seen.emplace_back(d.cell, Text(d.kind));
  EXPECT_EQ(seen, (std::vector<std::pair<std::string, std::string>>{{"broke", "broke"},
                                                                    {"fixed", "fixed"},
                                                                    {"changed", "changed"},
                                                                    {"no-fix", "changed"},
                                                                    {"undecided", "undecided"},
                                                                    {"new", "new"},
                                                                    {"gone", "gone"},
                                                                    {"same", "same"}}));
  EXPECT_EQ(differences[2].before, "reproduced t1");
  EXPECT_EQ(differences[2].after, "reproduced t2");
}

TEST(RunDiffTest, AnUnknownFailureIsItsFingerprint) {
  CellRecord before = Cell("a", Outcome::kUnexpected), after = before;
  before.verdict.fingerprint = "1111";
  after.verdict.fingerprint = "2222";
  EXPECT_EQ(DiffRuns({before}, {after})[0].kind, Difference::kChanged);
}

TEST(RunDiffTest, ChangesOverTimePassOverWhatDecidesNothing) {
  const std::vector<CellRecord> records = {kTier1("a"), Cell("a", Outcome::kEnvironment), kTier1("a"), kTier2("a"), kTier2("a"), kFixed("a")};
  std::vector<const CellRecord*> results;
  for (const CellRecord& record : records) results.push_back(&record);
  EXPECT_EQ(ChangesOverTime(results), (std::vector<size_t>{0, 3, 5}));
}

}  // namespace
}  // namespace flce
