#pragma once

#include <functional>
#include <vector>

#include "kernels/flce/chunks.h"
#include "kernels/flce/problem.h"

namespace flce {

/// Adds left x right ([v, n] and [n, h], 16-bit) to the f32 accumulator [v, h]: all that two forms of FLCE
/// differ in.
using Accumulate =
    std::function<void(at::Tensor& accumulator, const at::Tensor& left, const at::Tensor& right)>;

/// FLCE chunk by chunk as Liger runs it: logits in the operands' dtype, loss and gradient of the logits in
/// f32, rounded to that dtype, both gradients from them, grad_w accumulated in f32 and rounded at the end.
Gradients ChunkedFlce(const Problem& problem, const std::vector<Chunk>& chunks, const Accumulate& accumulate);

/// a x b with f32 accumulation, rounded once to the operands' dtype.
at::Tensor RoundedProduct(const at::Tensor& a, const at::Tensor& b);

}  // namespace flce
