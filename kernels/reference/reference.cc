#include "kernels/reference/reference.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace flce {
namespace {

constexpr int64_t kBlockElements = int64_t{1} << 26;  // 512 MiB of f64 logits

}  // namespace

Gradients ReferenceFlce(const Problem& problem) {
  const auto counted = static_cast<double>(std::max<int64_t>(problem.Counted(), 1));
  const at::Tensor w = problem.w.to(at::kDouble);
  const auto options = w.options();
  at::Tensor loss = at::zeros({}, options);
  at::Tensor grad_x = at::zeros(problem.x.sizes(), options);
  at::Tensor grad_w = at::zeros(problem.w.sizes(), options);
  const int64_t block = std::clamp<int64_t>(kBlockElements / problem.Vocabulary(), 1, problem.Rows());
  for (int64_t begin = 0; begin < problem.Rows(); begin += block) {
    const int64_t end = std::min(begin + block, problem.Rows());
    const at::Tensor rows = problem.x.slice(0, begin, end).to(at::kDouble);
    const at::Tensor target = problem.target.slice(0, begin, end);
    const at::Tensor ignored = target.eq(problem.ignore_index);
    const at::Tensor index = target.masked_fill(ignored, 0).unsqueeze(1);
    const at::Tensor logits = at::mm(rows, w.t());
    const at::Tensor normaliser = logits.logsumexp({1}, /*keepdim=*/true);
    loss.add_(normaliser.sub(logits.gather(1, index)).squeeze(1).masked_fill(ignored, 0).sum());
    at::Tensor gradient = logits.sub(normaliser).exp_();
    gradient.scatter_add_(1, index, at::full_like(index, -1, options));
    gradient.div_(counted).masked_fill_(ignored.unsqueeze(1), 0);
    grad_x.slice(0, begin, end).copy_(at::mm(gradient, w));
    grad_w.addmm_(gradient.t(), rows);
  }
  return {loss.div(counted), std::move(grad_x), std::move(grad_w)};
}

}  // namespace flce
