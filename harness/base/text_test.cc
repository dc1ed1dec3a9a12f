#include "harness/base/text.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

using testing::Test;

TEST(TextTest, SplitKeepsEmptyPieces) {
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_TRUE(Split("", ',').empty());
}

TEST(TextTest, LinesDropLineEnds) {
  EXPECT_EQ(Lines("a\r\nb\n\nc"), (std::vector<std::string_view>{"a", "b", "", "c"}));
  EXPECT_EQ(Lines("a\n").size(), 1u);
}

TEST(TextTest, NearestNameFindsASlipAndNothingElse) {
  const std::vector<std::string> known = {"flce-bf16-fp32-accum", "control-clean"};
  EXPECT_EQ(NearestName("flce-bf16-fp32-acum", known), "flce-bf16-fp32-accum");
  EXPECT_EQ(NearestName("bananas", known), "");
  EXPECT_EQ(UnknownName("case", "bananas", known), "unknown case 'bananas'; known: flce-bf16-fp32-accum, control-clean");
}

TEST(TextTest, HumanFigures) {
  EXPECT_EQ(HumanBytes(999), "999 B");
  EXPECT_EQ(HumanBytes(39523000000), "39.52 GB");
  EXPECT_EQ(HumanBytes(999999), "1.00 MB");
  EXPECT_EQ(HumanSeconds(0.0042), "4.2 ms");
  EXPECT_EQ(HumanSeconds(75), "1 min 15 s");
  EXPECT_EQ(HumanSeconds(3725), "1 h 2 min");
}

TEST(TextTest, ParseBytes) {
  EXPECT_EQ(*ParseBytes("40GB"), 40000000000u);
  EXPECT_EQ(*ParseBytes("1.5 MiB"), 1572864u);
  EXPECT_EQ(*ParseBytes("7"), 7u);
  for (const char* text : {"", "GB", "-1GB", "4 parsecs", "nan"}) EXPECT_FALSE(ParseBytes(text).ok()) << text;
}

TEST(TextTest, ToValidUtf8ReplacesOnlyWhatIsMalformed) {
  EXPECT_EQ(ToValidUtf8("a\xC3\xA9z"), "a\xC3\xA9z");
  EXPECT_EQ(ToValidUtf8("\xC3("), "\xEF\xBF\xBD(");
  EXPECT_EQ(ToValidUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a lone surrogate is not UTF-8";
  EXPECT_EQ(ToValidUtf8("\xC0\xAF").size(), 6u) << "an overlong form is not UTF-8";
}

TEST(TextTest, StripAnsi) {
  EXPECT_EQ(StripAnsi("\x1b[1;31mred\x1b[0m \x1b]0;title\a!"), "red !");
  EXPECT_EQ(StripAnsi("cut \x1b["), "cut ");
  EXPECT_EQ(StripAnsi("cut \x1b"), "cut ");
}

TEST(TextTest, TruncateCutsAtACharacterBoundary) {
  EXPECT_EQ(Truncate("short", 10), "short");
  EXPECT_EQ(Truncate("\xC3\xA9\xC3\xA9", 3), "\xC3\xA9… [2 bytes more]");
}

}  // namespace
}  // namespace flce
