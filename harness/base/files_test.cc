#include "harness/base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace flce {
namespace {

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TempDir> made = TempDir::Make(testing::TempDir(), "files");
    ASSERT_TRUE(made.ok());
    dir_ = made->Release();
  }
  void TearDown() override { fs::remove_all(dir_); }
  fs::path dir_;
};

TEST_F(FilesTest, AtomicWriteReplacesAndLeavesNothingBeside) {
  const fs::path path = dir_ / "report.json";
  ASSERT_TRUE(WriteFileAtomically(path, "one").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "two").ok());
  EXPECT_EQ(*ReadFile(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), fs::directory_iterator()), 1);
}

TEST_F(FilesTest, AWriteThatFailsNamesThePath) {
  const Status written = WriteFileAtomically("/dev/full/x", "content");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("/dev/full/x"), std::string::npos);
  EXPECT_NE(written.error().message.find("Not a directory"), std::string::npos);
}

TEST_F(FilesTest, AppendLineEndsATornLineFirst) {
  const fs::path path = dir_ / "journal";
  std::ofstream(path) << "{\"torn\"";
  ASSERT_TRUE(AppendLine(path, "{}").ok());
  EXPECT_EQ(*ReadFile(path), "{\"torn\"\n{}\n");
  EXPECT_FALSE(AppendLine("/dev/full", "x").ok());
}

TEST_F(FilesTest, ReadFileSaysWhatIsWrong) {
  EXPECT_EQ(ReadFile(dir_ / "absent").error().kind, ErrorKind::kNotFound);
  std::ofstream(dir_ / "big") << std::string(100, 'x');
  EXPECT_EQ(ReadFile(dir_ / "big", 10).error().kind, ErrorKind::kData);
  EXPECT_EQ(ReadTail(dir_ / "big", 10), std::string(10, 'x'));
  EXPECT_EQ(ReadTail(dir_ / "absent", 10), "");
}

TEST_F(FilesTest, LockIsExclusiveUntilDropped) {
  const fs::path path = dir_ / "lock";
  {
    Result<FileLock> held = FileLock::Acquire(path);
    ASSERT_TRUE(held.ok());
    Result<std::optional<FileLock>> second = FileLock::TryAcquire(path);
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(second->has_value());
  }
  Result<std::optional<FileLock>> third = FileLock::TryAcquire(path);
  ASSERT_TRUE(third.ok());
  EXPECT_TRUE(third->has_value());
}

TEST_F(FilesTest, SharedLocksStandTogether) {
  Result<FileLock> one = FileLock::Acquire(dir_ / "lock", FileLock::Mode::kShared);
  Result<std::optional<FileLock>> two = FileLock::TryAcquire(dir_ / "lock", FileLock::Mode::kShared);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_TRUE(two->has_value());
}

TEST_F(FilesTest, TempDirRemovesItselfUnlessReleased) {
  fs::path gone, kept;
  {
    Result<TempDir> first = TempDir::Make(dir_, "a");
    Result<TempDir> second = TempDir::Make(dir_, "b");
    ASSERT_TRUE(first.ok() && second.ok());
    gone = first->path();
    kept = second->Release();
  }
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_TRUE(fs::exists(kept));
}

TEST_F(FilesTest, FreeBytesWorksForAPathThatDoesNotExistYet) { EXPECT_TRUE(FreeBytes(dir_ / "x" / "y").has_value()); }

}  // namespace
}  // namespace flce
