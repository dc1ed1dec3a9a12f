// Implementation details: the pair is cut into pieces that the threads take in turn. Each thread owns two
// buffers and the figures of its pieces, and figures merge in any order, so nothing but the next piece's
// number is shared.
#include "harness/numerics/compare.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "harness/base/text.h"

namespace flce {
namespace {

constexpr uint64_t kPieceBytes = 2 * 1024 * 1024;
constexpr unsigned kMostThreads = 4;

unsigned ThreadsFor(unsigned requested, uint64_t pieces) {
  const unsigned available =
      requested != 0 ? requested : std::max(1u, std::min(kMostThreads, std::thread::hardware_concurrency()));
  return static_cast<unsigned>(std::min<uint64_t>(available, std::max<uint64_t>(pieces, 1)));
}

// The tensors of a file whose names begin with `prefix`, by the rest of the name.
std::vector<std::pair<std::string, const TensorInfo*>> Select(const SafetensorsFile& file,
                                                              const std::string& prefix) {
  std::vector<std::pair<std::string, const TensorInfo*>> selected;
  for (const TensorInfo& tensor : file.tensors()) {
    if (tensor.name.starts_with(prefix)) selected.emplace_back(tensor.name.substr(prefix.size()), &tensor);
  }
  return selected;
}

const TensorInfo* FindIn(const std::vector<std::pair<std::string, const TensorInfo*>>& selected,
                         const std::string& name) {
  for (const auto& [known, tensor] : selected) {
    if (known == name) return tensor;
  }
  return nullptr;
}

TensorDiff Pair(const std::string& name, const TensorInfo* a, const TensorInfo* b) {
  TensorDiff comparison;
  comparison.name = name;
  comparison.dtype = a != nullptr ? a->dtype : b->dtype;
  comparison.shape = a != nullptr ? a->shape : b->shape;
  if (a == nullptr || b == nullptr) {
    comparison.pairing = a == nullptr ? Pairing::kOnlyInB : Pairing::kOnlyInA;
    comparison.detail = a == nullptr ? "only in the second file" : "only in the first file";
  } else if (a->dtype != b->dtype) {
    comparison.pairing = Pairing::kDTypesDiffer;
    comparison.detail = std::string(DTypeName(a->dtype)) + " against " + std::string(DTypeName(b->dtype));
  } else if (a->shape != b->shape) {
    comparison.pairing = Pairing::kShapesDiffer;
    comparison.detail = ShapeText(a->shape) + " against " + ShapeText(b->shape);
  }
  return comparison;
}

}  // namespace

bool Allowance::Admits(const TensorDiff& comparison) const {
  if (comparison.Bitwise()) return true;
  if (comparison.pairing != Pairing::kComparable || (!max_ulp && !max_abs)) return false;
  const ElementStats& stats = comparison.stats;
  if (stats.nan_mismatches != 0 || stats.inf_mismatches != 0) return false;
  // Where distances are not measured (eight-bit floats), only equal bits are within a limit.
  if (stats.max_abs == 0 && stats.max_ulp == 0 && !HasUlps(comparison.dtype)) return false;
  return (!max_ulp || (HasUlps(comparison.dtype) && stats.max_ulp <= *max_ulp)) &&
         (!max_abs || stats.max_abs <= *max_abs);
}

bool FileComparison::Holds() const {
  return std::all_of(tensors.begin(), tensors.end(),
                     [this](const TensorDiff& tensor) { return allowance.Admits(tensor); });
}

Result<ElementStats> CompareTensors(const SafetensorsFile& a, const TensorInfo& in_a,
                                    const SafetensorsFile& b, const TensorInfo& in_b, unsigned threads) {
  if (in_a.dtype != in_b.dtype || in_a.shape != in_b.shape) {
    return Error{ErrorKind::kInternal,
                 "tensors of different types or shapes were compared: " + in_a.name + ", " + in_b.name};
  }
  const uint64_t bytes = in_a.end - in_a.begin;
  const uint64_t pieces = (bytes + kPieceBytes - 1) / kPieceBytes;
  const uint64_t element_size = DTypeSize(in_a.dtype);

  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  ElementStats total;
  std::optional<Error> failure;
  const auto work = [&] {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(2 * kPieceBytes);
    ElementStats mine;
    Status status = Done{};
    for (uint64_t piece = next++; piece < pieces && status.ok(); piece = next++) {
      const uint64_t at = piece * kPieceBytes;
      const size_t size = static_cast<size_t>(std::min(kPieceBytes, bytes - at));
      const std::span<std::byte> left(buffer.get(), size);
      const std::span<std::byte> right(buffer.get() + kPieceBytes, size);
      status = a.Read(in_a, at, left);
      if (status.ok()) status = b.Read(in_b, at, right);
      if (status.ok()) AddRange(in_a.dtype, left, right, at / element_size, &mine);
    }
    const std::lock_guard lock(mutex);
    total.Merge(mine);
    if (!status.ok()) failure = status.error();
  };

  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < ThreadsFor(threads, pieces); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) return *failure;
  return total;
}

Result<FileComparison> CompareFiles(const fs::path& a, const fs::path& b, const CompareOptions& options) {
  FLCE_TRY(const SafetensorsFile file_a, SafetensorsFile::Open(a));
  FLCE_TRY(const SafetensorsFile file_b, SafetensorsFile::Open(b));
  const auto in_a = Select(file_a, options.prefix_a);
  const auto in_b = Select(file_b, options.prefix_b);

  std::vector<std::string> names;
  for (const auto& [name, tensor] : in_a) names.push_back(name);
  for (const auto& [name, tensor] : in_b) {
    if (FindIn(in_a, name) == nullptr) names.push_back(name);
  }
  for (const std::string& wanted : options.names) {
    if (std::find(names.begin(), names.end(), wanted) == names.end()) {
      return Error{ErrorKind::kUsage, UnknownName("tensor", wanted, names)};
    }
  }
  if (!options.names.empty()) names = options.names;
  if (names.empty())
    return Error{ErrorKind::kUsage, "nothing to compare: no tensor's name begins with the given prefixes"};

  FileComparison comparison{a.string(), b.string(), options.allowance, {}};
  for (const std::string& name : names) {
    const TensorInfo* left = FindIn(in_a, name);
    const TensorInfo* right = FindIn(in_b, name);
    TensorDiff tensor = Pair(name, left, right);
    if (tensor.pairing == Pairing::kComparable) {
      FLCE_TRY(tensor.stats, CompareTensors(file_a, *left, file_b, *right, options.threads));
    }
    comparison.tensors.push_back(std::move(tensor));
  }
  return comparison;
}

std::vector<int64_t> Coordinates(uint64_t index, const std::vector<int64_t>& shape) {
  std::vector<int64_t> coordinates(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    const auto extent = static_cast<uint64_t>(shape[i]);
    if (extent == 0) continue;
    coordinates[i] = static_cast<int64_t>(index % extent);
    index /= extent;
  }
  return coordinates;
}

}  // namespace flce
