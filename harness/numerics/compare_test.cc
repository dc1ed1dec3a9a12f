#include "harness/numerics/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

namespace flce {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Bytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

class CompareTest : public ::testing::Test {
 protected:
  CompareTest() : folder_(std::move(TempDir::Make(fs::temp_directory_path(), "compare-test")).value()) {}

  fs::path Write(const std::string& name, const std::vector<TensorBytes>& tensors) {
    const fs::path path = folder_.path() / name;
    EXPECT_TRUE(WriteSafetensors(path, tensors, {}).ok());
    return path;
  }
  FileComparison Compare(const std::vector<TensorBytes>& a, const std::vector<TensorBytes>& b,
                         const CompareOptions& options = {}) {
    Result<FileComparison> comparison = CompareFiles(Write("a", a), Write("b", b), options);
    EXPECT_TRUE(comparison.ok());
    return std::move(comparison).value();
  }

  TempDir folder_;
};

TEST_F(CompareTest, EqualFilesHold) {
  const std::vector<TensorBytes> tensors = {{"loss", DType::kF32, {}, Bytes({1})},
                                            {"grad", DType::kF32, {2, 2}, Bytes({1, 2, 3, 4})}};
  const FileComparison comparison = Compare(tensors, tensors);
  EXPECT_TRUE(comparison.Holds());
  ASSERT_EQ(comparison.tensors.size(), 2u);
  EXPECT_TRUE(comparison.tensors[0].Bitwise());
}

TEST_F(CompareTest, ADifferenceIsLocatedByRowAndColumn) {
  const FileComparison comparison = Compare({{"g", DType::kF32, {2, 3}, Bytes({1, 2, 3, 4, 5, 6})}},
                                            {{"g", DType::kF32, {2, 3}, Bytes({1, 2, 3, 4, 5, 7})}});
  EXPECT_FALSE(comparison.Holds());
  const nlohmann::ordered_json json = ToJson(comparison);
  EXPECT_EQ(json["holds"], false);
  EXPECT_EQ(json["tensors"][0]["mismatches"], 1);
  EXPECT_EQ(json["tensors"][0]["first"][0]["index"], (std::vector<int>{1, 2}));
  EXPECT_EQ(json["tensors"][0]["max_abs"], 1.0);
  EXPECT_EQ(json["tensors"][0]["max_abs_index"], (std::vector<int>{1, 2}));
  EXPECT_THAT(ToText(comparison), HasSubstr("g F32[2, 3]: 1 of 6 differ, max abs 1 at [1, 2]"));
}

TEST_F(CompareTest, SwappedRowsAreLocated) {
  const FileComparison comparison = Compare({{"g", DType::kF32, {3, 2}, Bytes({1, 2, 3, 4, 5, 6})}},
                                            {{"g", DType::kF32, {3, 2}, Bytes({1, 2, 5, 6, 3, 4})}});
  const TensorDiff& tensor = comparison.tensors[0];
  EXPECT_EQ(tensor.stats.mismatches, 4u);
  EXPECT_THAT(Coordinates(tensor.stats.first[0].index, tensor.shape), ElementsAre(1, 0));
  EXPECT_THAT(Coordinates(tensor.stats.first[3].index, tensor.shape), ElementsAre(2, 1));
}

TEST_F(CompareTest, TensorsThatCannotBePairedDoNotHold) {
  const FileComparison comparison = Compare({{"a", DType::kF32, {1}, Bytes({1})},
                                             {"d", DType::kF32, {1}, Bytes({1})},
                                             {"s", DType::kF32, {2}, Bytes({1, 2})}},
                                            {{"b", DType::kF32, {1}, Bytes({1})},
                                             {"d", DType::kI32, {1}, Bytes({1})},
                                             {"s", DType::kF32, {2, 1}, Bytes({1, 2})}});
  EXPECT_FALSE(comparison.Holds());
  ASSERT_EQ(comparison.tensors.size(), 4u);
  EXPECT_EQ(comparison.tensors[0].pairing, Pairing::kOnlyInA);
  EXPECT_EQ(comparison.tensors[1].detail, "F32 against I32");
  EXPECT_EQ(comparison.tensors[2].detail, "[2] against [2, 1]");
  EXPECT_EQ(comparison.tensors[3].pairing, Pairing::kOnlyInB);
}

TEST_F(CompareTest, AnAllowanceAdmitsWhatItSaysAndNoMore) {
  const std::vector<TensorBytes> a = {{"g", DType::kF32, {2}, Bytes({1, 2})}};
  const std::vector<TensorBytes> b = {{"g", DType::kF32, {2}, Bytes({1, 2.5})}};
  struct Row {
    std::optional<uint64_t> ulp;
    std::optional<double> abs;
    bool holds;
  };
  const uint64_t distance = 1 << 21;  // 2 -> 2.5 is a quarter of a binade of 2^23 values
  const Row rows[] = {{{}, {}, false},           {{}, 0.5, true},           {{}, 0.49, false},
                      {distance, {}, true},      {distance - 1, {}, false}, {distance, 0.49, false},
                      {distance - 1, 0.5, false}};
  for (const Row& row : rows) {
    CompareOptions options;
    options.allowance = {row.ulp, row.abs};
    EXPECT_EQ(Compare(a, b, options).Holds(), row.holds) << row.ulp.value_or(0) << " " << row.abs.value_or(0);
  }
}

TEST_F(CompareTest, NoAllowanceAdmitsANanOnOneSide) {
  CompareOptions options;
  options.allowance.max_abs = 1e30;
  EXPECT_FALSE(Compare({{"g", DType::kF32, {1}, Bytes({1})}},
                       {{"g", DType::kF32, {1}, Bytes({std::nanf("")})}}, options)
                   .Holds());
  EXPECT_FALSE(
      Compare({{"g", DType::kF8E4M3, {1}, "a"}}, {{"g", DType::kF8E4M3, {1}, "b"}}, options).Holds());
}

TEST_F(CompareTest, PrefixesCompareGroupsOfOneFile) {
  const fs::path file = Write(
      "both", {{"eager/g", DType::kF32, {1}, Bytes({1})}, {"compiled/g", DType::kF32, {1}, Bytes({1})}});
  CompareOptions options;
  options.prefix_a = "eager/";
  options.prefix_b = "compiled/";
  const Result<FileComparison> comparison = CompareFiles(file, file, options);
  ASSERT_TRUE(comparison.ok());
  ASSERT_EQ(comparison->tensors.size(), 1u);
  EXPECT_EQ(comparison->tensors[0].name, "g");
  EXPECT_TRUE(comparison->Holds());
}

TEST_F(CompareTest, UnknownNamesAndEmptySelectionsAreErrors) {
  const fs::path file = Write("x", {{"grad_w", DType::kF32, {1}, Bytes({1})}});
  CompareOptions options;
  options.names = {"grad_v"};
  EXPECT_THAT(CompareFiles(file, file, options).error().message, HasSubstr("did you mean 'grad_w'?"));
  options = {};
  options.prefix_a = options.prefix_b = "none/";
  EXPECT_THAT(CompareFiles(file, file, options).error().message, HasSubstr("nothing to compare"));
}

TEST_F(CompareTest, ThreadsAgreeWithOneThreadOverManyPieces) {
  // Seven mebibytes: several pieces, the last one not full.
  std::vector<float> a(7 * 1024 * 256 + 13);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 1000);
  std::vector<float> b = a;
  for (const size_t i : {size_t{5}, size_t{600'000}, size_t{1'200'000}, a.size() - 1}) b[i] += 0.5F;
  const std::vector<int64_t> shape = {static_cast<int64_t>(a.size())};
  CompareOptions one;
  one.threads = 1;
  CompareOptions four;
  four.threads = 4;
  const std::vector<TensorBytes> left = {{"g", DType::kF32, shape, Bytes(a)}};
  const std::vector<TensorBytes> right = {{"g", DType::kF32, shape, Bytes(b)}};
  const nlohmann::ordered_json single = ToJson(Compare(left, right, one));
  EXPECT_EQ(single, ToJson(Compare(left, right, four)));
  EXPECT_EQ(single["tensors"][0]["mismatches"], 4);
  EXPECT_EQ(single["tensors"][0]["first"][3]["index"][0], a.size() - 1);
}

TEST(CoordinatesTest, RowMajor) {
  EXPECT_THAT(Coordinates(0, {}), ElementsAre());
  EXPECT_THAT(Coordinates(5, {2, 3}), ElementsAre(1, 2));
  EXPECT_THAT(Coordinates(23, {2, 3, 4}), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace flce
