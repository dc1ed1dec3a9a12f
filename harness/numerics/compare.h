#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/numerics/element_stats.h"
#include "harness/numerics/safetensors.h"

namespace flce {

/// How two tensors of one name stand to each other before their elements are looked at.
enum class Pairing { kComparable, kOnlyInA, kOnlyInB, kDTypesDiffer, kShapesDiffer };

struct TensorDiff {
  std::string name;
  Pairing pairing = Pairing::kComparable;
  DType dtype = DType::kF32;   ///< of the side that has it, `a` if both
  std::vector<int64_t> shape;  ///< likewise
  std::string detail;          ///< for a pair that is not comparable: "BF16 against F32"
  ElementStats stats;

  bool Bitwise() const { return pairing == Pairing::kComparable && stats.mismatches == 0; }
};

/// What two values may differ by and still count as equal; nothing set asks for equal bits.
struct Allowance {
  std::optional<uint64_t> max_ulp;
  std::optional<double> max_abs;

  /// True if every difference in the pair is within each limit that is set. A NaN or an infinity on one side
  /// never is.
  bool Admits(const TensorDiff& comparison) const;
};

struct CompareOptions {
  /// Only tensors whose names begin so, with the beginning taken off: compares two groups of one file.
  std::string prefix_a;
  std::string prefix_b;
  /// Only these names (after the prefixes); all if empty.
  std::vector<std::string> names;
  Allowance allowance;
  unsigned threads = 0;  ///< 0: as many as the machine has, at most four
};

struct FileComparison {
  std::string a;
  std::string b;
  Allowance allowance;
  std::vector<TensorDiff> tensors;  ///< in the order of `a`, then what only `b` has

  /// Every tensor is on both sides and bitwise equal or within the allowance.
  bool Holds() const;
};

/// Compares two tensors of equal dtype and shape. Memory is bounded by a few mebibytes a thread, whatever
/// their size.
Result<ElementStats> CompareTensors(const SafetensorsFile& a, const TensorInfo& in_a,
                                    const SafetensorsFile& b, const TensorInfo& in_b, unsigned threads);

/// Compares every tensor of the two files. kUsage if a requested name is in neither or nothing is left to
/// compare.
Result<FileComparison> CompareFiles(const fs::path& a, const fs::path& b, const CompareOptions& options);

/// Row-major index -> one index per dimension; a scalar has none.
std::vector<int64_t> Coordinates(uint64_t index, const std::vector<int64_t>& shape);

nlohmann::ordered_json ToJson(const TensorDiff& comparison);
nlohmann::ordered_json ToJson(const FileComparison& comparison);
/// A few lines for a person: a line per tensor, and where it first differs.
std::string ToText(const FileComparison& comparison);

}  // namespace flce
