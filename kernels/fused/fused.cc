#include "kernels/fused/fused.h"

#include <ATen/ATen.h>

namespace flce {

void AddProductInFp32(at::Tensor& accumulator, const at::Tensor& left, const at::Tensor& right) {
  if (accumulator.is_cuda()) {
    at::addmm_out(accumulator, accumulator, left, right, at::kFloat);
    return;
  }
  // No CPU build has the overload with an out_dtype. Products of 16-bit values are exact in f32, so f32
  // operands do the same arithmetic.
  at::addmm_out(accumulator, accumulator, left.to(at::kFloat), right.to(at::kFloat));
}

Gradients FusedFlce(const Problem& problem, const std::vector<Chunk>& chunks) {
  return ChunkedFlce(problem, chunks, AddProductInFp32);
}

}  // namespace flce
