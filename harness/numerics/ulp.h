#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace flce {

/// An IEEE-like binary format by its bits: sign, exponent, fraction. Values are read from the bits, so that
/// no format depends on compiler support.
template <typename BitsT, int kFractionBits, int kExponentBits>
struct FloatFormat {
  using Bits = BitsT;
  static constexpr int kFraction = kFractionBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr Bits kSignMask = static_cast<Bits>(Bits{1} << (kFractionBits + kExponentBits));
  static constexpr Bits kMagnitudeMask = static_cast<Bits>(kSignMask - 1);
  /// Infinity; larger magnitudes are NaN.
  static constexpr Bits kInfinity = static_cast<Bits>(((Bits{1} << kExponentBits) - 1) << kFractionBits);

  static constexpr Bits Magnitude(Bits bits) { return static_cast<Bits>(bits & kMagnitudeMask); }
  static constexpr bool IsNan(Bits bits) { return Magnitude(bits) > kInfinity; }
  static constexpr bool IsInfinite(Bits bits) { return Magnitude(bits) == kInfinity; }
  static constexpr bool IsFinite(Bits bits) { return Magnitude(bits) < kInfinity; }
  static constexpr bool IsZero(Bits bits) { return Magnitude(bits) == 0; }
};

using HalfFormat = FloatFormat<uint16_t, 10, 5>;
using BFloat16Format = FloatFormat<uint16_t, 7, 8>;
using SingleFormat = FloatFormat<uint32_t, 23, 8>;
using DoubleFormat = FloatFormat<uint64_t, 52, 11>;

/// Steps from one finite value to another along the representable values of the format; -0 and +0 are the
/// same place. A step across zero counts like any other: from the smallest negative to the smallest positive
/// value are two.
template <typename Format>
constexpr uint64_t UlpDistance(typename Format::Bits a, typename Format::Bits b) {
  const uint64_t magnitude_a = Format::Magnitude(a);
  const uint64_t magnitude_b = Format::Magnitude(b);
  const bool same_sign = ((a ^ b) & Format::kSignMask) == 0;
  if (!same_sign) return magnitude_a + magnitude_b;
  return magnitude_a > magnitude_b ? magnitude_a - magnitude_b : magnitude_b - magnitude_a;
}

/// The value as a double; exact for every format here.
template <typename Format>
double ToDouble(typename Format::Bits bits) {
  if constexpr (std::is_same_v<Format, DoubleFormat>) {
    return std::bit_cast<double>(bits);
  } else if constexpr (std::is_same_v<Format, SingleFormat>) {
    return static_cast<double>(std::bit_cast<float>(bits));
  } else if constexpr (std::is_same_v<Format, BFloat16Format>) {
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
  } else {
    // Half to double: the fields are moved into a double's, scaled by a power of two; that also serves
    // subnormals.
    const uint64_t magnitude = Format::Magnitude(bits);
    double value;
    if (Format::IsFinite(bits)) {
      const uint64_t widened = magnitude << (DoubleFormat::kFraction - Format::kFraction);
      value = std::bit_cast<double>(widened) * std::bit_cast<double>(uint64_t{1023 + 1023 - 15} << 52);
    } else {
      value = Format::IsNan(bits) ? std::nan("") : HUGE_VAL;
    }
    return (bits & Format::kSignMask) != 0 ? -value : value;
  }
}

}  // namespace flce
