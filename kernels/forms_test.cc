// The forms on small problems whose results are known.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/bound/grad_w_bound.h"
#include "kernels/fused/fused.h"
#include "kernels/guarded/guarded.h"
#include "kernels/reference/reference.h"

namespace flce {
namespace {

Problem Make(const at::Tensor& x, const at::Tensor& w, const at::Tensor& target) {
  return Problem::Make(x.to(at::kBFloat16), w.to(at::kBFloat16), target.to(at::kLong)).value();
}

TEST(ReferenceTest, TwoClassesByHand) {
  // Logits 1 and -1, target 0: loss log(1 + e^-2), gradient of the logits (-s, s) with s = 1 / (1 + e^2).
  const Problem problem =
      Make(at::full({1, 1}, 1.0), at::tensor({1.0, -1.0}).reshape({2, 1}), at::zeros({1}));
  const Gradients result = ReferenceFlce(problem);
  const double s = 1 / (1 + std::exp(2.0));
  EXPECT_NEAR(result.loss.item<double>(), std::log1p(std::exp(-2.0)), 1e-15);
  EXPECT_NEAR(result.grad_x[0][0].item<double>(), -2 * s, 1e-15);
  EXPECT_NEAR(result.grad_w[0][0].item<double>(), -s, 1e-15);
  EXPECT_NEAR(result.grad_w[1][0].item<double>(), s, 1e-15);
}

TEST(ReferenceTest, IgnoredRowsChangeNothing) {
  const at::Tensor w = at::tensor({1.0, -1.0, 0.5}).reshape({3, 1});
  const Gradients one = ReferenceFlce(Make(at::full({1, 1}, 2.0), w, at::ones({1})));
  const Gradients padded =
      ReferenceFlce(Make(at::tensor({7.0, 2.0, -3.0}).reshape({3, 1}), w, at::tensor({-100.0, 1.0, -100.0})));
  EXPECT_DOUBLE_EQ(padded.loss.item<double>(), one.loss.item<double>());
  EXPECT_TRUE(padded.grad_w.allclose(one.grad_w, 1e-14, 0));
  EXPECT_EQ(padded.grad_x[0][0].item<double>(), 0);
  EXPECT_DOUBLE_EQ(padded.grad_x[1][0].item<double>(), one.grad_x[0][0].item<double>());
}

TEST(FormsTest, WithEveryRowIgnoredEverythingIsZero) {
  const Problem problem = Make(at::ones({4, 2}), at::ones({3, 2}), at::full({4}, -100));
  for (const Gradients& result :
       {FusedFlce(problem, {{0, 2}, {2, 4}}), GuardedFlce(problem, {{0, 4}}), ReferenceFlce(problem)}) {
    EXPECT_EQ(result.loss.item<double>(), 0);
    EXPECT_EQ(result.grad_x.abs().max().item<double>(), 0);
    EXPECT_EQ(result.grad_w.abs().max().item<double>(), 0);
  }
}

TEST(FormsTest, TheFusedProductIsNotRoundedAndTheGuardedOneIs) {
  // 1.0078125 squared needs 15 bits: it survives in f32 and not in bf16.
  const at::Tensor left = at::full({1, 1}, 1.0078125).to(at::kBFloat16);
  at::Tensor fused = at::zeros({1, 1}), guarded = at::zeros({1, 1});
  AddProductInFp32(fused, left, left);
  AddRoundedProduct(guarded, left, left);
  EXPECT_EQ(fused.item<double>(), 1.0078125 * 1.0078125);
  EXPECT_EQ(guarded.item<double>(), 1.015625);
}

TEST(BoundTest, HoldsOverManySeedsMasksAndChunks) {
  for (int64_t seed = 0; seed < 12; ++seed) {
    at::manual_seed(static_cast<uint64_t>(seed));
    const at::ScalarType dtype = seed % 3 == 2 ? at::kHalf : at::kBFloat16;
    at::Tensor target = at::randint(50, {24});
    target.masked_fill_(at::rand({24}).lt(0.1 * static_cast<double>(seed % 5)), -100);
    const Problem problem =
        Problem::Make(at::randn({24, 12}).to(dtype),
                      at::randn({50, 12}).mul(seed % 2 == 0 ? 1.0 : 0.1).to(dtype), target)
            .value();
    const std::vector<Chunk> chunks = Chunks(24, 12, 50, ChunkRule{1 + seed % 4});
    const at::Tensor fused = FusedFlce(problem, chunks).grad_w.to(at::kDouble);
    const at::Tensor guarded = GuardedFlce(problem, chunks).grad_w.to(at::kDouble);
    const GradWBlock block = GradWBound(problem, chunks).Block(0, 50, fused);
    EXPECT_TRUE((fused - guarded).abs().le(block.rounding).all().item<bool>()) << seed;
    EXPECT_TRUE(fused.ge(block.fused_low).logical_and(fused.le(block.fused_high)).all().item<bool>()) << seed;
    EXPECT_TRUE(guarded.ge(block.guarded_low).logical_and(guarded.le(block.guarded_high)).all().item<bool>())
        << seed;
    EXPECT_GT(block.rounding.max().item<double>(), 0) << seed;
  }
}

TEST(BoundTest, ALossSumOfOneRowHasNoOrder) {
  EXPECT_EQ(LossSumBound(7.0, 1), 0);
  EXPECT_NEAR(LossSumBound(8.0, 3), 2 * 2 * 8.0 * std::ldexp(1.0, -24), 1e-12);
}

TEST(ProblemTest, WrongInputsAreNamed) {
  const at::Tensor x = at::zeros({2, 3}, at::kBFloat16), w = at::zeros({4, 3}, at::kBFloat16),
                   target = at::zeros({2}, at::kLong);
  const auto message = [](const Result<Problem>& problem) {
    return problem.ok() ? "" : problem.error().message;
  };
  using ::testing::HasSubstr;
  EXPECT_EQ(message(Problem::Make(x, w, target)), "");
  EXPECT_THAT(message(Problem::Make(x.to(at::kFloat), w, target)), HasSubstr("x is neither bf16 nor f16"));
  EXPECT_THAT(message(Problem::Make(x, w.to(at::kHalf), target)), HasSubstr("x and w differ in dtype"));
  EXPECT_THAT(message(Problem::Make(x, w, target.to(at::kInt))), HasSubstr("the target is not i64"));
  EXPECT_THAT(message(Problem::Make(x, w, at::zeros({3}, at::kLong))), HasSubstr("differ in rows"));
  EXPECT_THAT(message(Problem::Make(x, at::zeros({4, 2}, at::kBFloat16), target)),
              HasSubstr("differ in columns"));
  EXPECT_THAT(message(Problem::Make(x, w, at::full({2}, 4, at::kLong))), HasSubstr("outside the vocabulary"));
}

}  // namespace
}  // namespace flce
