#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/numerics/dtype.h"

namespace flce {

/// One element that differs.
struct ElementDifference {
  uint64_t index = 0;  ///< in row-major order
  double a = 0;
  double b = 0;
  uint64_t ulps = 0;  ///< 0 where a NaN or an infinity is involved, and for types without ULPs
};

/// What was seen over a range of element pairs. Figures of ranges merge into the figures of their union, in
/// any order.
struct ElementStats {
  static constexpr size_t kFirstKept = 8;

  uint64_t elements = 0;
  uint64_t mismatches = 0;               ///< elements whose bits differ
  std::vector<ElementDifference> first;  ///< the first of them, at most kFirstKept, by index

  double max_abs = 0;  ///< over pairs of finite values; for eight-bit floats always 0
  uint64_t max_abs_index = 0;
  uint64_t max_ulp = 0;  ///< over pairs of finite values
  uint64_t max_ulp_index = 0;

  uint64_t nan_a = 0, nan_b = 0;
  uint64_t nan_mismatches = 0;  ///< NaN on one side only
  uint64_t inf_a = 0, inf_b = 0;
  uint64_t inf_mismatches = 0;  ///< an infinity that meets something else that is no NaN
  uint64_t signed_zeros = 0;    ///< -0 against +0

  /// Pairs of finite values by their distance: [0] equal values, [k] at least 2^(k-1) and less than 2^k ULPs.
  std::array<uint64_t, 65> histogram = {};

  void Merge(const ElementStats& other);
};

/// Adds `a` against `b` (equally long, whole elements of `dtype`) to `stats`; the first element has the index
/// `base`. Ranges must be added in ascending order.
void AddRange(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b, uint64_t base,
              ElementStats* stats);

}  // namespace flce
