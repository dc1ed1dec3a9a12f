#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/numerics/judgement.h"
#include "harness/numerics/safetensors.h"
#include "kernels/flce/chunks.h"
#include "kernels/flce/problem.h"

namespace flce {

/// Measures both runs against the f64 reference and the derived bounds. Tensors may lie anywhere; the work is
/// done where the problem lies. `bound_grad_w`: derive the bound of grad_w too, which costs several f64
/// GEMMs; a claim of equal bits needs none.
Measures Measure(const Problem& problem, const std::vector<Chunk>& chunks, const Gradients& eager,
                 const Gradients& compiled, bool bound_grad_w);

/// The distance of both runs' tensors to a run in f32, on the CPU, for those that are in all three files and whose
/// bits differ. Where gradients of modules are among them ("grad_MODULE.PARAMETER"), what is before FLCE was
/// compiled too, and every tensor counts as computed in the coarsest dtype that a gradient has.
Result<std::map<std::string, OracleErrors>> MeasureAgainst(const SafetensorsFile& reference, const SafetensorsFile& eager,
                                                           const SafetensorsFile& compiled,
                                                           const FileComparison& comparison);

/// Whether gradients of modules are among the tensors: "grad_MODULE.PARAMETER".
bool HasModules(const FileComparison& comparison);

/// The grad_w part of it.
BoundCheck CheckGradW(const Problem& problem, const std::vector<Chunk>& chunks, const at::Tensor& eager,
                      const at::Tensor& compiled);

}  // namespace flce
