// Implementation details: README.md is the derivation; the names here are its names. Every interval end is
// computed in f64, whose own errors are 2^-29 of the smallest term that matters, and then widened by at least
// one f32 unit.
#include "kernels/bound/grad_w_bound.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace flce {
namespace {

// Unit of one f32 operation. 2^-24 for rounding to nearest; tensor cores may cut the last bit off instead.
const double kUnit = std::ldexp(1.0, -23);
// Relative error of a softmax value in f32, in units: what does not depend on the value or the vocabulary, ...
constexpr double kSoftmaxUnits = 45;
// ... what each block of this many classes adds, ...
constexpr double kSoftmaxBlock = 32768;
// ... and what a unit of distance from the row's maximum adds, from the rounding of the exponent.
constexpr double kExponentUnits = 1.5;

struct Format {
  int64_t fraction_bits;
  int64_t smallest_exponent;
};

Format FormatOf(at::ScalarType dtype) { return dtype == at::kBFloat16 ? Format{7, -126} : Format{10, -14}; }

// Half the distance of neighbours around each value of `magnitude` (non-negative, f64).
at::Tensor HalfUnit(const at::Tensor& magnitude, at::ScalarType dtype) {
  const Format format = FormatOf(dtype);
  // The bits of the exponent alone are the power of two below the value.
  const at::Tensor power =
      magnitude.view(at::kLong).bitwise_and(int64_t{0x7ff0000000000000}).view(at::kDouble);
  return power.clamp_min(std::ldexp(1.0, static_cast<int>(format.smallest_exponent)))
      .mul(std::ldexp(1.0, static_cast<int>(-format.fraction_bits - 1)));
}

// Rounded to the dtype and back. Through f32, as the devices do; that keeps the order of values, which is all
// that the ends of an interval need.
at::Tensor Rounded(const at::Tensor& value, at::ScalarType dtype) {
  return value.to(at::kFloat).to(dtype).to(at::kDouble);
}

}  // namespace

struct GradWBound::Logits {
  at::Tensor low, nominal, high;  // [bt, n]
};

struct GradWBound::Interval {
  at::Tensor nominal;      // [bt, n]
  at::Tensor uncertainty;  // how far another implementation's value may lie from it
};

GradWBound::GradWBound(Problem problem, std::vector<Chunk> chunks)
    : problem_(std::move(problem)), chunks_(std::move(chunks)), x_(problem_.x.to(at::kDouble)) {
  counted_ = static_cast<double>(std::max<int64_t>(problem_.Counted(), 1));
  const at::Tensor nothing = at::full({problem_.Rows(), 1}, -HUGE_VAL, x_.options());
  normaliser_low_ = normaliser_ = normaliser_high_ = nothing;
  for (int64_t begin = 0; begin < problem_.Vocabulary(); begin += BlockRows()) {
    const Logits logits = LogitsOf(begin, std::min(begin + BlockRows(), problem_.Vocabulary()));
    normaliser_low_ = at::logaddexp(normaliser_low_, logits.low.logsumexp({1}, true));
    normaliser_ = at::logaddexp(normaliser_, logits.nominal.logsumexp({1}, true));
    normaliser_high_ = at::logaddexp(normaliser_high_, logits.high.logsumexp({1}, true));
  }
}

int64_t GradWBound::BlockRows() const {
  const int64_t widest = std::max(problem_.Rows(), problem_.Hidden());
  return std::clamp<int64_t>((int64_t{1} << 21) / widest, 1, problem_.Vocabulary());
}

GradWBound::Logits GradWBound::LogitsOf(int64_t begin, int64_t end) const {
  const at::Tensor w = problem_.w.slice(0, begin, end).to(at::kDouble);
  const at::Tensor exact = at::mm(x_, w.t());
  const at::Tensor error = at::mm(x_.abs(), w.abs().t()).mul_(kUnit * static_cast<double>(problem_.Hidden()));
  const at::ScalarType dtype = problem_.x.scalar_type();
  return {Rounded(exact.sub(error), dtype), Rounded(exact, dtype), Rounded(exact.add(error), dtype)};
}

GradWBound::Interval GradWBound::GradLogitsOf(int64_t begin, int64_t end) const {
  const Logits logits = LogitsOf(begin, end);
  const at::Tensor low = logits.low.sub(normaliser_high_).exp_();
  const at::Tensor nominal = logits.nominal.sub(normaliser_).exp_();
  const at::Tensor high = logits.high.sub(normaliser_low_).exp_().clamp_max_(1.0);
  // The maximum of a row is at most its normaliser, so this distance is at least the one that is
  // exponentiated.
  const at::Tensor distance = normaliser_.sub(logits.nominal).clamp_min_(0);
  const double blocks = std::ceil(static_cast<double>(problem_.Vocabulary()) / kSoftmaxBlock);
  const at::Tensor slack = distance.mul(kExponentUnits).add_(kSoftmaxUnits + blocks).mul_(kUnit);

  const at::Tensor classes = at::arange(begin, end, problem_.target.options()).unsqueeze(0);
  const at::Tensor is_target = problem_.target.unsqueeze(1).eq(classes).to(at::kDouble);
  const at::Tensor ignored = problem_.target.eq(problem_.ignore_index).unsqueeze(1);
  const at::ScalarType dtype = problem_.x.scalar_type();
  // (p - [class is target]) / counted, with two more f32 roundings of the result.
  const auto gradient = [&](const at::Tensor& p, double direction) {
    const at::Tensor exact = p.add(p.mul(slack), direction).sub(is_target);
    const at::Tensor widened = exact.add(exact.abs(), direction * 2 * kUnit);
    return Rounded(widened.div(counted_).masked_fill(ignored, 0), dtype);
  };
  Interval interval;
  interval.nominal = gradient(nominal, 0);
  interval.uncertainty =
      at::maximum(gradient(high, 1).sub(interval.nominal), interval.nominal.sub(gradient(low, -1)));
  return interval;
}

GradWBlock GradWBound::Block(int64_t begin, int64_t end, const std::optional<at::Tensor>& eager) const {
  const at::ScalarType dtype = problem_.w.scalar_type();
  const Interval g = GradLogitsOf(begin, end);
  const at::Tensor zero = at::zeros({end - begin, problem_.Hidden()}, x_.options());
  at::Tensor sum = zero.clone(), magnitude = zero.clone(), drift = zero.clone();
  at::Tensor half_units = zero.clone(), product_errors = zero.clone();
  at::Tensor guarded_low = zero.clone(), guarded_high = zero.clone();
  int64_t longest = 0;
  for (const Chunk& chunk : chunks_) {
    const int64_t rows = chunk.end - chunk.begin;
    longest = std::max(longest, rows);
    const at::Tensor x = x_.slice(0, chunk.begin, chunk.end);
    const at::Tensor left = g.nominal.slice(0, chunk.begin, chunk.end).t();
    const at::Tensor product = at::mm(left, x);
    const at::Tensor absolute = at::mm(left.abs(), x.abs());
    const at::Tensor shift = at::mm(g.uncertainty.slice(0, chunk.begin, chunk.end).t(), x.abs());
    const at::Tensor error = absolute.add(shift).mul_(kUnit * static_cast<double>(rows));
    const at::Tensor reach = shift.add(error);
    sum.add_(product);
    magnitude.add_(absolute).add_(shift);
    drift.add_(shift);
    product_errors.add_(error);
    half_units.add_(HalfUnit(product.abs().add_(reach), dtype));
    guarded_low.add_(Rounded(product.sub(reach), dtype));
    guarded_high.add_(Rounded(product.add(reach), dtype));
  }
  const auto chunks = static_cast<double>(chunks_.size());
  // Sums of the chunks' products in f32: no partial sum exceeds the sum of magnitudes (rounded products:
  // twice it).
  const at::Tensor fused_error = magnitude.mul(kUnit * (static_cast<double>(longest) + 1 + chunks));
  const at::Tensor guarded_error = magnitude.mul(kUnit * 2 * chunks);
  const at::Tensor difference = half_units.add(product_errors).add_(fused_error).add_(guarded_error);

  GradWBlock block{begin, end, {}, {}, {}, {}, {}};
  at::Tensor low = sum.sub(drift).sub_(fused_error);
  at::Tensor high = sum.add(drift).add_(fused_error);
  block.fused_low = Rounded(low, dtype);
  block.fused_high = Rounded(high, dtype);
  block.guarded_low = Rounded(guarded_low.sub(guarded_error), dtype);
  block.guarded_high = Rounded(guarded_high.add(guarded_error), dtype);

  at::Tensor from_low = block.fused_low, from_high = block.fused_high;
  if (eager) {
    from_low = from_high = eager->to(at::kDouble);
    const at::Tensor half = HalfUnit(from_low.abs(), dtype);
    // A result outside of what the inputs allow is found by the enclosure; here it stands for itself.
    low = at::minimum(at::maximum(low, from_low.sub(half)), from_low);
    high = at::maximum(at::minimum(high, from_low.add(half)), from_low);
  }
  block.rounding = at::maximum(Rounded(high.add(difference), dtype).sub(from_low),
                               from_high.sub(Rounded(low.sub(difference), dtype)));
  return block;
}

double LossSumBound(double loss, int64_t rows) {
  // Each order errs by at most half a unit of the running sum for each addition, and two orders are compared.
  // The last factor makes up for the error of `loss` itself.
  const double error = static_cast<double>(std::max<int64_t>(rows - 1, 0)) * std::ldexp(1.0, -24);
  return 2 * error * std::fabs(loss) * (1 + 2 * error);
}

}  // namespace flce
