#pragma once

#include <ATen/core/Tensor.h>

#include "harness/base/result.h"

namespace flce {

/// Inputs of fused linear cross entropy with reduction "mean" and nothing else: no bias, no class weights, no
/// smoothing.
struct Problem {
  at::Tensor x;       ///< [bt, h], bf16 or f16
  at::Tensor w;       ///< [v, h], the dtype of x
  at::Tensor target;  ///< [bt], i64: a class, or ignore_index
  int64_t ignore_index = -100;

  /// All three on one device, shapes and types as above, targets in range; kData says what is not so.
  static Result<Problem> Make(at::Tensor x, at::Tensor w, at::Tensor target, int64_t ignore_index = -100);

  int64_t Rows() const { return x.size(0); }
  int64_t Hidden() const { return x.size(1); }
  int64_t Vocabulary() const { return w.size(0); }
  /// Rows that count.
  int64_t Counted() const;
};

/// What a training step gets: the loss, and the gradients for an upstream gradient of 1.
struct Gradients {
  at::Tensor loss;    ///< scalar, f32 (f64 from the reference)
  at::Tensor grad_x;  ///< [bt, h], the dtype of x (f64 from the reference)
  at::Tensor grad_w;  ///< [v, h], the dtype of w (f64 from the reference)
};

}  // namespace flce
