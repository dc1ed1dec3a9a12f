// Implementation details: a block is compared with memcmp first, since most blocks of most pairs are equal;
// only a block that differs is read element by element.
#include "harness/numerics/element_stats.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "harness/numerics/ulp.h"

namespace flce {
namespace {

constexpr size_t kBlockBytes = 64 * 1024;

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

void Keep(uint64_t index, double a, double b, uint64_t ulps, ElementStats* stats) {
  if (stats->first.size() < ElementStats::kFirstKept) stats->first.push_back({index, a, b, ulps});
}

void NoteAbsolute(double distance, uint64_t index, ElementStats* stats) {
  if (distance > stats->max_abs) {
    stats->max_abs = distance;
    stats->max_abs_index = index;
  }
}

template <typename Format>
struct FloatElements {
  using Bits = typename Format::Bits;

  // Counts of a block that is equal on both sides: branch-free, so that the compiler vectorises it.
  static void AddEqual(const std::byte* a, size_t count, ElementStats* stats) {
    uint64_t nans = 0;
    uint64_t infinities = 0;
    for (size_t i = 0; i < count; ++i) {
      const Bits magnitude = Format::Magnitude(Load<Bits>(a + i * sizeof(Bits)));
      nans += magnitude > Format::kInfinity;
      infinities += magnitude == Format::kInfinity;
    }
    stats->nan_a += nans;
    stats->nan_b += nans;
    stats->inf_a += infinities;
    stats->inf_b += infinities;
    stats->histogram[0] += count - nans - infinities;
  }

  static void AddSpecial(Bits a, Bits b, uint64_t index, ElementStats* stats) {
    const bool nan_a = Format::IsNan(a), nan_b = Format::IsNan(b);
    const bool inf_a = Format::IsInfinite(a), inf_b = Format::IsInfinite(b);
    stats->nan_a += nan_a;
    stats->nan_b += nan_b;
    stats->inf_a += inf_a;
    stats->inf_b += inf_b;
    if (nan_a != nan_b) {
      ++stats->nan_mismatches;
    } else if (!nan_a && a != b) {
      ++stats->inf_mismatches;
    }
    if (a != b) {
      ++stats->mismatches;
      Keep(index, ToDouble<Format>(a), ToDouble<Format>(b), 0, stats);
    }
  }

  // The figures of the loop are locals: bytes may alias anything, so through `stats` each would be read and
  // written for every element. Two banks of buckets, because most neighbours fall into one bucket and would
  // wait for each other.
  static void AddDiffering(const std::byte* a, const std::byte* b, size_t count, uint64_t base,
                           ElementStats* stats) {
    uint32_t buckets[2][65] = {};
    uint64_t mismatches = 0, signed_zeros = 0, max_ulp = stats->max_ulp, max_ulp_at = count,
             max_abs_at = count;
    double max_abs = stats->max_abs;
    size_t to_keep = ElementStats::kFirstKept - std::min(ElementStats::kFirstKept, stats->first.size());
    for (size_t i = 0; i < count; ++i) {
      const Bits left = Load<Bits>(a + i * sizeof(Bits));
      const Bits right = Load<Bits>(b + i * sizeof(Bits));
      if (!Format::IsFinite(left) || !Format::IsFinite(right)) {
        AddSpecial(left, right, base + i, stats);
        to_keep = ElementStats::kFirstKept - stats->first.size();
        continue;
      }
      const uint64_t ulps = UlpDistance<Format>(left, right);
      ++buckets[i & 1][static_cast<size_t>(std::bit_width(ulps))];
      mismatches += left != right;
      signed_zeros += left != right && ulps == 0;
      const double distance = std::fabs(ToDouble<Format>(left) - ToDouble<Format>(right));
      if (distance > max_abs) {
        max_abs = distance;
        max_abs_at = i;
      }
      if (ulps > max_ulp) {
        max_ulp = ulps;
        max_ulp_at = i;
      }
      if (left != right && to_keep != 0) {
        Keep(base + i, ToDouble<Format>(left), ToDouble<Format>(right), ulps, stats);
        --to_keep;
      }
    }
    stats->mismatches += mismatches;
    stats->signed_zeros += signed_zeros;
    if (max_abs_at != count) NoteAbsolute(max_abs, base + max_abs_at, stats);
    if (max_ulp_at != count) {
      stats->max_ulp = max_ulp;
      stats->max_ulp_index = base + max_ulp_at;
    }
    for (size_t i = 0; i < stats->histogram.size(); ++i)
      stats->histogram[i] += uint64_t{buckets[0][i]} + buckets[1][i];
  }
};

template <typename T>
struct IntegerElements {
  using Bits = T;

  static void AddEqual(const std::byte*, size_t count, ElementStats* stats) { stats->histogram[0] += count; }

  static void AddDiffering(const std::byte* a, const std::byte* b, size_t count, uint64_t base,
                           ElementStats* stats) {
    for (size_t i = 0; i < count; ++i) {
      const T left = Load<T>(a + i * sizeof(T));
      const T right = Load<T>(b + i * sizeof(T));
      if (left == right) {
        ++stats->histogram[0];
        continue;
      }
      // The distance of two integers of one type fits the unsigned type, whatever their signs.
      using Unsigned = std::make_unsigned_t<T>;
      const uint64_t distance =
          left > right ? static_cast<Unsigned>(static_cast<Unsigned>(left) - static_cast<Unsigned>(right))
                       : static_cast<Unsigned>(static_cast<Unsigned>(right) - static_cast<Unsigned>(left));
      ++stats->histogram[static_cast<size_t>(std::bit_width(distance))];
      ++stats->mismatches;
      NoteAbsolute(static_cast<double>(distance), base + i, stats);
      Keep(base + i, static_cast<double>(left), static_cast<double>(right), 0, stats);
    }
  }
};

// Eight-bit floats and booleans: only equality of the bits means something here.
struct OpaqueElements {
  using Bits = uint8_t;

  static void AddEqual(const std::byte*, size_t count, ElementStats* stats) { stats->histogram[0] += count; }

  static void AddDiffering(const std::byte* a, const std::byte* b, size_t count, uint64_t base,
                           ElementStats* stats) {
    for (size_t i = 0; i < count; ++i) {
      if (a[i] == b[i]) {
        ++stats->histogram[0];
        continue;
      }
      ++stats->mismatches;
      Keep(base + i, std::to_integer<int>(a[i]), std::to_integer<int>(b[i]), 0, stats);
    }
  }
};

template <typename Elements>
void AddBlocks(std::span<const std::byte> a, std::span<const std::byte> b, uint64_t base,
               ElementStats* stats) {
  constexpr size_t kSize = sizeof(typename Elements::Bits);
  static_assert(kBlockBytes % kSize == 0);
  for (size_t at = 0; at < a.size(); at += kBlockBytes) {
    const size_t bytes = std::min(kBlockBytes, a.size() - at);
    const size_t count = bytes / kSize;
    if (std::memcmp(a.data() + at, b.data() + at, bytes) == 0) {
      Elements::AddEqual(a.data() + at, count, stats);
    } else {
      Elements::AddDiffering(a.data() + at, b.data() + at, count, base + at / kSize, stats);
    }
    stats->elements += count;
  }
}

}  // namespace

void ElementStats::Merge(const ElementStats& other) {
  elements += other.elements;
  mismatches += other.mismatches;
  // On equal figures the lower index wins, so that the result does not depend on how the range was cut.
  if (other.max_abs > max_abs ||
      (other.max_abs == max_abs && max_abs > 0 && other.max_abs_index < max_abs_index)) {
    max_abs = other.max_abs;
    max_abs_index = other.max_abs_index;
  }
  if (other.max_ulp > max_ulp ||
      (other.max_ulp == max_ulp && max_ulp > 0 && other.max_ulp_index < max_ulp_index)) {
    max_ulp = other.max_ulp;
    max_ulp_index = other.max_ulp_index;
  }
  nan_a += other.nan_a;
  nan_b += other.nan_b;
  nan_mismatches += other.nan_mismatches;
  inf_a += other.inf_a;
  inf_b += other.inf_b;
  inf_mismatches += other.inf_mismatches;
  signed_zeros += other.signed_zeros;
  for (size_t i = 0; i < histogram.size(); ++i) histogram[i] += other.histogram[i];

  first.insert(first.end(), other.first.begin(), other.first.end());
  std::sort(first.begin(), first.end(),
            [](const ElementDifference& x, const ElementDifference& y) { return x.index < y.index; });
  if (first.size() > kFirstKept) first.resize(kFirstKept);
}

void AddRange(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b, uint64_t base,
              ElementStats* stats) {
  switch (dtype) {
    case DType::kBool:
    case DType::kF8E4M3:
    case DType::kF8E5M2:
      return AddBlocks<OpaqueElements>(a, b, base, stats);
    case DType::kU8:
      return AddBlocks<IntegerElements<uint8_t>>(a, b, base, stats);
    case DType::kI8:
      return AddBlocks<IntegerElements<int8_t>>(a, b, base, stats);
    case DType::kU16:
      return AddBlocks<IntegerElements<uint16_t>>(a, b, base, stats);
    case DType::kI16:
      return AddBlocks<IntegerElements<int16_t>>(a, b, base, stats);
    case DType::kU32:
      return AddBlocks<IntegerElements<uint32_t>>(a, b, base, stats);
    case DType::kI32:
      return AddBlocks<IntegerElements<int32_t>>(a, b, base, stats);
    case DType::kU64:
      return AddBlocks<IntegerElements<uint64_t>>(a, b, base, stats);
    case DType::kI64:
      return AddBlocks<IntegerElements<int64_t>>(a, b, base, stats);
    case DType::kF16:
      return AddBlocks<FloatElements<HalfFormat>>(a, b, base, stats);
    case DType::kBF16:
      return AddBlocks<FloatElements<BFloat16Format>>(a, b, base, stats);
    case DType::kF32:
      return AddBlocks<FloatElements<SingleFormat>>(a, b, base, stats);
    case DType::kF64:
      return AddBlocks<FloatElements<DoubleFormat>>(a, b, base, stats);
  }
}

}  // namespace flce
