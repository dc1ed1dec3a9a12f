#include "harness/provision/index.h"

#include "harness/provision/test_support.h"

namespace flce {
namespace {

constexpr int64_t kNow = 1'000'000;

class CatalogueTest : public InTempDir {
 protected:
  Catalogue Make(bool every_patch = false, bool offline = false, int64_t now = kNow) {
    return Catalogue(&index_, {"torch", "torch-nightly", "2.7"}, {dir_ / "catalogue.json", "cp311", offline, every_patch, [this] { return installed_; }}, now);
  }
  FakeIndex index_{{"2.6.0", "2.7.0", "2.7.1", "2.8.0", "2.9.0", "2.9.1", "2.13.0", "2.14.0", "2.14.1", "2.15.0", "2.16.0.dev20260101"}};
  std::vector<std::string> installed_;
};

TEST_F(CatalogueTest, ResolvesWhatPeopleWrite) {
  EXPECT_EQ(*Make().Resolve("newest"), "2.15.0");
  EXPECT_EQ(*Make().Resolve("2.14"), "2.14.1");
  EXPECT_EQ(*Make().Resolve("2.9"), "2.9.1");
  EXPECT_EQ(*Make().Resolve("nightly"), "2.16.0.dev20260101");
}

TEST_F(CatalogueTest, AnExactVersionIsNotAskedFor) {
  EXPECT_EQ(*Make().Resolve("2.13.0"), "2.13.0");
  EXPECT_EQ(*Make().Resolve("2.16.0.dev20260101"), "2.16.0.dev20260101");
  EXPECT_TRUE(index_.queries.empty());
}

TEST_F(CatalogueTest, ARangeGivesTheNewestPatchOfEachMinor) {
  EXPECT_EQ(*Make().Expand("2.8..2.14"), (std::vector<std::string>{"2.8.0", "2.9.1", "2.13.0", "2.14.1"}));
  EXPECT_EQ(*Make().Expand("2.8..2.14.0"), (std::vector<std::string>{"2.8.0", "2.9.1", "2.13.0", "2.14.0"}));
  EXPECT_EQ(*Make().Expand("all"), (std::vector<std::string>{"2.7.1", "2.8.0", "2.9.1", "2.13.0", "2.14.1", "2.15.0"}));
  EXPECT_EQ(*Make().Expand("2.13"), std::vector<std::string>{"2.13.0"});
}

TEST_F(CatalogueTest, ARangeGivesEveryReleaseWherePatchesMatter) {
  EXPECT_EQ(*Make(true).Expand("2.7.0..2.8.0"), (std::vector<std::string>{"2.7.0", "2.7.1", "2.8.0"}));
  EXPECT_EQ(*Make(true).Expand("2.9..2.14.0"), (std::vector<std::string>{"2.9.0", "2.9.1", "2.13.0", "2.14.0"}));
}

TEST_F(CatalogueTest, AnUnknownReleaseNamesTheNearest) {
  const Error error = Make().Resolve("2.99").error();
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_EQ(error.message, "no torch 2.99 for this interpreter on the package index; nearest: 2.15.0 (the newest before)");
  EXPECT_EQ(Make().Unknown("2.10.0").message,
            "no torch 2.10.0 for this interpreter on the package index; nearest: 2.9.1 (the newest before), 2.13.0 (the first after)");
}

TEST_F(CatalogueTest, BadSpecsAreUsageErrors) {
  EXPECT_EQ(Make().Resolve("2.13x").error().kind, ErrorKind::kUsage);
  EXPECT_EQ(Make().Resolve("latest").error().message, "'latest' is no torch version; write one as 2.13.0, 2.13, newest or nightly");
  EXPECT_EQ(Make().Expand("2.15..2.8").error().message, "the range 2.15..2.8 runs backwards");
  EXPECT_EQ(Make().Expand("2.8..x").error().kind, ErrorKind::kUsage);
}

TEST_F(CatalogueTest, AnswersAreKeptForAnHour) {
  ASSERT_TRUE(Make().Resolve("newest").ok());
  ASSERT_TRUE(Make(false, false, kNow + 3599).Resolve("newest").ok());
  EXPECT_EQ(index_.queries.size(), 1u);
  ASSERT_TRUE(Make(false, false, kNow + 3601).Resolve("newest").ok());
  EXPECT_EQ(index_.queries.size(), 2u);
}

TEST_F(CatalogueTest, ADamagedCacheIsAsNone) {
  for (const char* text : {"", "{", "[]", R"({"format":1,"answers":[]})", R"({"format":1,"answers":{"torch cp311":7}})"}) {
    WriteFile(dir_ / "catalogue.json", text);
    EXPECT_EQ(*Make().Resolve("newest"), "2.15.0") << text;
  }
}

TEST_F(CatalogueTest, AnUnreachableIndexFallsBackToWhatWasKnown) {
  ASSERT_TRUE(Make().Resolve("newest").ok());
  index_.failure = Error{ErrorKind::kEnvironment, "no network"};
  Catalogue later = Make(false, false, kNow + 100'000);
  EXPECT_EQ(*later.Resolve("newest"), "2.15.0");
  EXPECT_EQ(later.note(), "no network; going on with torch 2.15.0, known from before");
  EXPECT_EQ(later.Resolve("2.8").error().message, "no network");
  installed_ = {"2.8.0"};
  EXPECT_EQ(*later.Resolve("2.8"), "2.8.0");
}

TEST_F(CatalogueTest, OfflineWhatIsInstalledAnswers) {
  installed_ = {"2.9.1", "2.13.0", "2.8.0"};
  Catalogue offline(nullptr, {"torch", "torch", "2.7"}, {dir_ / "c.json", "", true, false, [this] { return installed_; }}, kNow);
  EXPECT_EQ(*offline.Resolve("newest"), "2.13.0");
  EXPECT_EQ(*offline.Resolve("2.9"), "2.9.1");
  EXPECT_EQ(*offline.Expand("2.8..2.15"), (std::vector<std::string>{"2.8.0", "2.9.1", "2.13.0"}));
  const Error error = offline.Resolve("2.14").error();
  EXPECT_EQ(error.kind, ErrorKind::kEnvironment);
  EXPECT_EQ(error.message,
            "torch 2.14 is not installed and --offline forbids to fetch it; run the same command once without --offline (installed: 2.9.1, 2.13.0, 2.8.0)");
}

}  // namespace
}  // namespace flce
