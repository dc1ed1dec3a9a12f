#pragma once

#include "kernels/flce/problem.h"

namespace flce {

/// FLCE in f64 from the given inputs on, with no rounding in between: the oracle. Rows are taken in blocks,
/// so the logits never stand in memory as a whole; the gradients do, in f64.
Gradients ReferenceFlce(const Problem& problem);

}  // namespace flce
