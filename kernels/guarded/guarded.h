#pragma once

#include "kernels/flce/chunked.h"

namespace flce {

/// accumulator += left x right, the product first rounded to the operands' dtype.
void AddRoundedProduct(at::Tensor& accumulator, const at::Tensor& left, const at::Tensor& right);

/// FLCE with the fallback that Liger takes under the guard while compiling, and where the fused accumulation
/// is missing.
Gradients GuardedFlce(const Problem& problem, const std::vector<Chunk>& chunks);

}  // namespace flce
