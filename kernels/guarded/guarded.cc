#include "kernels/guarded/guarded.h"

#include <ATen/ATen.h>

namespace flce {

void AddRoundedProduct(at::Tensor& accumulator, const at::Tensor& left, const at::Tensor& right) {
  accumulator.add_(RoundedProduct(left, right).to(at::kFloat));
}

Gradients GuardedFlce(const Problem& problem, const std::vector<Chunk>& chunks) {
  return ChunkedFlce(problem, chunks, AddRoundedProduct);
}

}  // namespace flce
