#include "harness/base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace flce {
namespace {

Error IoError(const char* what, const fs::path& path, int code) {
  const ErrorKind kind = code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo;
  return {kind, std::string("cannot ") + what + " " + path.string() + ": " + std::strerror(code)};
}

/// A descriptor closed on scope exit.
struct Fd {
  int value;
  explicit Fd(int fd) : value(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (value >= 0) ::close(value);
  }
};

/// 0, or the errno of the write that failed.
int WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

Result<int> OpenLocked(const fs::path& path, FileLock::Mode mode, bool wait, void (*on_wait)(const fs::path&)) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return IoError("open lock", path, errno);
  const int operation = mode == FileLock::Mode::kExclusive ? LOCK_EX : LOCK_SH;
  if (::flock(fd, operation | LOCK_NB) == 0) return fd;
  if (errno == EWOULDBLOCK && wait) {
    if (on_wait != nullptr) on_wait(path);
    int outcome;
    while ((outcome = ::flock(fd, operation)) != 0 && errno == EINTR) {
    }
    if (outcome == 0) return fd;
  }
  const int code = errno;
  ::close(fd);
  if (code == EWOULDBLOCK) return -1;
  return IoError("lock", path, code);
}

}  // namespace

Result<std::string> ReadFile(const fs::path& path, uint64_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.value < 0) return IoError("read", path, errno);
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(fd.value, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoError("read", path, errno);
    if (got == 0) return content;
    content.append(buffer, static_cast<size_t>(got));
    if (content.size() > limit) return Error{ErrorKind::kData, path.string() + ": larger than " + std::to_string(limit) + " bytes"};
  }
}

std::string ReadTail(const fs::path& path, uint64_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.value < 0) return "";
  const off_t size = ::lseek(fd.value, 0, SEEK_END);
  if (size <= 0) return "";
  const off_t start = static_cast<uint64_t>(size) > limit ? size - static_cast<off_t>(limit) : 0;
  std::string content(static_cast<size_t>(size - start), '\0');
  const ssize_t got = ::pread(fd.value, content.data(), content.size(), start);
  content.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return content;
}

Status WriteFileAtomically(const fs::path& path, std::string_view content) {
  std::string pattern = path.string() + ".tmpXXXXXX";
  const Fd fd(::mkostemp(pattern.data(), O_CLOEXEC));
  if (fd.value < 0) return IoError("write", path, errno);
  int code = WriteAll(fd.value, content);
  // mkostemp gives 0600; a report is for everyone the umask lets read it.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (code == 0 && ::fchmod(fd.value, 0666 & ~mask) != 0) code = errno;
  if (code == 0 && ::fsync(fd.value) != 0) code = errno;
  if (code == 0 && ::rename(pattern.c_str(), path.c_str()) != 0) code = errno;
  if (code != 0) {
    ::unlink(pattern.c_str());
    return IoError("write", path, code);
  }
  return Done{};
}

Status AppendLine(const fs::path& path, std::string_view line) {
  const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (fd.value < 0) return IoError("append to", path, errno);
  std::string text;
  char last = '\n';
  const off_t size = ::lseek(fd.value, 0, SEEK_END);
  if (size > 0 && ::pread(fd.value, &last, 1, size - 1) == 1 && last != '\n') text = "\n";
  text.append(line).push_back('\n');
  if (const int code = WriteAll(fd.value, text); code != 0) return IoError("append to", path, code);
  if (::fdatasync(fd.value) != 0) return IoError("sync", path, errno);
  return Done{};
}

Status MakeDirectories(const fs::path& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) return Error{ErrorKind::kIo, "cannot create folder " + path.string() + ": " + code.message()};
  return Done{};
}

Status RemoveTree(const fs::path& path) {
  std::error_code code;
  fs::remove_all(path, code);
  if (code) return Error{ErrorKind::kIo, "cannot remove " + path.string() + ": " + code.message()};
  return Done{};
}

std::optional<uint64_t> FreeBytes(const fs::path& path) {
  fs::path existing = fs::absolute(path);
  std::error_code code;
  while (!fs::exists(existing, code) && existing.has_relative_path()) existing = existing.parent_path();
  struct statvfs info {};
  if (::statvfs(existing.c_str(), &info) != 0) return std::nullopt;
  return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
}

Result<TempDir> TempDir::Make(const fs::path& parent, std::string_view prefix) {
  std::string pattern = (parent / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) return IoError("create a temporary folder in", parent, errno);
  return TempDir(fs::path(pattern));
}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<FileLock> FileLock::Acquire(const fs::path& path, Mode mode, void (*on_wait)(const fs::path&)) {
  FLCE_TRY(const int fd, OpenLocked(path, mode, true, on_wait));
  return FileLock(fd);
}

Result<std::optional<FileLock>> FileLock::TryAcquire(const fs::path& path, Mode mode) {
  FLCE_TRY(const int fd, OpenLocked(path, mode, false, nullptr));
  if (fd < 0) return std::optional<FileLock>();
  return std::optional<FileLock>(FileLock(fd));
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace flce
