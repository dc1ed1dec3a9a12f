// Both forms on the CPU, and the bound, against what a real GPU computed from the same inputs.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/numerics/tensor_io.h"
#include "kernels/bound/grad_w_bound.h"
#include "kernels/fused/fused.h"
#include "kernels/guarded/guarded.h"
#include "kernels/reference/reference.h"

namespace flce {
namespace {

at::Tensor Double(const at::Tensor& tensor) { return tensor.to(at::kDouble); }
double Largest(const at::Tensor& tensor) { return tensor.abs().max().item<double>(); }
int64_t CountOutside(const at::Tensor& value, const at::Tensor& low, const at::Tensor& high) {
  return value.ge(low).logical_and(value.le(high)).logical_not().sum().item<int64_t>();
}

class RecordedTest : public ::testing::TestWithParam<const char*> {
 protected:
  RecordedTest()
      : file_(SafetensorsFile::Open(FLCE_SOURCE_DIR "/kernels/testdata/recorded_guard.safetensors").value()),
        problem_(LoadProblem(file_, Case(), at::kCPU).value()),
        chunks_(Chunks(problem_.Rows(), problem_.Hidden(), problem_.Vocabulary(),
                       ChunkRule::Of(*Version::Parse("0.8.2"), {}).value())) {}

  static std::string Case() { return std::string(GetParam()) + "/"; }
  at::Tensor Recorded(const char* name) { return LoadTensor(file_, Case() + name).value(); }
  GradWBlock Bound(const std::optional<at::Tensor>& eager) {
    return GradWBound(problem_, chunks_).Block(0, problem_.Vocabulary(), eager);
  }
  // A single value that rounds the other way moves the largest error, so that a device is held to what a fix
  // is held to.
  static constexpr double kErrorFactor = 2;
  // How much larger than the recorded run's a gradient's error to f64 is.
  static double ErrorRatio(const at::Tensor& ours, const at::Tensor& recorded, const at::Tensor& reference) {
    return Largest(Double(ours) - reference) / Largest(Double(recorded) - reference);
  }

  SafetensorsFile file_;
  Problem problem_;
  std::vector<Chunk> chunks_;
};

TEST_P(RecordedTest, TheFusedFormAgreesWithEager) {
  const Gradients ours = FusedFlce(problem_, chunks_);
  const GradWBlock block = Bound({});
  const at::Tensor recorded = Double(Recorded("eager/grad_w"));
  EXPECT_EQ(CountOutside(recorded, block.fused_low, block.fused_high), 0);
  EXPECT_EQ(CountOutside(Double(ours.grad_w), block.fused_low, block.fused_high), 0);
  EXPECT_EQ(CountOutside((Double(ours.grad_w) - recorded).abs(), at::zeros_like(recorded), block.rounding),
            0);
  EXPECT_NEAR(ours.loss.item<double>(), Recorded("eager/loss").item<double>(),
              LossSumBound(ours.loss.item<double>(), problem_.Rows()));
  const Gradients reference = ReferenceFlce(problem_);
  EXPECT_LE(ErrorRatio(ours.grad_x, Recorded("eager/grad_x"), reference.grad_x), kErrorFactor);
  EXPECT_LE(ErrorRatio(ours.grad_w, Recorded("eager/grad_w"), reference.grad_w), kErrorFactor);
}

TEST_P(RecordedTest, TheGuardedFormAgreesWithTheCompiledGuard) {
  const Gradients ours = GuardedFlce(problem_, chunks_);
  const GradWBlock block = Bound({});
  const at::Tensor recorded = Double(Recorded("compiled/grad_w"));
  EXPECT_EQ(CountOutside(recorded, block.guarded_low, block.guarded_high), 0);
  EXPECT_EQ(CountOutside(Double(ours.grad_w), block.guarded_low, block.guarded_high), 0);
  EXPECT_EQ(CountOutside((Double(ours.grad_w) - Double(Recorded("eager/grad_w"))).abs(),
                         at::zeros_like(recorded), block.rounding),
            0);
  EXPECT_NEAR(ours.loss.item<double>(), Recorded("compiled/loss").item<double>(),
              LossSumBound(ours.loss.item<double>(), problem_.Rows()));
}

TEST_P(RecordedTest, TheFormsDifferByNoMoreThanTheBoundAndTheBoundIsTight) {
  const at::Tensor eager = Recorded("eager/grad_w");
  const at::Tensor difference = (Double(eager) - Double(Recorded("compiled/grad_w"))).abs();
  const at::Tensor bound = Bound(eager).rounding;
  EXPECT_EQ(CountOutside(difference, at::zeros_like(bound), bound), 0);
  EXPECT_GT(Largest(difference), 0);
  EXPECT_LE(Largest(bound), 4 * Largest(difference));
  RecordProperty("bound_over_seen", std::to_string(Largest(bound) / Largest(difference)));
  // Without the eager result the bound is wider, but it must still hold and still be tight.
  const at::Tensor blind = Bound({}).rounding;
  EXPECT_EQ(CountOutside(difference, at::zeros_like(blind), blind), 0);
  EXPECT_LE(Largest(blind), 4 * Largest(difference));
}

TEST_P(RecordedTest, BlocksOfTheVocabularyMakeUpTheWhole) {
  const GradWBound bounds(problem_, chunks_);
  const at::Tensor eager = Recorded("eager/grad_w");
  const GradWBlock whole = bounds.Block(0, problem_.Vocabulary(), eager);
  const int64_t half = problem_.Vocabulary() / 2;
  const GradWBlock part = bounds.Block(half, problem_.Vocabulary(), eager.slice(0, half));
  EXPECT_TRUE(part.rounding.allclose(whole.rounding.slice(0, half), 1e-12, 0));
}

INSTANTIATE_TEST_SUITE_P(Cases, RecordedTest, ::testing::Values("seed", "mid", "mid-fp16", "ignore"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace flce
