#pragma once

#include <optional>
#include <vector>

#include "kernels/flce/chunks.h"
#include "kernels/flce/problem.h"

namespace flce {

/// What the arithmetic allows grad_w to be, element by element, for the vocabulary rows [begin, end). All
/// tensors are f64, [end - begin, h]; README.md derives them.
struct GradWBlock {
  int64_t begin = 0;
  int64_t end = 0;
  /// The largest difference between a run with the fused accumulation and one with the guarded fallback, both
  /// rounded to the dtype of w, that start from the same rounded gradient of the logits.
  at::Tensor rounding;
  /// Between these lies what any implementation of either form computes from these inputs, whatever the order
  /// of its f32 sums and however its exponential errs within the model.
  at::Tensor fused_low, fused_high;
  at::Tensor guarded_low, guarded_high;
};

/// Bounds of grad_w derived from the inputs. Works block by block over the vocabulary, so that its memory is
/// a small multiple of a block's.
class GradWBound {
 public:
  /// Reads the inputs once, for the softmax normaliser of every row.
  GradWBound(Problem problem, std::vector<Chunk> chunks);

  /// Vocabulary rows of a block of moderate size (some 100 MiB in all).
  int64_t BlockRows() const;

  /// `eager` is what the fused run returned for these rows, if known: it pins the unrounded sum down to half
  /// a unit, which makes `rounding` the bound for that very result.
  GradWBlock Block(int64_t begin, int64_t end, const std::optional<at::Tensor>& eager) const;

 private:
  struct Logits;
  struct Interval;
  Logits LogitsOf(int64_t begin, int64_t end) const;
  Interval GradLogitsOf(int64_t begin, int64_t end) const;

  Problem problem_;
  std::vector<Chunk> chunks_;
  at::Tensor x_;                                              // f64
  at::Tensor normaliser_low_, normaliser_, normaliser_high_;  // [bt, 1], f64: log of the sum of exponentials
  double counted_ = 1;
};

/// The largest difference of two f32 sums of the row losses, in any two orders; `loss` is either sum (the
/// losses are not negative, so it is the sum of their magnitudes too).
double LossSumBound(double loss, int64_t rows);

}  // namespace flce
