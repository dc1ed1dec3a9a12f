#include "harness/plan/bisect.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/base/version.h"

namespace flce {
namespace {

const std::vector<std::string> kTorch = {"2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"};
const std::vector<std::string> kFine = {"2.7.0", "2.7.1", "2.8.0", "2.9.0", "2.9.1", "2.10.0", "2.11.0", "2.12.0", "2.12.1", "2.13.0", "2.14.0", "2.14.1", "2.15.0"};

/// A world in which behaviour changes at the given versions, and which counts what it is asked.
struct World {
  std::vector<std::pair<std::string, std::string>> from;  // version, behaviour from it on
  std::vector<std::string> broken;
  std::vector<std::string> asked;

  Probe operator()(const std::string& point) {
    asked.push_back(point);
    if (std::find(broken.begin(), broken.end(), point) != broken.end()) return {"", "cannot be provisioned"};
    std::string behaviour;
    for (const auto& [version, name] : from)
      if (*Version::Parse(version) <= *Version::Parse(point)) behaviour = name;
    return {behaviour, ""};
  }
};

std::string Changes(const BisectReport& report) {
  std::vector<std::string> texts;
  for (const ChangePoint& change : report.changes) {
    std::string text = change.before + "|" + change.after + " " + change.from + ">" + change.to;
    if (!change.unclear.empty()) text += " (" + Join(change.unclear, " ") + ")";
    texts.push_back(text);
  }
  return Join(texts, ", ");
}

TEST(BisectTest, BothChangePointsWithAtMostEightCells) {
  World world{{{"2.0", "none"}, {"2.8", "tier1"}, {"2.13", "tier2"}}, {}, {}};
  Result<BisectReport> report = Bisect({kTorch, kFine, 8, {}}, std::ref(world));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(Changes(*report), "2.7.1|2.8.0 none>tier1, 2.12.1|2.13.0 tier1>tier2");
  EXPECT_LE(world.asked.size(), 8u);
  EXPECT_EQ(world.asked[0], "2.7.1") << "both ends first";
  EXPECT_EQ(world.asked[1], "2.15.0");
  EXPECT_EQ(report->ran, static_cast<int>(world.asked.size()));
}

TEST(BisectTest, EveryPairOfChangesIsFound) {
  for (size_t first = 1; first < kTorch.size(); ++first)
    for (size_t second = first + 1; second < kTorch.size(); ++second) {
      World world{{{"2.0", "a"}, {kTorch[first], "b"}, {kTorch[second], "c"}}, {}, {}};
      Result<BisectReport> report = Bisect({kTorch, {}, 9, {}}, std::ref(world));
      ASSERT_TRUE(report.ok());
      EXPECT_EQ(Changes(*report), kTorch[first - 1] + "|" + kTorch[first] + " a>b, " + kTorch[second - 1] + "|" + kTorch[second] + " b>c");
    }
}

TEST(BisectTest, WhatTheBudgetLeavesLooksIntoStretchesWithEqualEnds) {
  World world{{{"2.0", "good"}, {"2.10", "bad"}, {"2.12", "good"}}, {}, {}};
  Result<BisectReport> small = Bisect({kTorch, {}, 2, {}}, std::ref(world));
  EXPECT_TRUE(small->changes.empty());
  EXPECT_EQ(small->confidence, "2.8.0, 2.9.1, 2.10.0, 2.11.0, 2.12.1, 2.13.0, 2.14.1 not probed, taken to behave as both neighbours do");
  EXPECT_EQ(Changes(*Bisect({kTorch, {}, 9, {}}, std::ref(world))), "2.9.1|2.10.0 good>bad, 2.11.0|2.12.1 bad>good");
  EXPECT_EQ(Bisect({kTorch, {}, 9, {}}, std::ref(world))->confidence, "certain: every point was probed");
}

TEST(BisectTest, PatchReleasesOnlyWhereTheyMatter) {
  World world{{{"2.0", "ok"}, {"2.9.0", "bad"}}, {}, {}};
  Result<BisectReport> report = Bisect({kTorch, kFine, 0, {}}, std::ref(world));
  EXPECT_EQ(Changes(*report), "2.8.0|2.9.0 ok>bad");
  EXPECT_EQ(std::count(world.asked.begin(), world.asked.end(), "2.12.0"), 0);
  World only_patch{{{"2.0", "ok"}, {"2.9.1", "bad"}}, {}, {}};
  EXPECT_EQ(Changes(*Bisect({kTorch, kFine, 0, {}}, std::ref(only_patch))), "2.9.0|2.9.1 ok>bad");
}

TEST(BisectTest, WhatCannotBeProvisionedIsSkippedAndSaid) {
  World world{{{"2.0", "a"}, {"2.11", "b"}}, {"2.11.0", "2.9.1"}, {}};
  Result<BisectReport> report = Bisect({kTorch, {}, 0, {}}, std::ref(world));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(Changes(*report), "2.10.0|2.12.1 a>b (2.11.0)");
  EXPECT_NE(report->confidence.find("2.11.0 could not be decided"), std::string::npos) << report->confidence;
  EXPECT_NE(report->confidence.find("a change lies within a gap"), std::string::npos);
  for (const std::string& point : kTorch) EXPECT_LE(std::count(world.asked.begin(), world.asked.end(), point), 1) << point;
}

TEST(BisectTest, AnEndThatCannotBeDecidedIsAnError) {
  World world{{{"2.0", "a"}}, {"2.15.0"}, {}};
  EXPECT_EQ(Bisect({kTorch, {}, 8, {}}, std::ref(world)).error().message, "the end 2.15.0 cannot be decided: cannot be provisioned");
  EXPECT_EQ(Bisect({{"2.7.1"}, {}, 8, {}}, std::ref(world)).error().kind, ErrorKind::kUsage);
}

TEST(BisectTest, KnownResultsAreNotRunAgain) {
  World world{{{"2.0", "none"}, {"2.8", "tier1"}, {"2.13", "tier2"}}, {}, {}};
  BisectSpec spec{kTorch, {}, 8, {{"2.7.1", {"none", ""}}, {"2.15.0", {"tier2", ""}}, {"2.11.0", {"tier1", ""}}}};
  Result<BisectReport> report = Bisect(spec, std::ref(world));
  EXPECT_EQ(report->reused, 3);
  EXPECT_EQ(std::count(world.asked.begin(), world.asked.end(), "2.11.0"), 0);
  EXPECT_EQ(report->confidence, "certain: every point was probed");
}

TEST(BisectTest, EarlierPatchReleasesHaveTheirPlace) {
  EXPECT_EQ(WithEarlierPatches({"2.8.0", "2.9.2", "2.10.0"}), (std::vector<std::string>{"2.8.0", "2.9.0", "2.9.1", "2.9.2", "2.10.0"}));
}

}  // namespace
}  // namespace flce
