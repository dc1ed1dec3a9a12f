#include "harness/numerics/element_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace flce {
namespace {

template <typename T>
ElementStats Stats(DType dtype, const std::vector<T>& a, const std::vector<T>& b) {
  ElementStats stats;
  AddRange(dtype, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), 0, &stats);
  return stats;
}

TEST(ElementStatsTest, EqualTensorsHaveNoDifference) {
  const std::vector<float> values = {1, -2, 0, 3};
  const ElementStats stats = Stats(DType::kF32, values, values);
  EXPECT_EQ(stats.elements, 4u);
  EXPECT_EQ(stats.mismatches, 0u);
  EXPECT_EQ(stats.histogram[0], 4u);
  EXPECT_TRUE(stats.first.empty());
}

TEST(ElementStatsTest, OneBitIsFoundWhereItIs) {
  std::vector<uint16_t> a(1000, 0x3f80);
  std::vector<uint16_t> b = a;
  b[777] ^= 1;
  const ElementStats stats = Stats(DType::kBF16, a, b);
  EXPECT_EQ(stats.mismatches, 1u);
  ASSERT_EQ(stats.first.size(), 1u);
  EXPECT_EQ(stats.first[0].index, 777u);
  EXPECT_EQ(stats.first[0].a, 1.0);
  EXPECT_EQ(stats.first[0].b, 1.0078125);
  EXPECT_EQ(stats.first[0].ulps, 1u);
  EXPECT_EQ(stats.max_abs, 0.0078125);
  EXPECT_EQ(stats.max_abs_index, 777u);
  EXPECT_EQ(stats.max_ulp, 1u);
  EXPECT_EQ(stats.histogram[0], 999u);
  EXPECT_EQ(stats.histogram[1], 1u);
}

TEST(ElementStatsTest, TheLargestDistanceNeedNotBeTheMostUlps) {
  // 1.0 against 1.25 is 32 steps of bf16; 2^-20 against 2^-19 is 128.
  const std::vector<uint16_t> a = {0x3f80, 0x3580};
  const std::vector<uint16_t> b = {0x3fa0, 0x3600};
  const ElementStats stats = Stats(DType::kBF16, a, b);
  EXPECT_EQ(stats.max_abs, 0.25);
  EXPECT_EQ(stats.max_abs_index, 0u);
  EXPECT_EQ(stats.max_ulp, 128u);
  EXPECT_EQ(stats.max_ulp_index, 1u);
  EXPECT_EQ(stats.histogram[6], 1u);  // 32..63
  EXPECT_EQ(stats.histogram[8], 1u);  // 128..255
}

TEST(ElementStatsTest, NansAndInfinitiesStandApart) {
  const float nan = std::nanf("");
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> a = {nan, nan, 1, inf, inf, 2, -inf};
  const std::vector<float> b = {nan, 1, nan, inf, -inf, inf, nan};
  const ElementStats stats = Stats(DType::kF32, a, b);
  EXPECT_EQ(stats.nan_a, 2u);
  EXPECT_EQ(stats.nan_b, 3u);
  EXPECT_EQ(stats.nan_mismatches, 3u);  // 1, 2 and 6
  EXPECT_EQ(stats.inf_a, 3u);
  EXPECT_EQ(stats.inf_b, 3u);
  EXPECT_EQ(stats.inf_mismatches, 2u);  // 4 and 5
  EXPECT_EQ(stats.mismatches, 5u);
  EXPECT_EQ(stats.max_abs, 0.0);
  EXPECT_EQ(stats.max_ulp, 0u);
  EXPECT_EQ(stats.histogram[0], 0u);
}

TEST(ElementStatsTest, NansOfDifferentBitsDifferButAgreeInBeingNan) {
  const std::vector<uint16_t> a = {0x7fc0};
  const std::vector<uint16_t> b = {0x7fc1};
  const ElementStats stats = Stats(DType::kBF16, a, b);
  EXPECT_EQ(stats.mismatches, 1u);
  EXPECT_EQ(stats.nan_mismatches, 0u);
}

TEST(ElementStatsTest, MinusZeroIsAMismatchOfNoUlps) {
  const std::vector<float> a = {0.0F, 1.0F};
  const std::vector<float> b = {-0.0F, 1.0F};
  const ElementStats stats = Stats(DType::kF32, a, b);
  EXPECT_EQ(stats.mismatches, 1u);
  EXPECT_EQ(stats.signed_zeros, 1u);
  EXPECT_EQ(stats.max_ulp, 0u);
  EXPECT_EQ(stats.max_abs, 0.0);
}

TEST(ElementStatsTest, IntegersDifferByWholeNumbers) {
  const std::vector<int64_t> a = {INT64_MIN, 5, 7};
  const std::vector<int64_t> b = {INT64_MAX, 5, 4};
  const ElementStats stats = Stats(DType::kI64, a, b);
  EXPECT_EQ(stats.mismatches, 2u);
  EXPECT_EQ(stats.max_abs, 18446744073709551615.0);
  EXPECT_EQ(stats.histogram[64], 1u);
  EXPECT_EQ(stats.histogram[2], 1u);
}

TEST(ElementStatsTest, OnlyTheFirstDifferencesAreKept) {
  const std::vector<float> a(100, 1.0F);
  const std::vector<float> b(100, 2.0F);
  const ElementStats stats = Stats(DType::kF32, a, b);
  ASSERT_EQ(stats.first.size(), ElementStats::kFirstKept);
  EXPECT_EQ(stats.first.back().index, ElementStats::kFirstKept - 1);
}

TEST(ElementStatsTest, MergedPiecesEqualTheWholeInAnyOrder) {
  std::vector<float> a(300);
  std::vector<float> b(300);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = i % 11 == 3 ? a[i] + 1 : a[i];
  }
  const ElementStats whole = Stats(DType::kF32, a, b);
  ElementStats merged;
  for (const size_t piece : {2, 0, 1}) {
    ElementStats part;
    AddRange(DType::kF32, std::as_bytes(std::span(a).subspan(piece * 100, 100)),
             std::as_bytes(std::span(b).subspan(piece * 100, 100)), piece * 100, &part);
    merged.Merge(part);
  }
  EXPECT_EQ(merged.elements, whole.elements);
  EXPECT_EQ(merged.mismatches, whole.mismatches);
  EXPECT_EQ(merged.max_abs_index, whole.max_abs_index);
  EXPECT_EQ(merged.max_ulp_index, whole.max_ulp_index);
  EXPECT_EQ(merged.histogram, whole.histogram);
  ASSERT_EQ(merged.first.size(), whole.first.size());
  for (size_t i = 0; i < whole.first.size(); ++i) EXPECT_EQ(merged.first[i].index, whole.first[i].index);
}

}  // namespace
}  // namespace flce
