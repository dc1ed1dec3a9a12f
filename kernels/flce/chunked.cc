#include "kernels/flce/chunked.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace flce {
namespace {

// The base-2 exponential with this factor is what Liger's kernel evaluates.
constexpr double kLog2E = 1.4426950408889634;

struct RowStep {
  at::Tensor loss;         // [n], f32, already divided by the number of counted rows
  at::Tensor grad_logits;  // [n, v], the dtype of the logits
};

RowStep CrossEntropyRows(const at::Tensor& logits, const at::Tensor& target, int64_t ignore_index,
                         int64_t counted) {
  const at::Tensor counts = target.ne(ignore_index);
  // An ignored row reads class 0; what it yields is masked below.
  const at::Tensor index = target.masked_fill(counts.logical_not(), 0).unsqueeze(1);
  at::Tensor values = logits.to(at::kFloat);
  const at::Tensor at_target = values.gather(1, index);
  const at::Tensor maximum = values.amax({1}, /*keepdim=*/true);
  values.sub_(maximum).mul_(kLog2E).exp2_();
  const at::Tensor sum = values.sum({1}, /*keepdim=*/true);
  const auto divisor = static_cast<double>(counted);

  RowStep step;
  step.loss =
      maximum.add(sum.log()).sub(at_target).squeeze(1).div(divisor).masked_fill(counts.logical_not(), 0);
  values.div_(sum);
  values.scatter_add_(1, index, at::full_like(index, -1, values.options()));
  values.div_(divisor).masked_fill_(counts.logical_not().unsqueeze(1), 0);
  step.grad_logits = values.to(logits.scalar_type());
  return step;
}

}  // namespace

Result<Problem> Problem::Make(at::Tensor x, at::Tensor w, at::Tensor target, int64_t ignore_index) {
  const auto bad = [](const std::string& what) {
    return Error{ErrorKind::kData, "these are no inputs of FLCE: " + what};
  };
  if (x.dim() != 2 || w.dim() != 2 || target.dim() != 1)
    return bad("x and w have two dimensions, the target one");
  if (x.scalar_type() != at::kBFloat16 && x.scalar_type() != at::kHalf)
    return bad("x is neither bf16 nor f16");
  if (w.scalar_type() != x.scalar_type()) return bad("x and w differ in dtype");
  if (target.scalar_type() != at::kLong) return bad("the target is not i64");
  if (x.size(0) != target.size(0)) return bad("x and the target differ in rows");
  if (x.size(1) != w.size(1)) return bad("x and w differ in columns");
  if (x.numel() == 0 || w.numel() == 0) return bad("a tensor is empty");
  const at::Tensor counted = target.masked_select(target.ne(ignore_index));
  if (counted.numel() != 0 &&
      (counted.min().item<int64_t>() < 0 || counted.max().item<int64_t>() >= w.size(0))) {
    return bad("a target is outside the vocabulary");
  }
  return Problem{std::move(x), std::move(w), std::move(target), ignore_index};
}

int64_t Problem::Counted() const { return target.ne(ignore_index).sum().item<int64_t>(); }

at::Tensor RoundedProduct(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_cuda()) return at::mm(a, b);
  // On a CPU the products of 16-bit values are exact in f32; not every build of ATen accumulates 16-bit GEMMs
  // in f32.
  return at::mm(a.to(at::kFloat), b.to(at::kFloat)).to(a.scalar_type());
}

Gradients ChunkedFlce(const Problem& problem, const std::vector<Chunk>& chunks,
                      const Accumulate& accumulate) {
  // Without a counted row every gradient is masked to zero; the divisor must only not be zero.
  const int64_t counted = std::max<int64_t>(problem.Counted(), 1);
  at::Tensor losses = at::zeros({problem.Rows()}, problem.x.options().dtype(at::kFloat));
  at::Tensor grad_x = at::zeros_like(problem.x);
  at::Tensor grad_w = at::zeros(problem.w.sizes(), problem.w.options().dtype(at::kFloat));
  for (const Chunk& chunk : chunks) {
    const at::Tensor rows = problem.x.slice(0, chunk.begin, chunk.end);
    const RowStep step =
        CrossEntropyRows(RoundedProduct(rows, problem.w.t()), problem.target.slice(0, chunk.begin, chunk.end),
                         problem.ignore_index, counted);
    losses.slice(0, chunk.begin, chunk.end).copy_(step.loss);
    grad_x.slice(0, chunk.begin, chunk.end).copy_(RoundedProduct(step.grad_logits, problem.w));
    accumulate(grad_w, step.grad_logits.t(), rows);
  }
  return {losses.sum(), std::move(grad_x), grad_w.to(problem.w.scalar_type())};
}

}  // namespace flce
