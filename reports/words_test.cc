#include "reports/words.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

TensorComparison Differing(double max_abs, double max_ulp) {
  TensorComparison comparison;
  comparison.mismatches = 1;
  comparison.max_abs = max_abs;
  comparison.max_ulp = max_ulp;
  return comparison;
}

TEST(NumericsWords, NameTheUsualTensorsFirstAndCountTheGradientsOfAModel) {
  CellRecord cell;
  EXPECT_EQ(NumericsWords(cell), "");
  cell.numerics.emplace();
  cell.numerics->computed = true;
  TensorComparison same;
  same.bitwise = true;
  cell.numerics->tensors = {{"grad_bias", Differing(0.5, 1)}, {"grad_w", same}, {"loss", Differing(0, 0)}};
  EXPECT_EQ(NumericsWords(cell),
            "loss differs by a NaN or the sign of a zero; grad_w bitwise equal; grad_bias differs by up to 0.5 (1 ulp)");
  cell.numerics->tensors = {{"result", same}};
  EXPECT_EQ(NumericsWords(cell), "result bitwise equal");
  cell.numerics->tensors = {{"grad_m.a", same}, {"grad_m.b", Differing(0.5, 1)}, {"grad_m.c", same}, {"loss", same}};
  EXPECT_EQ(NumericsWords(cell), "loss bitwise equal; 3 other gradients, 2 of them bitwise equal");
}

}  // namespace
}  // namespace flce
