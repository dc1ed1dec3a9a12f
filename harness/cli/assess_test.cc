#include "harness/cli/assess.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

const Shape kSmall{8, 16, 32}, kBig{2048, 1024, 151936};

TEST(JudgingDeviceTest, WhatRanOnAGpuIsJudgedThereIfTheBuildCan) {
  EXPECT_EQ(*JudgingDevice(DeviceKind::kCuda, kBig, "cpu\ncuda\n"), "cuda");
  EXPECT_EQ(*JudgingDevice(DeviceKind::kCuda, kSmall, "cpu\ncuda\n"), "cuda");
  EXPECT_EQ(*JudgingDevice(DeviceKind::kCuda, kSmall, "cpu\n"), "cpu");
  EXPECT_EQ(*JudgingDevice(DeviceKind::kEmulated, kSmall, "cpu\ncuda\n"), "cpu");
}

TEST(JudgingDeviceTest, ALargeShapeWithoutOneSaysWhatToBuild) {
  const Result<std::string> device = JudgingDevice(DeviceKind::kCuda, kBig, "cpu\n");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(device.error().message,
            "2048x1024x151936 is too large for an fp64 reference on the CPU, and flce-numerics was built without CUDA: scripts/build-numerics "
            "--python INTERPRETER --cuda builds it with an installed torch");
}

}  // namespace
}  // namespace flce
