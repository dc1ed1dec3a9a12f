#include "harness/numerics/dtype.h"

#include <array>

namespace flce {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  uint64_t size;
  bool ulps;
};

constexpr std::array<Row, 15> kRows = {{
    {DType::kBool, "BOOL", 1, false},
    {DType::kU8, "U8", 1, false},
    {DType::kI8, "I8", 1, false},
    {DType::kU16, "U16", 2, false},
    {DType::kI16, "I16", 2, false},
    {DType::kU32, "U32", 4, false},
    {DType::kI32, "I32", 4, false},
    {DType::kU64, "U64", 8, false},
    {DType::kI64, "I64", 8, false},
    {DType::kF8E4M3, "F8_E4M3", 1, false},
    {DType::kF8E5M2, "F8_E5M2", 1, false},
    {DType::kF16, "F16", 2, true},
    {DType::kBF16, "BF16", 2, true},
    {DType::kF32, "F32", 4, true},
    {DType::kF64, "F64", 8, true},
}};

// Rows stand in the order of the enumerators, so that a lookup is an index.
const Row& RowOf(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view DTypeName(DType dtype) { return RowOf(dtype).name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

uint64_t DTypeSize(DType dtype) { return RowOf(dtype).size; }

bool HasUlps(DType dtype) { return RowOf(dtype).ulps; }

}  // namespace flce
