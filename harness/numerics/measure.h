#pragma once

#include <vector>

#include "harness/numerics/judgement.h"
#include "kernels/flce/chunks.h"
#include "kernels/flce/problem.h"

namespace flce {

/// Measures both runs against the f64 reference and the derived bounds. Tensors may lie anywhere; the work is
/// done where the problem lies. `bound_grad_w`: derive the bound of grad_w too, which costs several f64
/// GEMMs; a claim of equal bits needs none.
Measures Measure(const Problem& problem, const std::vector<Chunk>& chunks, const Gradients& eager,
                 const Gradients& compiled, bool bound_grad_w);

/// The grad_w part of it.
BoundCheck CheckGradW(const Problem& problem, const std::vector<Chunk>& chunks, const at::Tensor& eager,
                      const at::Tensor& compiled);

}  // namespace flce
