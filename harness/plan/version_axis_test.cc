#include "harness/plan/version_axis.h"

#include <gtest/gtest.h>

#include "harness/base/text.h"

namespace flce {
namespace {

const std::vector<std::string> kTorch = {"2.7.0", "2.7.1", "2.8.0", "2.9.0", "2.9.1", "2.10.0", "2.13.0", "2.13.1", "2.14.0rc1"};

std::string Expand(const std::vector<std::string>& expressions, Granularity granularity = Granularity::kMinor) {
  Result<std::vector<std::string>> versions = ExpandVersions(expressions, kTorch, granularity, "torch");
  return versions.ok() ? Join(*versions, " ") : versions.error().message;
}

TEST(VersionAxisTest, Expressions) {
  EXPECT_EQ(Expand({"2.9"}), "2.9.1");
  EXPECT_EQ(Expand({"2.9.0"}), "2.9.0");
  EXPECT_EQ(Expand({"2.8..2.10"}), "2.8.0 2.9.1 2.10.0");
  EXPECT_EQ(Expand({"2.8..2.9"}, Granularity::kPatch), "2.8.0 2.9.0 2.9.1");
  EXPECT_EQ(Expand({">=2.8,<2.10"}), "2.8.0 2.9.1");
  EXPECT_EQ(Expand({"all"}), "2.7.1 2.8.0 2.9.1 2.10.0 2.13.1");
  EXPECT_EQ(Expand({"newest"}), "2.13.1") << "a release candidate is taken only when named";
  EXPECT_EQ(Expand({"2.14.0rc1"}), "2.14.0rc1");
  EXPECT_EQ(Expand({"2.13", "2.8", "2.13.1"}), "2.8.0 2.13.1") << "ascending, each once";
}

TEST(VersionAxisTest, WhatSelectsNothingSaysWhatIsThere) {
  EXPECT_EQ(Expand({"2.99"}), "no torch release '2.99'; known: 2.7.0, 2.7.1, 2.8.0, 2.9.0, 2.9.1, 2.10.0, 2.13.0, 2.13.1");
  EXPECT_EQ(Expand({"2.8.1"}), "no torch release '2.8.1'; known: 2.7.0, 2.7.1, 2.8.0, 2.9.0, 2.9.1, 2.10.0, 2.13.0, 2.13.1");
  EXPECT_EQ(Expand({"x"}), "--torch 'x': expected a version (2.13), a range (2.8..2.15 or >=2.8,<2.13), all or newest");
  EXPECT_EQ(Expand({"2.8..x"}), "--torch '2.8..x': expected two versions such as 2.8..2.15");
}

TEST(VersionAxisTest, OnlyAFullReleaseNeedsNoList) {
  EXPECT_FALSE(NeedsReleaseList("2.13.0"));
  for (const char* text : {"2.13", "all", "2.8..2.9", ">=2.8"}) EXPECT_TRUE(NeedsReleaseList(text)) << text;
}

}  // namespace
}  // namespace flce
