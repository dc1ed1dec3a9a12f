#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace flce {

namespace fs = std::filesystem;

/// The whole file; kNotFound when absent, kIo otherwise. `limit` bytes at most (kData beyond), so that a hostile file
/// cannot fill memory.
Result<std::string> ReadFile(const fs::path& path, uint64_t limit = uint64_t{1} << 30);
/// The last `limit` bytes (all of a shorter file); "" when absent.
std::string ReadTail(const fs::path& path, uint64_t limit);

/// Writes beside `path`, syncs, renames: readers see the old file or the new one, never a part. A full disk is one clear
/// kIo error and leaves nothing behind.
Status WriteFileAtomically(const fs::path& path, std::string_view content);
/// Appends `line` plus a line end in one write and syncs it, so that it survives a kill. A last line that an earlier
/// kill cut short is ended first.
Status AppendLine(const fs::path& path, std::string_view line);

/// mkdir -p with an error that names what is in the way.
Status MakeDirectories(const fs::path& path);
/// Removes a tree; an absent one is fine.
Status RemoveTree(const fs::path& path);
/// Bytes free to this user on the file system of `path` (its nearest existing parent).
std::optional<uint64_t> FreeBytes(const fs::path& path);

/// A new private folder, removed with its content by the destructor unless kept.
class TempDir {
 public:
  static Result<TempDir> Make(const fs::path& parent, std::string_view prefix);
  TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();
  const fs::path& path() const { return path_; }
  /// From now on the folder belongs to the caller.
  fs::path Release() { return std::exchange(path_, {}); }

 private:
  explicit TempDir(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

/// An exclusive or shared flock(2) on a file, made if absent and held until destroyed. The kernel drops it when the
/// process dies, so a killed run never blocks the next.
class FileLock {
 public:
  enum class Mode { kExclusive, kShared };
  /// Waits. `on_wait` is called once, before waiting, if another process holds it.
  static Result<FileLock> Acquire(const fs::path& path, Mode mode = Mode::kExclusive, void (*on_wait)(const fs::path&) = nullptr);
  /// nullopt if another process holds it.
  static Result<std::optional<FileLock>> TryAcquire(const fs::path& path, Mode mode = Mode::kExclusive);
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace flce
