#include "harness/plan/case_catalogue.h"

#include <gtest/gtest.h>

#include "harness/model/json_reader.h"

namespace flce {
namespace {

Json Good() {
  return Json::parse(R"({"format":1,"name":"flce-a","title":"t","why":"w","module":"flce_case","function":"build",
    "parameters":{},"shape":{"bt":8,"h":16,"v":32},"compile":{},"call":{},"kind":"liger","expects_backward":true,"tags":["seed"]})");
}

class CaseCatalogueTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) { ASSERT_TRUE(WriteFileAtomically(dir_.path() / name, text).ok()); }
  std::string Problem() {
    Result<CaseCatalogue> loaded = CaseCatalogue::Load(dir_.path());
    return loaded.ok() ? "ok" : loaded.error().message;
  }
  TempDir dir_ = TempDir::Make(fs::temp_directory_path(), "cases").value();
};

TEST_F(CaseCatalogueTest, LoadsCasesByNameAndPassesOverOtherData) {
  Json other = Good();
  other["name"] = "flce-b";
  Write("z.json", Good().dump());
  Write("a.json", other.dump());
  Write("devices.json", R"({"format":1,"devices":[]})");
  Write("flce_case.py", "");
  Result<CaseCatalogue> loaded = CaseCatalogue::Load(dir_.path());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  ASSERT_EQ(loaded->cases().size(), 2u);
  const CaseFile& first = loaded->cases()[0];
  EXPECT_EQ(first.name, "flce-a");
  EXPECT_EQ(first.shape, (Shape{8, 16, 32}));
  EXPECT_TRUE(first.HasTag("seed"));
  EXPECT_EQ(first.sources, (std::vector<fs::path>{dir_.path() / "z.json", dir_.path() / "flce_case.py"}));
  EXPECT_EQ(loaded->Select("flce-*")->size(), 2u);
  EXPECT_EQ(loaded->Find("flce-aa").error().message, "unknown case 'flce-aa'; did you mean 'flce-a'?");
  EXPECT_EQ(loaded->Find("zzzzzz").error().message, "unknown case 'zzzzzz'; known: flce-a, flce-b");
  EXPECT_EQ(loaded->Select("x-*").error().message, "no case matches 'x-*'");
}

TEST_F(CaseCatalogueTest, ErrorsNameTheFileAndTheMember) {
  const auto with = [&](auto change) {
    Json json = Good();
    change(json);
    Write("c.json", json.dump());
    return Problem();
  };
  EXPECT_EQ(with([](Json& j) { j.erase("module"); }), "cases/c.json: member \"module\" must be a text");
  EXPECT_EQ(with([](Json& j) { j["shape"]["v"] = 0; }), "cases/c.json: member \"shape.v\" must be a positive whole number");
  EXPECT_EQ(with([](Json& j) { j["compile"] = 3; }), "cases/c.json: member \"compile\" must be an object");
  EXPECT_EQ(with([](Json& j) { j["format"] = 2; }), "cases/c.json: member \"format\" is 2, too new; this program reads 1");
  EXPECT_EQ(with([](Json& j) { j["name"] = "a b"; }), "cases/c.json: member \"name\": 'a b' may hold only a-z, 0-9, '-', '_' and '.'");
  EXPECT_EQ(with([](Json& j) { j["expects_backward"] = 1; }), "cases/c.json.expects_backward: expected true or false");
  EXPECT_EQ(with([](Json& j) { j["package"] = Json::array(); }), "cases/c.json: unknown member 'package'; did you mean 'packages'?");
  EXPECT_EQ(with([](Json& j) { j["packages"] = "transformers"; }), "cases/c.json: member \"packages\" must be a list of texts");
  EXPECT_EQ(with([](Json& j) { j["packages"] = {1}; }), "cases/c.json: member \"packages\" must be a list of texts");
  for (const char* loose : {"transformers", "transformers>=5", "transformers==", "==5", "transformers==5; os_name=='nt'", "--index==5", "a/b==1", "A==1"})
    EXPECT_EQ(with([&](Json& j) { j["packages"] = {loose}; }),
              "cases/c.json: member \"packages\": '" + std::string(loose) + "' must be a name and an exact release, \"name==1.2.3\"");
  EXPECT_EQ(with([](Json& j) { j["packages"] = {"hf.a-b_c==1!2.0rc1+cu1"}; }), "ok");
  Write("c.json", "{");
  EXPECT_EQ(Problem(), "cases/c.json: not valid JSON at byte 2");
}

TEST(ShippedCasesTest, AllAreGood) {
  Result<CaseCatalogue> loaded = CaseCatalogue::Load(fs::path(FLCE_SOURCE_DIR) / "cases");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  ASSERT_TRUE(loaded->Find("flce-bf16-fp32-accum").ok());
  EXPECT_EQ((*loaded->Find("flce-bf16-fp32-accum"))->sources.size(), 2u);
  EXPECT_TRUE((*loaded->Find("flce-bf16-fp32-accum"))->packages.empty());
  ASSERT_FALSE((*loaded->Find("causal-lm-llama"))->packages.empty());
  EXPECT_EQ((*loaded->Find("causal-lm-llama"))->packages.front().rfind("transformers==", 0), 0u);
}

TEST_F(CaseCatalogueTest, TwoCasesOfOneNameAreAnError) {
  Write("a.json", Good().dump());
  Write("b.json", Good().dump());
  EXPECT_EQ(Problem(), "cases/b.json: the name 'flce-a' is already that of cases/a.json");
}

TEST_F(CaseCatalogueTest, AnEmptyFolderHasNoCase) { EXPECT_EQ(Problem(), "no case in " + dir_.path().string()); }

}  // namespace
}  // namespace flce
