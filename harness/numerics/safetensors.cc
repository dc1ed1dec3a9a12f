// Implementation details: the format is eight bytes of header length (little-endian), a JSON object that maps
// names to {dtype, shape, data_offsets} with offsets counted from the header's end, then the data without
// gaps or overlaps.
#include "harness/numerics/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

namespace flce {
namespace {

using Json = nlohmann::ordered_json;

// The reference implementation's own limit: a header beyond it is an attack or a different format.
constexpr uint64_t kHeaderLimit = 100'000'000;

Error Malformed(const fs::path& path, const std::string& what) {
  return Error{ErrorKind::kData, path.string() + " is not a readable safetensors file: " + what};
}

Error SystemError(const fs::path& path, const char* action) {
  const int code = errno;
  return Error{code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo,
               std::string("cannot ") + action + " " + path.string() + ": " + std::strerror(code)};
}

// The elements of a shape, or nothing if the product does not fit.
std::optional<uint64_t> ElementsOf(const std::vector<int64_t>& shape) {
  uint64_t elements = 1;
  for (int64_t extent : shape) {
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(extent), &elements)) return std::nullopt;
  }
  return elements;
}

// A JSON parser keeps the last of two equal keys; here two tensors of one name are an error.
Result<Json> ParseUniquely(const fs::path& path, const std::string& text) {
  std::set<std::string> seen;
  std::string duplicate;
  const auto callback = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) {
      const std::string name = parsed.get<std::string>();
      if (!seen.insert(name).second) duplicate = name;
    }
    return true;
  };
  Json header = Json::parse(text, callback, /*allow_exceptions=*/false);
  if (header.is_discarded() || !header.is_object()) return Malformed(path, "its header is not a JSON object");
  if (!duplicate.empty()) return Malformed(path, "its header names the tensor '" + duplicate + "' twice");
  return header;
}

bool ReadUnsigned(const Json& value, uint64_t* out) {
  if (!value.is_number_unsigned()) return false;
  *out = value.get<uint64_t>();
  return true;
}

Result<TensorInfo> ParseTensor(const fs::path& path, const std::string& name, const Json& entry,
                               uint64_t data_begin, uint64_t data_size) {
  const std::string where = "tensor '" + name + "' ";
  if (!entry.is_object()) return Malformed(path, where + "is not described by an object");
  TensorInfo tensor;
  tensor.name = name;

  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) return Malformed(path, where + "has no dtype");
  const std::optional<DType> parsed = ParseDType(dtype->get<std::string>());
  if (!parsed) return Malformed(path, where + "has the unknown dtype '" + dtype->get<std::string>() + "'");
  tensor.dtype = *parsed;

  const auto shape = entry.find("shape");
  if (shape == entry.end() || !shape->is_array()) return Malformed(path, where + "has no shape");
  for (const Json& extent : *shape) {
    uint64_t value = 0;
    if (!ReadUnsigned(extent, &value) || value > static_cast<uint64_t>(INT64_MAX)) {
      return Malformed(path, where + "has a shape that is not a list of sizes");
    }
    tensor.shape.push_back(static_cast<int64_t>(value));
  }

  const auto offsets = entry.find("data_offsets");
  uint64_t begin = 0;
  uint64_t end = 0;
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
      !ReadUnsigned((*offsets)[0], &begin) || !ReadUnsigned((*offsets)[1], &end) || begin > end) {
    return Malformed(path, where + "has no valid data_offsets");
  }
  if (end > data_size) {
    return Malformed(path, where + "ends at byte " + std::to_string(end) + " of the data, which has " +
                               std::to_string(data_size) + ": the file is cut short");
  }
  const std::optional<uint64_t> elements = ElementsOf(tensor.shape);
  uint64_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, DTypeSize(tensor.dtype), &bytes) ||
      bytes != end - begin) {
    return Malformed(path, where + "of shape " + ShapeText(tensor.shape) + " and dtype " +
                               std::string(DTypeName(tensor.dtype)) + " does not fill its " +
                               std::to_string(end - begin) + " bytes");
  }
  tensor.begin = data_begin + begin;
  tensor.end = data_begin + end;
  return tensor;
}

}  // namespace

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

Result<SafetensorsFile> SafetensorsFile::Open(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError(path, "open");
  SafetensorsFile file(path, fd);
  FLCE_TRY_DO(file.ParseHeader());
  return file;
}

SafetensorsFile::~SafetensorsFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status SafetensorsFile::ParseHeader() {
  struct stat info = {};
  if (::fstat(fd_, &info) != 0) return SystemError(path_, "inspect");
  if (!S_ISREG(info.st_mode)) return Malformed(path_, "it is not a regular file");
  const uint64_t file_size = static_cast<uint64_t>(info.st_size);
  if (file_size < 8) return Malformed(path_, "it has " + std::to_string(file_size) + " bytes");

  uint8_t raw[8];
  FLCE_TRY_DO(ReadAt(0, std::as_writable_bytes(std::span(raw))));
  uint64_t header_size = 0;
  for (int i = 7; i >= 0; --i) header_size = header_size << 8 | raw[i];
  if (header_size > kHeaderLimit || header_size > file_size - 8) {
    return Malformed(path_, "its first eight bytes announce a header of " + std::to_string(header_size) +
                                " bytes in a file of " + std::to_string(file_size));
  }
  std::string text(header_size, '\0');
  FLCE_TRY_DO(ReadAt(8, std::as_writable_bytes(std::span(text))));
  FLCE_TRY(const Json header, ParseUniquely(path_, text));

  const uint64_t data_begin = 8 + header_size;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      FLCE_TRY(TensorInfo tensor, ParseTensor(path_, name, entry, data_begin, file_size - data_begin));
      tensors_.push_back(std::move(tensor));
      continue;
    }
    if (!entry.is_object()) return Malformed(path_, "its __metadata__ is not an object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) return Malformed(path_, "its metadata '" + key + "' is not a string");
      metadata_.emplace_back(key, value.get<std::string>());
    }
  }
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  uint64_t position = data_begin;
  for (const TensorInfo& tensor : tensors_) {
    if (tensor.begin != position) {
      return Malformed(path_, "tensor '" + tensor.name + "' does not begin where the one before it ends");
    }
    position = tensor.end;
  }
  if (position != file_size) {
    return Malformed(path_, std::to_string(file_size - position) + " bytes at its end belong to no tensor");
  }
  return Done{};
}

const TensorInfo* SafetensorsFile::Find(std::string_view name) const {
  for (const TensorInfo& tensor : tensors_) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

Status SafetensorsFile::Read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const {
  if (offset > tensor.end - tensor.begin || out.size() > tensor.end - tensor.begin - offset) {
    return Error{ErrorKind::kInternal, "a read beyond the end of tensor '" + tensor.name + "'"};
  }
  return ReadAt(tensor.begin + offset, out);
}

Status SafetensorsFile::ReadAt(uint64_t position, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(position));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(path_, "read");
    if (got == 0) return Error{ErrorKind::kIo, path_.string() + " was cut short while it was read"};
    position += static_cast<uint64_t>(got);
    out = out.subspan(static_cast<size_t>(got));
  }
  return Done{};
}

Status WriteSafetensors(const fs::path& path, const std::vector<TensorBytes>& tensors,
                        const std::vector<std::pair<std::string, std::string>>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) {
    Json values = Json::object();
    for (const auto& [key, value] : metadata) values[key] = value;
    header["__metadata__"] = std::move(values);
  }
  uint64_t position = 0;
  for (const TensorBytes& tensor : tensors) {
    const std::optional<uint64_t> elements = ElementsOf(tensor.shape);
    if (!elements || *elements * DTypeSize(tensor.dtype) != tensor.bytes.size()) {
      return Error{ErrorKind::kInternal, "tensor '" + tensor.name + "' of shape " + ShapeText(tensor.shape) +
                                             " was given " + std::to_string(tensor.bytes.size()) + " bytes"};
    }
    header[tensor.name] = {{"dtype", DTypeName(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {position, position + tensor.bytes.size()}}};
    position += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string content;
  content.reserve(8 + text.size() + position);
  for (int i = 0; i < 8; ++i) content.push_back(static_cast<char>(text.size() >> (8 * i) & 0xff));
  content += text;
  for (const TensorBytes& tensor : tensors) content += tensor.bytes;
  return WriteFileAtomically(path, content);
}

}  // namespace flce
