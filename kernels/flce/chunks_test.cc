#include "kernels/flce/chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flce {
namespace {

ChunkRule Rule(const char* liger, std::optional<int64_t> budget = {}) {
  return ChunkRule::Of(*Version::Parse(liger), budget).value();
}

TEST(ChunksTest, SizesAndCountsOfKnownShapes) {
  struct Row {
    int64_t bt, h, v, budget;
    int64_t size;
    size_t count;
  };
  const Row rows[] = {
      {8, 16, 32, 1, 4, 2},  // the smallest reported case
      {64, 128, 1000, 1, 8, 8},
      {2048, 1024, 151936, 1, 16, 128},
      {4096, 4096, 128256, 1, 128, 32},
      {2048, 1024, 151936, 16, 256, 8},
      {2048, 1024, 151936, 64, 1024, 2},
      {16384, 4096, 32000, 1, 2048, 8},
      {5, 16, 8, 1, 5, 1},  // a power of two beyond the rows is cut to the rows
      {7, 4, 8, 1, 4, 2},   // the last chunk is shorter
      {1, 1, 1, 1, 1, 1},
  };
  for (const Row& row : rows) {
    const std::vector<Chunk> chunks = Chunks(row.bt, row.h, row.v, Rule("0.8.5", row.budget));
    EXPECT_EQ(chunks.front().end, row.size) << row.bt << "x" << row.h << "x" << row.v;
    EXPECT_EQ(chunks.size(), row.count) << row.bt << "x" << row.h << "x" << row.v;
    EXPECT_EQ(chunks.back().end, row.bt);
  }
}

TEST(ChunksTest, ReleasesDifferOnlyInTheBudget) {
  for (const char* liger : {"0.8.0", "0.8.2", "0.8.3", "0.8.5", "0.8.5.dev20261027"})
    EXPECT_EQ(Rule(liger).budget, 1) << liger;
  EXPECT_EQ(Rule("0.8.3", 16).budget, 16);
  const Result<ChunkRule> old = ChunkRule::Of(*Version::Parse("0.8.2"), 16);
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().message, "Liger 0.8.2 has no chunk budget; the first release with one is 0.8.3");
  EXPECT_FALSE(ChunkRule::Of(*Version::Parse("0.8.5"), 0).ok());
}

}  // namespace
}  // namespace flce
