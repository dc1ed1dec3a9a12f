#include "harness/numerics/measure.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/numerics/tensor_io.h"
#include "kernels/bound/grad_w_bound.h"
#include "kernels/reference/reference.h"

namespace flce {
namespace {

constexpr size_t kFirstKept = 8;
constexpr int64_t kBlockElements = int64_t{1} << 24;

double UnitAt(double magnitude, at::ScalarType dtype) {
  const int fraction_bits = dtype == at::kBFloat16 ? 7 : dtype == at::kHalf ? 10 : 23;
  const int smallest = dtype == at::kHalf ? -14 : -126;
  if (magnitude == 0 || !std::isfinite(magnitude)) return 0;
  return std::ldexp(1.0, std::max(std::ilogb(magnitude), smallest) - fraction_bits);
}

// Accumulates over pieces, so that no f64 copy of a whole 16-bit gradient is made.
OracleError ErrorTo(const at::Tensor& reference, const at::Tensor& tensor) {
  const at::Tensor flat_reference = reference.reshape({-1});
  const at::Tensor flat = tensor.reshape({-1});
  OracleError error;
  double squares = 0;
  for (int64_t begin = 0; begin < flat.numel(); begin += kBlockElements) {
    const int64_t end = std::min(begin + kBlockElements, flat.numel());
    const at::Tensor distance = flat.slice(0, begin, end)
                                    .to(flat_reference.device())
                                    .to(at::kDouble)
                                    .sub(flat_reference.slice(0, begin, end))
                                    .abs();
    const double largest = distance.max().item<double>();
    if (largest > error.max_abs || std::isnan(largest)) error.max_abs = largest;
    squares += distance.square().sum().item<double>();
  }
  error.rms = flat.numel() == 0 ? 0 : std::sqrt(squares / static_cast<double>(flat.numel()));
  return error;
}

OracleErrors Errors(const at::Tensor& reference, const at::Tensor& eager, const at::Tensor& compiled, at::ScalarType dtype) {
  const double magnitude = reference.numel() == 0 ? 0 : reference.abs().max().item<double>();
  return {ErrorTo(reference, eager), ErrorTo(reference, compiled), UnitAt(magnitude, dtype)};
}

// The coarser of two dtypes that a gradient may have.
at::ScalarType Coarser(at::ScalarType a, at::ScalarType b) { return UnitAt(1, a) >= UnitAt(1, b) ? a : b; }

bool IsOfModule(const std::string& tensor) {
  return tensor.starts_with("grad_") && tensor.find('.') != std::string::npos;
}

uint64_t Outside(const at::Tensor& value, const at::Tensor& low, const at::Tensor& high) {
  return static_cast<uint64_t>(
      value.ge(low).logical_and_(value.le(high)).logical_not_().sum().item<int64_t>());
}

BoundCheck CheckLoss(const Problem& problem, const at::Tensor& eager, const at::Tensor& compiled) {
  const double a = eager.item().toDouble(), b = compiled.item().toDouble();
  BoundCheck check;
  check.largest = LossSumBound(std::max(std::fabs(a), std::fabs(b)), problem.Rows());
  const double difference = std::fabs(a - b);
  if (difference == 0) return check;
  check.worst = BoundCheck::Element{{}, difference, check.largest};
  if (!(difference <= check.largest)) {
    check.violations = 1;
    check.first.push_back(*check.worst);
  }
  return check;
}

}  // namespace

BoundCheck CheckGradW(const Problem& problem, const std::vector<Chunk>& chunks, const at::Tensor& eager,
                      const at::Tensor& compiled) {
  const GradWBound bounds(problem, chunks);
  BoundCheck check;
  double worst_ratio = 0;
  for (int64_t begin = 0; begin < problem.Vocabulary(); begin += bounds.BlockRows()) {
    const int64_t end = std::min(begin + bounds.BlockRows(), problem.Vocabulary());
    const at::Tensor a = eager.slice(0, begin, end).to(problem.w.device()).to(at::kDouble);
    const at::Tensor b = compiled.slice(0, begin, end).to(problem.w.device()).to(at::kDouble);
    const GradWBlock block = bounds.Block(begin, end, a);
    const at::Tensor difference = a.sub(b).abs();
    const auto element = [&](int64_t flat) {
      const int64_t row = flat / problem.Hidden(), column = flat % problem.Hidden();
      return BoundCheck::Element{{begin + row, column},
                                 difference[row][column].item<double>(),
                                 block.rounding[row][column].item<double>()};
    };
    check.largest = std::max(check.largest, block.rounding.max().item<double>());
    // Written so that a NaN is outside.
    const at::Tensor outside = difference.le(block.rounding).logical_not_();
    const auto count = static_cast<uint64_t>(outside.sum().item<int64_t>());
    if (count != 0 && check.first.size() < kFirstKept) {
      const at::Tensor places = outside.reshape({-1}).nonzero().squeeze(1).to(at::kCPU);
      for (int64_t i = 0; i < places.numel() && check.first.size() < kFirstKept; ++i)
        check.first.push_back(element(places[i].item<int64_t>()));
    }
    check.violations += count;
    check.eager_outside += Outside(a, block.fused_low, block.fused_high);
    // The compiled run may have taken either form.
    check.compiled_outside += Outside(b, at::minimum(block.fused_low, block.guarded_low),
                                      at::maximum(block.fused_high, block.guarded_high));
    // A bound of zero that is exceeded counts as infinitely far beyond; equal values are at no part of their
    // bound.
    const at::Tensor ratio = difference.div(block.rounding)
                                 .masked_fill_(difference.eq(0), 0)
                                 .nan_to_num(HUGE_VAL, HUGE_VAL)
                                 .reshape({-1});
    const double largest = ratio.max().item<double>();
    if (largest > worst_ratio) {
      worst_ratio = largest;
      check.worst = element(ratio.argmax().item<int64_t>());
    }
  }
  return check;
}

Measures Measure(const Problem& problem, const std::vector<Chunk>& chunks, const Gradients& eager,
                 const Gradients& compiled, bool bound_grad_w) {
  Measures measures;
  measures.bounds["loss"] = CheckLoss(problem, eager.loss, compiled.loss);
  if (bound_grad_w) measures.bounds["grad_w"] = CheckGradW(problem, chunks, eager.grad_w, compiled.grad_w);
  const Gradients reference = ReferenceFlce(problem);
  measures.oracle["loss"] = Errors(reference.loss, eager.loss, compiled.loss, eager.loss.scalar_type());
  measures.oracle["grad_x"] = Errors(reference.grad_x, eager.grad_x, compiled.grad_x, eager.grad_x.scalar_type());
  measures.oracle["grad_w"] = Errors(reference.grad_w, eager.grad_w, compiled.grad_w, eager.grad_w.scalar_type());
  return measures;
}

bool HasModules(const FileComparison& comparison) {
  return std::any_of(comparison.tensors.begin(), comparison.tensors.end(),
                     [](const TensorDiff& diff) { return IsOfModule(diff.name); });
}

Result<std::map<std::string, OracleErrors>> MeasureAgainst(const SafetensorsFile& reference, const SafetensorsFile& eager,
                                                           const SafetensorsFile& compiled,
                                                           const FileComparison& comparison) {
  std::optional<at::ScalarType> coarsest;
  for (const TensorDiff& diff : comparison.tensors) {
    if (!IsOfModule(diff.name) || diff.pairing != Pairing::kComparable) continue;
    FLCE_TRY(const at::Tensor tensor, LoadTensor(eager, diff.name));
    coarsest = coarsest ? Coarser(*coarsest, tensor.scalar_type()) : tensor.scalar_type();
  }
  std::map<std::string, OracleErrors> found;
  for (const TensorDiff& diff : comparison.tensors) {
    if (diff.pairing != Pairing::kComparable || diff.Bitwise() || reference.Find(diff.name) == nullptr) continue;
    FLCE_TRY(const at::Tensor wide, LoadTensor(reference, diff.name));
    FLCE_TRY(const at::Tensor a, LoadTensor(eager, diff.name));
    FLCE_TRY(const at::Tensor b, LoadTensor(compiled, diff.name));
    if (wide.sizes() != a.sizes()) continue;
    OracleErrors errors = Errors(wide.to(at::kDouble), a, b, coarsest.value_or(a.scalar_type()));
    errors.f64 = false;
    found[diff.name] = errors;
  }
  return found;
}

}  // namespace flce
