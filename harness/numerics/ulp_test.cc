#include "harness/numerics/ulp.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

TEST(UlpTest, BFloat16StepsAreCountedAcrossBinadesAndZero) {
  struct Row {
    uint16_t a, b;
    uint64_t ulps;
  };
  const Row rows[] = {
      {0x3f80, 0x3f80, 0},      // 1 and 1
      {0x3f80, 0x3f81, 1},      // 1 and the next value
      {0x3f7f, 0x3f80, 1},      // across a binade
      {0x3f80, 0x4000, 128},    // 1 and 2: 2^7 steps
      {0x0000, 0x8000, 0},      // +0 and -0
      {0x0001, 0x8001, 2},      // the smallest subnormals of either sign
      {0x0000, 0x0001, 1},      // zero and the smallest subnormal
      {0x7f7f, 0xff7f, 65278},  // the largest values of either sign: 2 * 0x7f7f
      {0xbf80, 0xbf82, 2},      // negative values
  };
  for (const Row& row : rows) {
    EXPECT_EQ(UlpDistance<BFloat16Format>(row.a, row.b), row.ulps) << std::hex << row.a << " " << row.b;
    EXPECT_EQ(UlpDistance<BFloat16Format>(row.b, row.a), row.ulps) << std::hex << row.b << " " << row.a;
  }
}

TEST(UlpTest, EveryFormatCountsOneStep) {
  EXPECT_EQ(UlpDistance<HalfFormat>(0x3c00, 0x3c01), 1u);
  EXPECT_EQ(UlpDistance<SingleFormat>(std::bit_cast<uint32_t>(1.0F),
                                      std::bit_cast<uint32_t>(std::nextafter(1.0F, 2.0F))),
            1u);
  EXPECT_EQ(UlpDistance<DoubleFormat>(std::bit_cast<uint64_t>(1.0),
                                      std::bit_cast<uint64_t>(std::nextafter(1.0, 0.0))),
            1u);
  // The largest distance there is fits: twice the largest magnitude.
  EXPECT_EQ(UlpDistance<DoubleFormat>(std::bit_cast<uint64_t>(-1.7976931348623157e308),
                                      std::bit_cast<uint64_t>(1.7976931348623157e308)),
            2 * 0x7fefffffffffffffULL);
}

TEST(UlpTest, NanAndInfinityAreToldApart) {
  EXPECT_TRUE(BFloat16Format::IsInfinite(0x7f80));
  EXPECT_TRUE(BFloat16Format::IsInfinite(0xff80));
  EXPECT_TRUE(BFloat16Format::IsNan(0x7fc0));
  EXPECT_TRUE(BFloat16Format::IsNan(0xff81));
  EXPECT_TRUE(BFloat16Format::IsFinite(0x7f7f));
  EXPECT_TRUE(HalfFormat::IsInfinite(0x7c00));
  EXPECT_TRUE(HalfFormat::IsNan(0xfc01));
  EXPECT_TRUE(HalfFormat::IsFinite(0xfbff));
}

TEST(UlpTest, HalfBecomesDoubleExactly) {
  EXPECT_EQ(ToDouble<HalfFormat>(0x3c00), 1.0);
  EXPECT_EQ(ToDouble<HalfFormat>(0xc000), -2.0);
  EXPECT_EQ(ToDouble<HalfFormat>(0x3555), 0.333251953125);
  EXPECT_EQ(ToDouble<HalfFormat>(0x7bff), 65504.0);
  EXPECT_EQ(ToDouble<HalfFormat>(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(ToDouble<HalfFormat>(0x03ff), std::ldexp(1023.0, -24));
  EXPECT_TRUE(std::signbit(ToDouble<HalfFormat>(0x8000)));
  EXPECT_TRUE(std::isinf(ToDouble<HalfFormat>(0x7c00)));
  EXPECT_LT(ToDouble<HalfFormat>(0xfc00), 0);
  EXPECT_TRUE(std::isnan(ToDouble<HalfFormat>(0x7e00)));
}

TEST(UlpTest, BFloat16BecomesDoubleExactly) {
  EXPECT_EQ(ToDouble<BFloat16Format>(0x3b00), 0.001953125);
  EXPECT_EQ(ToDouble<BFloat16Format>(0xc0a0), -5.0);
}

}  // namespace
}  // namespace flce
