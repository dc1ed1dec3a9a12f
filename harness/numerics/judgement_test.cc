#include "harness/numerics/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace flce {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Claim MakeClaim(ClaimKind grad_w) {
  return {"guard",
          *VersionRange::Parse("*"),
          {{"loss", {ClaimKind::kSummation, "order"}},
           {"grad_x", {ClaimKind::kBitwise, "same"}},
           {"grad_w", {grad_w, "why"}},
           {"*", {ClaimKind::kReference, "rest"}}}};
}

TensorDiff Diff(const std::string& name, std::vector<int64_t> shape, const std::vector<float>& a,
                const std::vector<float>& b) {
  TensorDiff diff;
  diff.name = name;
  diff.shape = std::move(shape);
  AddRange(DType::kF32, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), 0, &diff.stats);
  return diff;
}

FileComparison Equal() {
  FileComparison comparison;
  comparison.tensors = {Diff("loss", {}, {1}, {1}), Diff("grad_x", {1, 2}, {1, 2}, {1, 2}),
                        Diff("grad_w", {1, 2}, {1, 2}, {1, 2})};
  return comparison;
}

TEST(JudgementTest, EqualBitsSatisfyEveryClaim) {
  for (const ClaimKind kind : {ClaimKind::kBitwise, ClaimKind::kChunkRounding}) {
    EXPECT_TRUE(Judge(Equal(), MakeClaim(kind), {}, 2).Holds());
  }
}

TEST(JudgementTest, ABitwiseClaimIsBrokenByOneElement) {
  FileComparison comparison = Equal();
  comparison.tensors[1] = Diff("grad_x", {1, 2}, {1, 2}, {1, std::nextafter(2.0F, 3.0F)});
  EXPECT_THAT(Judge(comparison, MakeClaim(ClaimKind::kBitwise), {}, 2).violations,
              ElementsAre("grad_x: claimed bitwise equal, but 1 of 2 elements differ, first at [0, 1] (2 "
                          "against 2), max abs 2.38419e-07"));
}

TEST(JudgementTest, ARoundingClaimNeedsItsBound) {
  FileComparison comparison = Equal();
  comparison.tensors[2] = Diff("grad_w", {1, 2}, {1, 2}, {1, 2.5});
  Measures measures;
  measures.missing = "the target is not i64";
  EXPECT_THAT(Judge(comparison, MakeClaim(ClaimKind::kChunkRounding), measures, 2).violations,
              ElementsAre(HasSubstr("no bound could be derived: the target is not i64")));
  measures.bounds["grad_w"] = {0.5, 0, {}, {}, 0, 0};
  EXPECT_TRUE(Judge(comparison, MakeClaim(ClaimKind::kChunkRounding), measures, 2).Holds());
  measures.bounds["grad_w"] = {0.25, 1, {{{0, 1}, 0.5, 0.25}}, {}, 0, 0};
  EXPECT_THAT(Judge(comparison, MakeClaim(ClaimKind::kChunkRounding), measures, 2).violations,
              ElementsAre("grad_w: 1 elements differ by more than their bound, first at [0, 1] by 0.5 where "
                          "0.25 can be rounding"));
}

TEST(JudgementTest, ANanIsNoRounding) {
  FileComparison comparison = Equal();
  comparison.tensors[2] = Diff("grad_w", {1, 2}, {1, 2}, {1, std::nanf("")});
  Measures measures;
  measures.bounds["grad_w"] = {0.5, 0, {}, {}, 0, 0};
  EXPECT_THAT(Judge(comparison, MakeClaim(ClaimKind::kChunkRounding), measures, 2).violations,
              ElementsAre("grad_w: 1 NaN on one side only, first seen at [0, 1]"));
}

TEST(JudgementTest, TheCompiledRunMayNotBeMuchWorseThanEager) {
  struct Row {
    double eager, compiled, unit;
    bool holds;
  };
  const Row rows[] = {{1e-3, 2e-3, 0, true},    {1e-3, 2.1e-3, 0, false}, {0, 2e-3, 1e-3, true},
                      {0, 2.1e-3, 1e-3, false}, {0, 0, 0, true},          {1e-3, std::nan(""), 0, false}};
  for (const Row& row : rows) {
    Measures measures;
    measures.oracle["grad_w"] = {{row.eager, 0}, {row.compiled, 0}, row.unit};
    EXPECT_EQ(Judge(Equal(), MakeClaim(ClaimKind::kBitwise), measures, 2).Holds(), row.holds)
        << row.eager << " " << row.compiled;
  }
}

TEST(JudgementTest, WhatIsMissingIsViolated) {
  FileComparison comparison = Equal();
  comparison.tensors.erase(comparison.tensors.begin());
  comparison.tensors[1].pairing = Pairing::kShapesDiffer;
  comparison.tensors[1].detail = "[1] against [2]";
  EXPECT_THAT(Judge(comparison, MakeClaim(ClaimKind::kBitwise), {}, 2, {"loss", "grad_x", "grad_w"}).violations,
              ElementsAre("loss: neither run returned it", "grad_w: cannot be compared: [1] against [2]"));
  EXPECT_THAT(Judge({}, MakeClaim(ClaimKind::kBitwise), {}, 2).violations, ElementsAre("neither run returned a tensor"));
}

TEST(JudgementTest, ACaseIsHeldToWhatItReturnsAndAllOfThat) {
  FileComparison comparison;
  comparison.tensors = {Diff("result", {1, 2}, {1, 2}, {1, 2})};
  const Claim claim = MakeClaim(ClaimKind::kBitwise);
  EXPECT_TRUE(Judge(comparison, claim, {}, 2).Holds()) << "an operator has no gradients";
  comparison.tensors = {Diff("grad_model.head", {1, 2}, {1, 2}, {1, 2.5})};
  EXPECT_THAT(Judge(comparison, claim, {}, 2).violations,
              ElementsAre(HasSubstr("grad_model.head: reference is claimed and 1 of 2 elements differ")));
  Measures measures;
  measures.oracle["grad_model.head"] = {{0.3, 0.1}, {0.5, 0.1}, 0.01, false};
  const Judgement near = Judge(comparison, claim, measures, 2);
  EXPECT_TRUE(near.Holds());
  EXPECT_EQ(ToJson(near)["grad_model.head"]["fp32_run"]["compiled"]["max_abs"], 0.5);
  EXPECT_FALSE(ToJson(near)["grad_model.head"].contains("fp64"));
  measures.oracle["grad_model.head"].compiled.max_abs = 0.7;
  EXPECT_THAT(Judge(comparison, claim, measures, 2).violations,
              ElementsAre("grad_model.head: its largest error to a run in f32 is 0.7, eager's is 0.3; at most 0.6 is allowed"));
}

TEST(JudgementTest, WithoutABoundTheReferenceDecides) {
  FileComparison comparison = Equal();
  comparison.tensors[2] = Diff("grad_w", {1, 2}, {1, 2}, {1, 2.5});
  Measures measures;
  measures.missing = "the case sets 'bias'";
  measures.oracle["grad_w"] = {{0.3, 0.1}, {0.5, 0.1}, 0.01, false};
  EXPECT_TRUE(Judge(comparison, MakeClaim(ClaimKind::kChunkRounding), measures, 2).Holds());
  EXPECT_FALSE(Judge(comparison, MakeClaim(ClaimKind::kBitwise), measures, 2).Holds()) << "equal bits are equal bits";
  measures.oracle["grad_w"].compiled.rms = 0.3;
  EXPECT_THAT(Judge(comparison, MakeClaim(ClaimKind::kChunkRounding), measures, 2).violations,
              ElementsAre(HasSubstr("root mean square error to a run in f32")));
}

TEST(JudgementTest, JsonIsTheReportsNumerics) {
  Measures measures;
  measures.bounds["grad_w"] = {0.5, 0, {}, {}, 0, 0};
  measures.oracle["grad_w"] = {{0.1, 0.05}, {0.2, 0.06}, 0.01};
  const nlohmann::ordered_json json =
      ToJson(Judge(Equal(), MakeClaim(ClaimKind::kChunkRounding), measures, 2));
  EXPECT_EQ(json["computed"], true);
  EXPECT_EQ(json["loss"]["bitwise"], true);
  EXPECT_EQ(json["grad_w"]["bound"], 0.5);
  EXPECT_EQ(json["grad_w"]["within_bound"], true);
  EXPECT_EQ(json["grad_w"]["ulp_histogram"]["0"], 2);
  EXPECT_EQ(json["grad_w"]["fp64"]["compiled"]["max_abs"], 0.2);
  EXPECT_EQ(json["grad_w"]["claim"]["claim"], "chunk_rounding");
  EXPECT_FALSE(json["grad_x"].contains("bound"));
  EXPECT_THAT(json["violations"], IsEmpty());
}

}  // namespace
}  // namespace flce
