#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "harness/numerics/safetensors.h"
#include "kernels/flce/problem.h"

namespace flce {

/// The tensor as a file holds it, on the CPU. kNotFound names what the file has instead; kData for a type
/// that LibTorch cannot hold.
Result<at::Tensor> LoadTensor(const SafetensorsFile& file, const std::string& name);

/// prefix + "x", prefix + "w" and prefix + "target", on `device` ("cpu" or "cuda").
Result<Problem> LoadProblem(const SafetensorsFile& file, const std::string& prefix, const at::Device& device);

/// The tensor's elements in row-major order.
TensorBytes ToBytes(const std::string& name, const at::Tensor& tensor);

}  // namespace flce
