#include "harness/provision/lock.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace flce {
namespace {

constexpr char kPylock[] = R"(lock-version = "1.0"
created-by = "uv"
requires-python = ">=3.11.2"

[[packages]]
name = "torch"
version = "2.13.0+cu130"
wheels = [{ url = "https://x/torch-2.13.0%2Bcu130-cp311-cp311-manylinux_2_28_x86_64.whl", upload-time = 2026-07-08T16:04:07Z, size = 526574961, hashes = { sha256 = "60fc" } }]

[[packages]]
name = "markupsafe"
version = "3.0.4"
marker = "python_full_version < '3.15'"
sdist = { url = "https://x/markupsafe-3.0.4.tar.gz", size = 1, hashes = { sha256 = "bad" } }
wheels = [
    { url = "https://x/markupsafe-3.0.4-cp311.whl", size = 7, hashes = { sha256 = "6da8" } },
    { url = "https://x/markupsafe-3.0.4-py3.whl", size = 9, hashes = { sha256 = "77" } },
]
)";

TEST(LockTest, ReadsTheWheelThatFits) {
  const auto packages = ParsePylock(kPylock);
  ASSERT_TRUE(packages.ok());
  ASSERT_EQ(packages->size(), 2u);
  EXPECT_EQ((*packages)[0], (LockedPackage{"torch", "2.13.0+cu130", "torch-2.13.0+cu130-cp311-cp311-manylinux_2_28_x86_64.whl",
                                           "https://x/torch-2.13.0%2Bcu130-cp311-cp311-manylinux_2_28_x86_64.whl", "60fc", 526574961}));
  EXPECT_EQ((*packages)[1].sha256, "6da8");
  EXPECT_EQ((*packages)[1].size, 7u);
}

TEST(LockTest, RequirementsDemandTheHash) {
  EXPECT_EQ(RequirementsText(*ParsePylock(kPylock)), "torch==2.13.0+cu130 --hash=sha256:60fc\nmarkupsafe==3.0.4 --hash=sha256:6da8\n");
}

TEST(LockTest, WhatCannotBeVerifiedIsRefused) {
  EXPECT_EQ(ParsePylock("[[packages]]\nname = \"a\"\nversion = \"1\"\nsdist = { url = \"https://x/a.tar.gz\", hashes = { sha256 = \"1\" } }\n").error().message,
            "the index has no wheel of a 1 for this interpreter");
  EXPECT_EQ(ParsePylock("[[packages]]\nname = \"a\"\nversion = \"1\"\nwheels = [{ url = \"https://x/a.whl\" }]\n").error().message,
            "the index gives no SHA-256 for https://x/a.whl (a 1)");
  EXPECT_FALSE(ParsePylock("").ok());
}

TEST(LockTest, CredentialsOfAnIndexAreNotRecorded) {
  const auto packages = ParsePylock("[[packages]]\nname = \"a\"\nversion = \"1\"\nwheels = [{ url = \"https://me:secret@x/a.whl\", hashes = { sha256 = \"1\" } }]\n");
  EXPECT_EQ(packages->front().url, "https://x/a.whl");
}

TEST(LockTest, JsonRoundTripNoticesAChange) {
  const std::vector<LockedPackage> packages = *ParsePylock(kPylock);
  nlohmann::ordered_json json = LockToJson(packages);
  EXPECT_EQ(*LockFromJson(json), packages);
  EXPECT_EQ(json["sha256"], LockDigest(packages));
  json["packages"][0]["sha256"] = "00";
  EXPECT_EQ(LockFromJson(json).error().message, "lock: the packages do not match their SHA-256");
}

}  // namespace
}  // namespace flce
