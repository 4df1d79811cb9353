#include "fedvg/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithms/optimizers/local_testing.h"

namespace fedvg {
namespace {

using namespace testing;

std::vector<double> clipped(std::vector<double> values, double most) {
  at::Tensor gradient = vector(values);
  clip_to_norm(gradient, most);
  return numbers(gradient);
}

// (3, 4) has norm 5: times 1 / (5 + 1e-6).
TEST(Clip, ScalesALongGradient) {
  EXPECT_DOUBLE_EQ(clipped({3, 4}, 1)[0], 3 / 5.000001);
  EXPECT_DOUBLE_EQ(clipped({3, 4}, 1)[1], 4 / 5.000001);
}

// 5 / 5.000001 is below 1: a gradient of just the limit is scaled by that, as in PyTorch.
TEST(Clip, LeavesAShortGradientAlone) {
  EXPECT_EQ(clipped({3, 4}, 6), (std::vector<double>{3, 4}));
  EXPECT_DOUBLE_EQ(clipped({3, 4}, 5)[0], 3 * (5 / 5.000001));
  EXPECT_EQ(clipped({0, 0}, 1), (std::vector<double>{0, 0}));
}

TEST(Clip, IsOffAtZero) { EXPECT_EQ(clipped({3e9, 4e9}, 0), (std::vector<double>{3e9, 4e9})); }

// The squares of 3e20 and 4e20 are no float32 numbers; the gradient is a long one, not none.
TEST(Clip, BearsGradientsWhoseSquaresOverflow) {
  at::Tensor gradient = at::tensor({3e20F, 4e20F}, at::kFloat);
  clip_to_norm(gradient, 10);
  EXPECT_FLOAT_EQ(gradient[0].item<float>(), 6);
  EXPECT_FLOAT_EQ(gradient[1].item<float>(), 8);
}

// What is not finite must stay so, for the guards to see.
TEST(Clip, DoesNotHideWhatIsNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(std::isfinite(clipped({bad, 1}, 1)[0]));
  }
}

}  // namespace
}  // namespace fedvg
