#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flce {

/// The element types a safetensors file may hold.
enum class DType {
  kBool,
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kU64,
  kI64,
  kF8E4M3,
  kF8E5M2,
  kF16,
  kBF16,
  kF32,
  kF64
};

/// "BF16", as the file names it.
std::string_view DTypeName(DType dtype);
std::optional<DType> ParseDType(std::string_view name);
/// Bytes of one element.
uint64_t DTypeSize(DType dtype);
/// True for the types whose distances are counted in ULPs: F16, BF16, F32, F64. The eight-bit floats are
/// compared as bits.
bool HasUlps(DType dtype);

}  // namespace flce
