#include "harness/numerics/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/text.h"

namespace flce {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

const fs::path kCases = fs::path(FLCE_SOURCE_DIR) / "cases";

Version V(const char* text) { return *Version::Parse(text); }

TEST(ClaimsTest, TheShippedClaimsSayWhatTheyMust) {
  const Result<Tolerances> tolerances = Tolerances::Load(kCases / "tolerances.json");
  ASSERT_TRUE(tolerances.ok()) << tolerances.error().message;
  EXPECT_EQ(tolerances->memory_ratio, 2);
  EXPECT_EQ(tolerances->eager_error_factor, 2);
  struct Row {
    const char* fix;
    ClaimKind grad_w;
  };
  const Row rows[] = {{"none", ClaimKind::kBitwise},
                      {"guard", ClaimKind::kChunkRounding},
                      {"custom-op", ClaimKind::kBitwise},
                      {"core-decomposition", ClaimKind::kBitwise},
                      {"my.diff", ClaimKind::kChunkRounding}};
  for (const Row& row : rows) {
    for (const char* liger : {"0.8.1", "0.8.2", "0.8.3", "0.8.4", "0.8.5"}) {
      const Result<const Claim*> claim = tolerances->For(row.fix, V(liger));
      ASSERT_TRUE(claim.ok()) << row.fix;
      EXPECT_EQ((*claim)->tensors.at("grad_x").kind, ClaimKind::kBitwise) << row.fix;
      EXPECT_EQ((*claim)->tensors.at("grad_w").kind, row.grad_w) << row.fix;
      EXPECT_EQ((*claim)->tensors.at("loss").kind, ClaimKind::kSummation) << row.fix;
      EXPECT_EQ((*claim)->For("grad_model.head.weight").kind, ClaimKind::kReference) << row.fix;
    }
  }
  EXPECT_EQ(tolerances->no_fp32_accumulator.kind, ClaimKind::kReference);
  EXPECT_EQ(tolerances->parameters.at("bias").kind, ClaimKind::kReference);
}

TEST(ClaimsTest, EveryShippedFixHasAClaimOfItsOwnAndItsFiles) {
  const Json fixes = Json::parse(ReadFile(kCases / "fixes" / "fixes.json").value());
  const Tolerances tolerances = Tolerances::Load(kCases / "tolerances.json").value();
  std::set<std::string> names;
  for (const Json& fix : fixes["fixes"]) {
    const std::string name = fix["name"];
    EXPECT_TRUE(names.insert(name).second) << name << " stands there twice";
    EXPECT_EQ(tolerances.For(name, V("0.8.5")).value()->fix, name);
    for (const Json& file : fix["files"])
      EXPECT_TRUE(fs::exists(kCases / "fixes" / file.get<std::string>())) << file;
  }
}

// A hunk whose header miscounts its lines applies to nothing, and the message of the tool that says so is no
// help.
TEST(ClaimsTest, TheShippedDiffsCountTheirLines) {
  for (const char* name : {"guard.diff", "custom-op.diff", "core-decomposition.diff"}) {
    const std::string text = ReadFile(kCases / "fixes" / name).value();
    int old_left = 0, new_left = 0, hunks = 0;
    for (const std::string_view line : Lines(text)) {
      int old_start = 0, new_start = 0;
      if (std::sscanf(std::string(line).c_str(), "@@ -%d,%d +%d,%d @@", &old_start, &old_left, &new_start,
                      &new_left) == 4) {
        ++hunks;
        continue;
      }
      if (old_left == 0 && new_left == 0) continue;
      ASSERT_FALSE(line.empty()) << name;
      old_left -= line[0] != '+';
      new_left -= line[0] != '-';
      ASSERT_GE(old_left, 0) << name << ": " << line;
      ASSERT_GE(new_left, 0) << name << ": " << line;
    }
    EXPECT_GT(hunks, 0) << name;
    EXPECT_EQ(old_left + new_left, 0) << name;
  }
}

class ClaimsFileTest : public ::testing::Test {
 protected:
  ClaimsFileTest() : folder_(std::move(TempDir::Make(fs::temp_directory_path(), "claims-test")).value()) {
    valid_ = Json::parse(ReadFile(kCases / "tolerances.json").value());
  }
  std::string ErrorOf(const Json& json) {
    EXPECT_TRUE(WriteFileAtomically(folder_.path() / "t.json", json.dump()).ok());
    const Result<Tolerances> tolerances = Tolerances::Load(folder_.path() / "t.json");
    return tolerances.ok() ? "" : tolerances.error().message;
  }

  TempDir folder_;
  Json valid_;
};

TEST_F(ClaimsFileTest, MistakesAreLocated) {
  EXPECT_EQ(ErrorOf(valid_), "");
  Json json = valid_;
  json["format"] = 2;
  EXPECT_THAT(ErrorOf(json), HasSubstr("format is not 1"));
  json = valid_;
  json["claims"][1]["tensors"]["grad_w"]["claim"] = "bitwice";
  EXPECT_THAT(ErrorOf(json),
              HasSubstr("claims[1].tensors.grad_w has an unknown claim 'bitwice'; did you mean 'bitwise'?"));
  json = valid_;
  json["claims"][0]["tensors"].erase("loss");
  EXPECT_THAT(ErrorOf(json), HasSubstr("claims[0].tensors.loss is missing"));
  json = valid_;
  json["claims"][0]["tensors"].erase("*");
  EXPECT_THAT(ErrorOf(json), HasSubstr("claims[0].tensors.* is missing"));
  json = valid_;
  json["parameters"]["bias"]["claim"] = "referenc";
  EXPECT_THAT(ErrorOf(json), HasSubstr("parameters.bias has an unknown claim 'referenc'; did you mean 'reference'?"));
  json = valid_;
  json.erase("no_fp32_accumulator");
  EXPECT_THAT(ErrorOf(json), HasSubstr("no_fp32_accumulator needs a text 'claim'"));
  json = valid_;
  json["claims"][0]["tensors"]["loss"].erase("why");
  EXPECT_THAT(ErrorOf(json), HasSubstr("claims[0].tensors.loss needs a text 'why'"));
  json = valid_;
  json["claims"][2]["liger"] = ">=x";
  EXPECT_THAT(ErrorOf(json), HasSubstr("claims[2] has no valid range 'liger'"));
  json = valid_;
  json["memory"]["max_ratio"] = 0;
  EXPECT_THAT(ErrorOf(json), HasSubstr("memory needs a number 'max_ratio' of at least 1"));
  EXPECT_THAT(ErrorOf(Json::array()), HasSubstr("is no JSON object"));
}

TEST_F(ClaimsFileTest, AReleaseWithoutAClaimIsAnError) {
  Json json = valid_;
  json["claims"].erase(4);  // the one for "*"
  ASSERT_EQ(ErrorOf(json), "");
  const Tolerances tolerances = Tolerances::Load(folder_.path() / "t.json").value();
  const Result<const Claim*> claim = tolerances.For("guard", V("0.8.0"));
  ASSERT_FALSE(claim.ok());
  EXPECT_EQ(claim.error().message, "no claim is made for the fix 'guard' with Liger 0.8.0");
}

}  // namespace
}  // namespace flce
