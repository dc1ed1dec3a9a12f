#include "harness/emulator/content_map.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace flce::emulator {
namespace {

std::string Text(const ContentMap& map, std::uintptr_t begin, std::uintptr_t end) {
  std::string text;
  for (const ContentMap::Range& range : map.Written(begin, end)) {
    text += "[" + std::to_string(range.begin) + "," + std::to_string(range.end) + ")";
  }
  return text;
}

TEST(ContentMapTest, JoinsCutsAndClips) {
  ContentMap map;
  EXPECT_EQ(Text(map, 0, 100), "");
  map.MarkWritten(10, 20);
  map.MarkWritten(30, 40);
  EXPECT_EQ(Text(map, 0, 100), "[10,20)[30,40)");
  map.MarkWritten(20, 30);
  EXPECT_EQ(Text(map, 0, 100), "[10,40)");
  EXPECT_EQ(map.size(), 1U);
  map.MarkZero(15, 18);
  EXPECT_EQ(Text(map, 0, 100), "[10,15)[18,40)");
  EXPECT_EQ(Text(map, 12, 20), "[12,15)[18,20)");
  EXPECT_EQ(Text(map, 15, 18), "");
  map.MarkZero(0, 100);
  EXPECT_EQ(map.size(), 0U);
}

// Against a plain bit per byte.
TEST(ContentMapTest, AgreesWithABitPerByte) {
  constexpr std::size_t kBytes = 256;
  std::mt19937 random(1327);
  ContentMap map;
  std::bitset<kBytes> bits;
  for (int step = 0; step < 20000; ++step) {
    std::uintptr_t begin = random() % kBytes;
    std::uintptr_t end = random() % (kBytes + 1);
    if (begin > end) std::swap(begin, end);
    const bool written = random() % 2 == 0;
    if (written) {
      map.MarkWritten(begin, end);
    } else {
      map.MarkZero(begin, end);
    }
    for (std::uintptr_t at = begin; at < end; ++at) bits[at] = written;
    std::bitset<kBytes> seen;
    std::uintptr_t last = 0;
    for (const ContentMap::Range& range : map.Written(0, kBytes)) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_TRUE(last == 0 || range.begin > last) << "ranges must not touch";
      last = range.end;
      for (std::uintptr_t at = range.begin; at < range.end; ++at) seen[at] = true;
    }
    ASSERT_EQ(seen, bits) << "after step " << step;
  }
}

}  // namespace
}  // namespace flce::emulator
