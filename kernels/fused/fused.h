#pragma once

#include "kernels/flce/chunked.h"

namespace flce {

/// accumulator += left x right, the product never rounded below f32: one GEMM on a CUDA device.
void AddProductInFp32(at::Tensor& accumulator, const at::Tensor& left, const at::Tensor& right);

/// FLCE with the fused accumulation: what Liger runs in eager mode on capability 8.0 and later.
Gradients FusedFlce(const Problem& problem, const std::vector<Chunk>& chunks);

}  // namespace flce
