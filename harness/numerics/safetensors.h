#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/numerics/dtype.h"

namespace flce {

/// One tensor of a safetensors file: little-endian, row-major, dense.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  uint64_t begin = 0;  ///< bytes from the start of the file
  uint64_t end = 0;

  uint64_t Elements() const { return (end - begin) / DTypeSize(dtype); }
};

/// "[8, 16]"
std::string ShapeText(const std::vector<int64_t>& shape);

/// A safetensors file open for reading. The header is checked in full when the file is opened; tensor bytes
/// are read on demand, so a file of any size costs the memory of its header. Reads may run on several
/// threads.
class SafetensorsFile {
 public:
  /// kNotFound if absent, kData if the content is no safetensors file: the message says which rule it breaks.
  static Result<SafetensorsFile> Open(const fs::path& path);

  SafetensorsFile(SafetensorsFile&& other) noexcept
      : path_(std::move(other.path_)),
        fd_(std::exchange(other.fd_, -1)),
        tensors_(std::move(other.tensors_)),
        metadata_(std::move(other.metadata_)) {}
  SafetensorsFile& operator=(SafetensorsFile&&) = delete;
  ~SafetensorsFile();

  const fs::path& path() const { return path_; }
  /// In the order of their bytes in the file.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }
  /// nullptr if the file has no such tensor.
  const TensorInfo* Find(std::string_view name) const;
  /// Fills `out` with the tensor's bytes from `offset` (bytes from its begin) on; the range must lie inside
  /// the tensor.
  Status Read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const;

 private:
  SafetensorsFile(fs::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  Status ParseHeader();
  Status ReadAt(uint64_t position, std::span<std::byte> out) const;

  fs::path path_;
  int fd_ = -1;
  std::vector<TensorInfo> tensors_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

/// A tensor to be written; `bytes` holds exactly its elements.
struct TensorBytes {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::string bytes;
};

/// Writes the tensors in the given order, the header padded so that the data begins at a multiple of eight.
/// The file appears whole or not at all.
Status WriteSafetensors(const fs::path& path, const std::vector<TensorBytes>& tensors,
                        const std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace flce
