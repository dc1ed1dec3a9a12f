#include "harness/base/version.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

Version V(std::string_view text) {
  const std::optional<Version> version = Version::Parse(text);
  EXPECT_TRUE(version.has_value()) << text;
  return version.value_or(*Version::Parse("0"));
}

TEST(VersionTest, OrderFollowsPep440) {
  const char* ascending[] = {"2.9.1",     "2.13.0.dev20260518", "2.13.0a1", "2.13.0rc1.dev3", "2.13.0rc1",
                             "2.13.0rc2", "2.13.0",             "2.13.0.post1", "2.13.1"};
  for (size_t i = 0; i + 1 < std::size(ascending); ++i) EXPECT_LT(V(ascending[i]), V(ascending[i + 1])) << ascending[i];
  EXPECT_EQ(V("2.13.0+cu130"), V("2.13"));
}

TEST(VersionTest, RefusesWhatIsNoVersion) {
  for (const char* text : {"", "x", "2.", "2..1", "2.13+", "2.13 beta", "-1"}) EXPECT_FALSE(Version::Parse(text).has_value()) << text;
}

TEST(VersionTest, PrefixAndPublic) {
  EXPECT_TRUE(V("2.13.1").HasPrefix(V("2.13")));
  EXPECT_FALSE(V("2.1.0").HasPrefix(V("2.13")));
  EXPECT_EQ(V("2.13.0+cu130").Public(), "2.13.0");
  EXPECT_TRUE(V("0.8.5.dev20261027").IsPreRelease());
}

TEST(VersionRangeTest, Contains) {
  struct Row {
    const char *range, *version;
    bool inside;
  };
  const Row rows[] = {{">=2.8,<2.13", "2.8.0", true},   {">=2.8,<2.13", "2.12.1", true}, {">=2.8,<2.13", "2.13.0", false},
                      {"==2.13", "2.13.1", true},       {"2.13", "2.13.0+cu130", true},  {"!=2.9.0", "2.9.0", false},
                      {"!=2.9.0", "2.9.1", true},       {"*", "1.0", true},              {"", "1.0", true},
                      {"<=2.12", "2.12.1", true},       {">2.12", "2.12.1", false},      {">=2.13", "2.13.0.dev1", false}};
  for (const Row& row : rows) {
    Result<VersionRange> range = VersionRange::Parse(row.range);
    ASSERT_TRUE(range.ok()) << row.range;
    EXPECT_EQ(range->Contains(V(row.version)), row.inside) << row.range << " on " << row.version;
  }
  EXPECT_FALSE(VersionRange::Parse(">=2.8,,").ok());
  EXPECT_FALSE(VersionRange::Parse("~~2.8").ok());
}

}  // namespace
}  // namespace flce
