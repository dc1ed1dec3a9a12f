#include "harness/verdict/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/version.h"

namespace flce {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CellRecord Cell(const std::string& torch, const std::string& liger, const std::string& capability, const std::string& what) {
  CellRecord cell;
  cell.case_name = "flce";
  cell.fix = "none";
  cell.torch = torch;
  cell.liger = liger;
  cell.capability = capability;
  if (what == "tier1" || what == "tier2") {
    cell.verdict.outcome = Outcome::kReproduced;
    cell.verdict.signature = what;
  } else if (what == "environment") {
    cell.verdict.outcome = Outcome::kEnvironment;
  } else {
    cell.verdict.outcome = Outcome::kNotReproduced;
    cell.verdict.reason = *ParseReason(what);
  }
  return cell;
}

std::vector<std::string> Lines(const RuleGroup& group) {
  std::vector<std::string> lines;
  for (const DerivedRule& rule : group.rules) lines.push_back(rule.when + " => " + rule.identity);
  return lines;
}

/// The known state of the whole grid.
std::string Truth(const Version& torch, const Version& liger, const Version& capability) {
  const auto at_least = [](const Version& v, const char* bound) { return v >= *Version::Parse(bound); };
  if (!at_least(torch, "2.8") || !at_least(liger, "0.8.1")) return "not_affected";
  if (!at_least(capability, "8.0")) return "not_exercised";
  return at_least(torch, "2.13") ? "tier2" : "tier1";
}

std::vector<CellRecord> Grid() {
  std::vector<CellRecord> cells;
  for (const char* torch : {"2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"})
    for (const char* liger : {"0.8.0", "0.8.1", "0.8.2", "0.8.5"})
      for (const char* capability : {"7.5", "8.0", "8.9", "9.0", "12.1"})
        cells.push_back(Cell(torch, liger, capability, Truth(*Version::Parse(torch), *Version::Parse(liger), *Version::Parse(capability))));
  return cells;
}

TEST(RulesTest, TheGridIsExplainedByFewPredicates) {
  const std::vector<RuleGroup> groups = DeriveRules(Grid());
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(Lines(groups[0]),
              ElementsAre("torch >=2.8,<2.13; liger >=0.8.1; capability >=8.0 => reproduced tier1",
                          "liger <0.8.1 => not_reproduced not_affected", "torch >=2.13; liger >=0.8.1; capability >=8.0 => reproduced tier2",
                          "torch >=2.8; liger >=0.8.1; capability <8.0 => not_reproduced not_exercised",
                          "torch <2.8 => not_reproduced not_affected"));
  EXPECT_THAT(groups[0].contradictions, IsEmpty());
  EXPECT_THAT(groups[0].gaps, IsEmpty());
}

TEST(RulesTest, OneAxisGivesTheTwoPredicatesOfTheBug) {
  std::vector<CellRecord> cells;
  for (const char* torch : {"2.8.0", "2.12.1", "2.13.0", "2.15.0"})
    cells.push_back(Cell(torch, "0.8.5", "9.0", *Version::Parse(torch) >= *Version::Parse("2.13") ? "tier2" : "tier1"));
  EXPECT_THAT(Lines(DeriveRules(cells)[0]), ElementsAre("torch <2.13 => reproduced tier1", "torch >=2.13 => reproduced tier2"));
  cells.resize(2);
  EXPECT_THAT(Lines(DeriveRules(cells)[0]), ElementsAre("always => reproduced tier1"));
}

TEST(RulesTest, AHoleIsNotPaperedOver) {
  const std::vector<CellRecord> cells = {Cell("2.8.0", "0.8.5", "9.0", "tier1"), Cell("2.9.1", "0.8.5", "9.0", "fixed"), Cell("2.10.0", "0.8.5", "9.0", "tier1")};
  EXPECT_THAT(Lines(DeriveRules(cells)[0]), ElementsAre("torch >=2.9.1,<2.10 => not_reproduced fixed", "torch <2.9.1 => reproduced tier1",
                                                        "torch >=2.10 => reproduced tier1"));
}

TEST(RulesTest, ContradictionsAndGapsAreTold) {
  std::vector<CellRecord> cells = {Cell("2.8.0", "0.8.5", "9.0", "tier1"), Cell("2.8.0", "0.8.5", "9.0", "fixed"), Cell("2.12.0", "0.8.5", "9.0", "tier1"),
                                   Cell("2.13.0", "0.8.5", "9.0", "tier2"), Cell("2.13.0", "0.8.5", "12.1", "environment"),
                                   Cell("2.13.0", "/src/liger", "9.0", "fixed")};
  const std::vector<RuleGroup> groups = DeriveRules(cells, {{"2.8.0", "2.12.0", "2.12.1", "2.13.0", "2.14.0"}, {"0.8.5"}});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(groups[0].contradictions, ElementsAre("torch 2.8.0, liger 0.8.5, capability 9.0: not_reproduced fixed and reproduced tier1"));
  EXPECT_THAT(groups[0].gaps, ElementsAre("liger '/src/liger' is no release and stands in no rule",
                                          "torch 2.13.0, liger 0.8.5, capability 12.1: environment, decides nothing",
                                          "2 of 6 combinations of the tested versions were not run",
                                          "torch 2.12.1: not tested, at the boundary below 2.13.0", "torch 2.14.0: newer than anything tested"));
}

TEST(RulesTest, FixesAreKeptApart) {
  std::vector<CellRecord> cells = {Cell("2.13.0", "0.8.5", "9.0", "tier2"), Cell("2.13.0", "0.8.5", "9.0", "fixed")};
  cells[1].fix = "guard";
  const std::vector<RuleGroup> groups = DeriveRules(cells);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].fix, "guard");
  EXPECT_THAT(groups[0].contradictions, IsEmpty());
}

}  // namespace
}  // namespace flce
