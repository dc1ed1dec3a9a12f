#include "harness/numerics/tensor_io.h"

#include <ATen/ATen.h>

#include <array>
#include <cstring>

namespace flce {
namespace {

struct TypeRow {
  DType dtype;
  at::ScalarType scalar;
};
constexpr std::array<TypeRow, 6> kTypes = {{
    {DType::kBF16, at::kBFloat16},
    {DType::kF16, at::kHalf},
    {DType::kF32, at::kFloat},
    {DType::kF64, at::kDouble},
    {DType::kI64, at::kLong},
    {DType::kI32, at::kInt},
}};

}  // namespace

Result<at::Tensor> LoadTensor(const SafetensorsFile& file, const std::string& name) {
  const TensorInfo* info = file.Find(name);
  if (info == nullptr) {
    std::string known;
    for (const TensorInfo& tensor : file.tensors()) known += (known.empty() ? "" : ", ") + tensor.name;
    return Error{ErrorKind::kNotFound,
                 file.path().string() + " has no tensor '" + name + "'; it has: " + known};
  }
  for (const TypeRow& row : kTypes) {
    if (row.dtype != info->dtype) continue;
    at::Tensor tensor = at::empty(info->shape, at::TensorOptions().dtype(row.scalar));
    FLCE_TRY_DO(file.Read(
        *info, 0,
        {static_cast<std::byte*>(tensor.data_ptr()), static_cast<size_t>(info->end - info->begin)}));
    return tensor;
  }
  return Error{ErrorKind::kData, file.path().string() + ": tensor '" + name + "' has the dtype " +
                                     std::string(DTypeName(info->dtype)) + ", which is no dtype of FLCE"};
}

Result<Problem> LoadProblem(const SafetensorsFile& file, const std::string& prefix,
                            const at::Device& device) {
  FLCE_TRY(const at::Tensor x, LoadTensor(file, prefix + "x"));
  FLCE_TRY(const at::Tensor w, LoadTensor(file, prefix + "w"));
  FLCE_TRY(const at::Tensor target, LoadTensor(file, prefix + "target"));
  return Problem::Make(x.to(device), w.to(device), target.to(device));
}

TensorBytes ToBytes(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor dense = tensor.to(at::kCPU).contiguous();
  TensorBytes bytes{name, DType::kF32, dense.sizes().vec(), std::string(dense.nbytes(), '\0')};
  for (const TypeRow& row : kTypes) {
    if (row.scalar == dense.scalar_type()) bytes.dtype = row.dtype;
  }
  std::memcpy(bytes.bytes.data(), dense.data_ptr(), dense.nbytes());
  return bytes;
}

}  // namespace flce
