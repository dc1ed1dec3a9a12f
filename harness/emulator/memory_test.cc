#include "harness/emulator/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

namespace flce::emulator {
namespace {

constexpr std::uint64_t kCard = 1ULL << 40;

// Resident pages of this process, in bytes.
std::size_t Resident() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * 4096;
}

char* Allocate(Memory& memory, std::size_t size) {
  void* address = nullptr;
  EXPECT_EQ(memory.Allocate(0, size, MemoryKind::kDevice, false, &address), Status::kSuccess);
  return static_cast<char*>(address);
}

TEST(MemoryTest, CountsUseAndPeak) {
  Memory memory(1, 100 << 20);
  char* a = Allocate(memory, 10 << 20);
  char* b = Allocate(memory, (20 << 20) - 5);
  EXPECT_EQ(memory.used(0), 30U << 20);
  EXPECT_EQ(memory.Free(a), Status::kSuccess);
  EXPECT_EQ(memory.used(0), 20U << 20);
  EXPECT_EQ(memory.peak(0), 30U << 20);
  memory.ResetPeaks();
  EXPECT_EQ(memory.peak(0), 20U << 20);
  EXPECT_EQ(memory.Free(b), Status::kSuccess);
  EXPECT_EQ(memory.used(0), 0U);
}

TEST(MemoryTest, HonoursTheCard) {
  Memory memory(2, 64 << 20);
  void* address = &memory;
  EXPECT_EQ(memory.Allocate(0, (64 << 20) + 1, MemoryKind::kDevice, false, &address), Status::kOutOfMemory);
  EXPECT_EQ(address, nullptr);
  char* most = Allocate(memory, 60 << 20);
  EXPECT_EQ(memory.Allocate(0, 6 << 20, MemoryKind::kDevice, false, &address), Status::kOutOfMemory);
  ASSERT_TRUE(memory.out_of_memory().has_value());
  EXPECT_EQ(memory.out_of_memory()->requested_bytes, 6U << 20);
  EXPECT_EQ(memory.out_of_memory()->allocated_bytes, 60U << 20);
  EXPECT_EQ(memory.out_of_memory()->capacity_bytes, 64U << 20);
  EXPECT_EQ(memory.out_of_memory_count(), 2U);
  EXPECT_EQ(memory.Allocate(1, 6 << 20, MemoryKind::kDevice, false, &address), Status::kSuccess) << "another card";
  EXPECT_EQ(memory.Free(address), Status::kSuccess);
  EXPECT_EQ(memory.Free(most), Status::kSuccess);
}

TEST(MemoryTest, RefusesForeignAndDoubleFrees) {
  Memory memory(1, kCard);
  char* block = Allocate(memory, 8192);
  int local = 0;
  EXPECT_EQ(memory.Free(&local), Status::kInvalidValue);
  EXPECT_EQ(memory.Free(block + 4096), Status::kInvalidValue);
  EXPECT_EQ(memory.FreeHost(block), Status::kInvalidValue);
  EXPECT_EQ(memory.Free(nullptr), Status::kSuccess);
  EXPECT_EQ(memory.Free(block), Status::kSuccess);
  EXPECT_EQ(memory.Free(block), Status::kInvalidValue);
}

TEST(MemoryTest, RefusesCopiesAcrossTheEndAndAfterFree) {
  Memory memory(1, kCard);
  char* block = Allocate(memory, 1000);
  char host[2000] = {};
  EXPECT_EQ(memory.Copy(block, host, 1000, CopyKind::kHostToDevice), Status::kSuccess);
  EXPECT_EQ(memory.Copy(block, host, 1001, CopyKind::kHostToDevice), Status::kInvalidValue);
  EXPECT_EQ(memory.Copy(block + 999, host, 2, CopyKind::kHostToDevice), Status::kInvalidValue);
  EXPECT_EQ(memory.Fill(block, 0, 1, 1001), Status::kInvalidValue);
  EXPECT_EQ(memory.Fill(host, 0, 1, 10), Status::kInvalidValue);
  EXPECT_EQ(memory.Fill(block + 1, 7, 4, 1), Status::kInvalidValue) << "not aligned";
  EXPECT_EQ(memory.Copy(host, host + 1000, 10, CopyKind::kDeviceToHost), Status::kInvalidValue);
  EXPECT_EQ(memory.Copy(host, host + 1000, 10, CopyKind::kHostToDevice), Status::kInvalidValue);
  EXPECT_EQ(memory.Copy(host, block, 10, CopyKind::kHostToDevice), Status::kInvalidValue);
  EXPECT_EQ(memory.Copy(host, block, 10, CopyKind::kDefault), Status::kSuccess);
  EXPECT_EQ(memory.Free(block), Status::kSuccess);
  EXPECT_EQ(memory.Copy(block, host, 10, CopyKind::kHostToDevice), Status::kInvalidValue);
}

TEST(MemoryTest, HugeBlocksThatNothingWroteCostNoHostMemory) {
  Memory memory(1, kCard);
  constexpr std::size_t kSize = 80ULL << 30;
  const std::size_t before = Resident();
  char* a = Allocate(memory, kSize);
  char* b = Allocate(memory, kSize);
  EXPECT_EQ(memory.Fill(a, 0, 1, kSize), Status::kSuccess);
  EXPECT_EQ(memory.Copy(b, a, kSize, CopyKind::kDeviceToDevice), Status::kSuccess);
  const double scalar = 3.25;
  EXPECT_EQ(memory.Copy(a + kSize / 2, &scalar, sizeof scalar, CopyKind::kHostToDevice), Status::kSuccess);
  EXPECT_EQ(memory.Copy(b, a, kSize, CopyKind::kDeviceToDevice), Status::kSuccess);
  double back = 0;
  EXPECT_EQ(memory.Copy(&back, b + kSize / 2, sizeof back, CopyKind::kDeviceToHost), Status::kSuccess);
  EXPECT_EQ(back, scalar) << "what was written must survive";
  EXPECT_EQ(memory.Copy(a, a, kSize, CopyKind::kDeviceToDevice), Status::kSuccess) << "onto itself";
  EXPECT_EQ(memory.Copy(a, a + 4096, kSize - 4096, CopyKind::kDeviceToDevice), Status::kSuccess) << "overlapping";
  EXPECT_EQ(memory.Copy(&back, a + kSize / 2 - 4096, sizeof back, CopyKind::kDeviceToHost), Status::kSuccess);
  EXPECT_EQ(back, scalar);
  EXPECT_EQ(memory.Fill(b, 0, 1, kSize), Status::kSuccess);
  EXPECT_EQ(memory.Copy(&back, b + kSize / 2, sizeof back, CopyKind::kDeviceToHost), Status::kSuccess);
  EXPECT_EQ(back, 0);
  EXPECT_LT(Resident() - before, 64U << 20);
  EXPECT_EQ(memory.peak(0), 2 * kSize);
  EXPECT_EQ(memory.Free(a), Status::kSuccess);
  EXPECT_EQ(memory.Free(b), Status::kSuccess);
}

// What Inductor does with a large argument that a benchmark would change.
TEST(MemoryTest, ToPinnedMemoryAndBackCostsNoHostMemory) {
  Memory memory(1, kCard);
  constexpr std::size_t kSize = 4ULL << 30;
  char* block = Allocate(memory, kSize);
  void* pinned = nullptr;
  ASSERT_EQ(memory.AllocateHost(kSize, &pinned), Status::kSuccess);
  const double scalar = 3.25;
  EXPECT_EQ(memory.Copy(block + 12345, &scalar, sizeof scalar, CopyKind::kHostToDevice), Status::kSuccess);
  const std::size_t before = Resident();
  EXPECT_EQ(memory.Copy(pinned, block, kSize, CopyKind::kDeviceToHost), Status::kSuccess);
  EXPECT_EQ(std::memcmp(static_cast<char*>(pinned) + 12345, &scalar, sizeof scalar), 0);
  static_cast<char*>(pinned)[kSize / 2] = 7;  // the host writes it without a call
  EXPECT_EQ(memory.Copy(block, pinned, kSize, CopyKind::kHostToDevice), Status::kSuccess);
  EXPECT_LT(Resident() - before, 64U << 20);
  char byte = 0;
  EXPECT_EQ(memory.Copy(&byte, block + kSize / 2, 1, CopyKind::kDeviceToHost), Status::kSuccess);
  EXPECT_EQ(byte, 7);
  double back = 0;
  EXPECT_EQ(memory.Copy(&back, block + 12345, sizeof back, CopyKind::kDeviceToHost), Status::kSuccess);
  EXPECT_EQ(back, scalar);
  EXPECT_EQ(memory.FreeHost(pinned), Status::kSuccess);
  EXPECT_EQ(memory.Free(block), Status::kSuccess);
}

TEST(MemoryTest, LargeFillWithAnotherValueReadsRightAndStaysSmall) {
  Memory memory(1, kCard);
  constexpr std::size_t kSize = (8ULL << 30) + 4096 + 12;
  char* block = Allocate(memory, kSize);
  const std::size_t before = Resident();
  EXPECT_EQ(memory.Fill(block + 4, 0x01020304, 4, (kSize - 4) / 4), Status::kSuccess);
  for (const std::size_t at : {std::size_t{4}, std::size_t{4096}, std::size_t{33 << 20}, kSize / 2 / 4 * 4, kSize - 4}) {
    std::uint32_t value = 0;
    EXPECT_EQ(memory.Copy(&value, block + at, 4, CopyKind::kDeviceToHost), Status::kSuccess);
    EXPECT_EQ(value, 0x01020304U) << at;
  }
  EXPECT_LT(Resident() - before, 256U << 20);
  EXPECT_EQ(memory.Fill(block, 0, 1, kSize), Status::kSuccess);
  std::uint32_t value = 1;
  EXPECT_EQ(memory.Copy(&value, block + (33 << 20), 4, CopyKind::kDeviceToHost), Status::kSuccess);
  EXPECT_EQ(value, 0U);
  EXPECT_EQ(memory.Free(block), Status::kSuccess);
}

TEST(MemoryTest, PinnedAndRegisteredHostMemory) {
  Memory memory(1, kCard);
  void* pinned = nullptr;
  ASSERT_EQ(memory.AllocateHost(5000, &pinned), Status::kSuccess);
  EXPECT_EQ(memory.used(0), 0U);
  EXPECT_EQ(memory.Find(static_cast<char*>(pinned) + 4999)->kind, MemoryKind::kPinnedHost);
  EXPECT_EQ(memory.Find(static_cast<char*>(pinned) + 5000), nullptr);
  std::vector<char> own(10000);
  EXPECT_EQ(memory.RegisterHost(own.data(), own.size()), Status::kSuccess);
  EXPECT_EQ(memory.RegisterHost(own.data() + 5000, 10), Status::kHostMemoryAlreadyRegistered);
  EXPECT_EQ(memory.UnregisterHost(own.data() + 1), Status::kHostMemoryNotRegistered);
  EXPECT_EQ(memory.UnregisterHost(own.data()), Status::kSuccess);
  EXPECT_EQ(memory.UnregisterHost(own.data()), Status::kHostMemoryNotRegistered);
  EXPECT_EQ(memory.Free(pinned), Status::kInvalidValue);
  EXPECT_EQ(memory.FreeHost(pinned), Status::kSuccess);
}

// Random allocations, copies and fills against a shadow copy of every block.
TEST(MemoryTest, AgreesWithAShadow) {
  std::mt19937 random(1327);
  constexpr std::uint64_t kCapacity = 8 << 20;
  Memory memory(1, kCapacity);
  std::vector<std::pair<char*, std::vector<char>>> blocks;
  for (int step = 0; step < 4000; ++step) {
    const unsigned choice = random() % 8;
    if (choice == 0 || blocks.empty()) {
      const std::size_t size = 1 + random() % (random() % 4 == 0 ? 3 << 20 : 20000);
      void* address = nullptr;
      const std::uint64_t used = memory.used(0);
      const Status status = memory.Allocate(0, size, MemoryKind::kDevice, false, &address);
      if (status == Status::kSuccess) {
        blocks.emplace_back(static_cast<char*>(address), std::vector<char>(size));
      } else {
        ASSERT_EQ(status, Status::kOutOfMemory);
        ASSERT_GT(used + size + (2 << 20), kCapacity) << "refused though there was room";
      }
      continue;
    }
    auto& [address, shadow] = blocks[random() % blocks.size()];
    const std::size_t at = random() % shadow.size();
    const std::size_t size = random() % (shadow.size() - at + 1);
    if (choice == 1) {
      ASSERT_EQ(memory.Free(address), Status::kSuccess);
      std::swap(blocks.back(), *std::find_if(blocks.begin(), blocks.end(),
                                             [a = address](const auto& block) { return block.first == a; }));
      blocks.pop_back();
    } else if (choice == 2) {
      std::vector<char> bytes(size);
      for (char& byte : bytes) byte = static_cast<char>(random());
      ASSERT_EQ(memory.Copy(address + at, bytes.data(), size, CopyKind::kHostToDevice), Status::kSuccess);
      std::copy(bytes.begin(), bytes.end(), shadow.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (choice == 3 || choice == 4) {
      const std::uint32_t value = choice == 3 ? 0 : random() % 256;
      ASSERT_EQ(memory.Fill(address + at, value, 1, size), Status::kSuccess);
      std::memset(shadow.data() + at, static_cast<int>(value), size);
    } else if (choice == 5) {
      auto& [from, from_shadow] = blocks[random() % blocks.size()];
      const std::size_t from_at = random() % from_shadow.size();
      const std::size_t part = std::min(size, from_shadow.size() - from_at);
      ASSERT_EQ(memory.Copy(address + at, from + from_at, part, CopyKind::kDeviceToDevice), Status::kSuccess);
      std::memmove(shadow.data() + at, from_shadow.data() + from_at, part);
    } else {
      std::vector<char> bytes(size);
      ASSERT_EQ(memory.Copy(bytes.data(), address + at, size, CopyKind::kDeviceToHost), Status::kSuccess);
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), shadow.begin() + static_cast<std::ptrdiff_t>(at)))
          << "at step " << step;
    }
  }
  for (auto& [address, shadow] : blocks) EXPECT_EQ(memory.Free(address), Status::kSuccess);
  EXPECT_EQ(memory.used(0), 0U);
}

}  // namespace
}  // namespace flce::emulator
