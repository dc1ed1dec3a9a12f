#include "harness/emulator/gemm.h"

#include <cstring>

namespace flce::emulator {

using namespace types;  // NOLINT: constants of this file's subject

const char* TypeName(int type) {
  switch (type) {
    case kF32:
      return "f32";
    case kF64:
      return "f64";
    case kF16:
      return "f16";
    case kI8:
      return "i8";
    case kC32:
      return "c64";
    case kC64:
      return "c128";
    case kI32:
      return "i32";
    case kBf16:
      return "bf16";
    case kE4m3:
      return "e4m3";
    case kE5m2:
      return "e5m2";
    case kE2m1:
      return "e2m1";
    default:
      return "?";
  }
}

const char* ComputeName(int compute) {
  switch (compute) {
    case kCompute16:
    case kCompute16Pedantic:
      return "f16";
    case kCompute32:
    case kCompute32Pedantic:
      return "f32";
    case kCompute64:
    case kCompute64Pedantic:
      return "f64";
    case kComputeI32:
    case kComputeI32Pedantic:
      return "i32";
    case kCompute32Fast16:
      return "f32_f16";
    case kCompute32FastBf16:
      return "f32_bf16";
    case kCompute32FastTf32:
      return "f32_tf32";
    case kCompute32EmulatedBf16x9:
      return "f32_bf16x9";
    case kCompute64Emulated:
      return "f64_fixed";
    default:
      return "?";
  }
}

bool GemmTypesSupported(int a, int b, int c, int compute) {
  if (a != b) return false;
  switch (compute) {
    case kCompute16:
    case kCompute16Pedantic:
      return a == kF16 && c == kF16;
    case kComputeI32:
    case kComputeI32Pedantic:
      return a == kI8 && c == kI32;
    case kCompute32:
    case kCompute32Pedantic:
      if (a == kBf16) return c == kBf16 || c == kF32;
      if (a == kF16) return c == kF16 || c == kF32;
      if (a == kI8) return c == kF32;
      return (a == kF32 && c == kF32) || (a == kC32 && c == kC32);
    case kCompute32Fast16:
    case kCompute32FastBf16:
    case kCompute32FastTf32:
    case kCompute32EmulatedBf16x9:
      return (a == kF32 && c == kF32) || (a == kC32 && c == kC32);
    case kCompute64:
    case kCompute64Pedantic:
    case kCompute64Emulated:
      return (a == kF64 && c == kF64) || (a == kC64 && c == kC64);
    default:
      return false;
  }
}

bool LtTypesSupported(int a, int b, int c, int d, int compute, int capability) {
  const bool eight = (a == kE4m3 || a == kE5m2) && (b == kE4m3 || b == kE5m2);
  const bool four = a == kE2m1 && b == kE2m1;
  if (eight || four) {
    if (compute != kCompute32 && compute != kCompute32Pedantic) return false;
    if (capability < (four ? 100 : 89) || (a == kE5m2 && b == kE5m2)) return false;
    const bool wide = d == kBf16 || d == kF16 || d == kF32;
    return wide ? c == d : (d == kE4m3 || d == kE5m2) && (c == kBf16 || c == kF16);
  }
  if (a == kI8 && b == kI8 && c == kI8 && d == kI8) return compute == kComputeI32;
  return c == d && GemmTypesSupported(a, b, d, compute);
}

bool ScalarIsNonZero(const void* host, int type) {
  const auto nonzero = [host](std::size_t bytes, std::uint64_t mask) {
    std::uint64_t value = 0;
    std::memcpy(&value, host, bytes);
    return (value & mask) != 0;  // minus zero is zero
  };
  switch (type) {
    case kF32:
      return nonzero(4, 0x7fffffff);
    case kF64:
      return nonzero(8, 0x7fffffffffffffff);
    case kF16:
    case kBf16:
      return nonzero(2, 0x7fff);
    case kI32:
      return nonzero(4, 0xffffffff);
    case kC32:
      return nonzero(8, 0x7fffffff7fffffff);
    case kC64: {
      double parts[2];
      std::memcpy(parts, host, sizeof parts);
      return parts[0] != 0 || parts[1] != 0;
    }
    default:
      return true;
  }
}

int ScaleTypeOf(int compute, int c) {
  switch (compute) {
    case kCompute16:
    case kCompute16Pedantic:
      return kF16;
    case kComputeI32:
    case kComputeI32Pedantic:
      return kI32;
    case kCompute64:
    case kCompute64Pedantic:
    case kCompute64Emulated:
      return c == kC64 ? kC64 : kF64;
    default:
      return c == kC32 ? kC32 : kF32;
  }
}

}  // namespace flce::emulator
