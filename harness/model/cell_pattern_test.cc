#include "harness/model/cell_pattern.h"

#include <gtest/gtest.h>

#include "harness/model/json_reader.h"

namespace flce {
namespace {

CellFacts Facts(const char* torch, const char* capability = "9.0", const char* fix = "none", const char* case_name = "flce-bf16") {
  return FactsOf(Cell{case_name, torch, "0.8.5", fix, {DeviceKind::kEmulated, capability, "", 1}, std::nullopt});
}

TEST(CellPatternTest, EveryConstraintMustHold) {
  Result<CellPattern> pattern = CellPattern::Parse("torch>=2.8,<2.13;capability>=8;fix=none");
  ASSERT_TRUE(pattern.ok()) << pattern.error().message;
  EXPECT_TRUE(pattern->Matches(Facts("2.12.1+cu130")));
  EXPECT_FALSE(pattern->Matches(Facts("2.13.0")));
  EXPECT_FALSE(pattern->Matches(Facts("2.12.1", "7.5")));
  EXPECT_TRUE(pattern->Matches(Facts("2.12.1", "12.1"))) << "capabilities compare as numbers, not as text";
  EXPECT_FALSE(pattern->Matches(Facts("2.12.1", "9.0", "guard")));
}

TEST(CellPatternTest, NamesTakeWildcardsAndExclusions) {
  const NamePattern names{{"flce-*", "!flce-fp16*"}};
  EXPECT_TRUE(names.Matches("flce-bf16"));
  EXPECT_FALSE(names.Matches("flce-fp16-x"));
  EXPECT_FALSE(names.Matches("control-clean"));
  EXPECT_TRUE((NamePattern{{"!control-*"}}).Matches("flce"));
  EXPECT_FALSE((NamePattern{{"!control-*"}}).Matches("control-clean"));
  EXPECT_TRUE(NamePattern{}.Matches("anything"));
}

TEST(CellPatternTest, APathIsNoVersionAndMatchesOnlyWhereNoneIsAsked) {
  Cell cell{"c", "2.13.0", "/home/x/Liger-Kernel", "none", {}, std::nullopt};
  EXPECT_FALSE(CellPattern::Parse("liger>=0.8.1")->Matches(FactsOf(cell)));
  EXPECT_TRUE(CellPattern::Parse("torch=2.13")->Matches(FactsOf(cell)));
}

TEST(CellPatternTest, ReadsWhatItWrites) {
  const Json json = Json::parse(R"({"case":["a","b*"],"fix":"guard","torch":">=2.13","capability":"<8","device":"cuda"})");
  Result<CellPattern> pattern = CellPattern::FromJson(json, "when");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->ToJson(), json);
}

TEST(CellPatternTest, ErrorsNameTheMember) {
  const auto message = [](const char* text) { return CellPattern::FromJson(Json::parse(text), "rule 'x'.when").error().message; };
  EXPECT_EQ(message(R"({"torhc": "2.8"})"), "rule 'x'.when: unknown member 'torhc'; did you mean 'torch'?");
  EXPECT_EQ(message(R"({"torch": 2.8})"), "rule 'x'.when.torch: expected a version range such as \">=2.8,<2.13\"");
  EXPECT_EQ(message(R"({"device": "gpu"})"), "rule 'x'.when.device: expected emulated or cuda");
  EXPECT_EQ(message(R"({"case": []})"), "rule 'x'.when.case: expected a name or a list of names");
  EXPECT_EQ(CellPattern::Parse("torch").error().message, "pattern 'torch': 'torch' is not a term such as torch<2.8 or case=flce-*");
  EXPECT_EQ(CellPattern::Parse("torhc=2").error().message, "pattern 'torhc=2': unknown axis 'torhc'; did you mean 'torch'?");
  EXPECT_FALSE(CellPattern::Parse("").ok());
  EXPECT_FALSE(CellPattern::Parse("case<2").ok());
  EXPECT_FALSE(CellPattern::Parse("torch>2;torch<3").ok());
}

}  // namespace
}  // namespace flce
