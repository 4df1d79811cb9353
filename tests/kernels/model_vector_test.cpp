#include "kernels/model_vector.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/instruction_set.h"

namespace fedvg::kernels {
namespace {

class ModelVector : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != "aten" && !kernels_of(GetParam())) GTEST_SKIP() << "not on this processor";
    use_.emplace(kernels_of(GetParam()));
  }
  std::optional<UseKernels> use_;
};

// A fused multiply-add rounds once, so each number has one right value.
TEST_P(ModelVector, AddsAScaledVectorAsOneMultiplyAdd) {
  for (const std::int64_t size : {0, 1, 7, 8, 15, 16, 17, 33, 4099}) {
    SCOPED_TRACE(size);
    const at::Tensor x = at::randn({size}), before = at::randn({size}, at::kDouble);
    at::Tensor sum = before.clone();
    add_scaled(sum, x, 0.3);
    for (std::int64_t i = 0; i < size; ++i) {
      const double right = std::fma(0.3, static_cast<double>(x.const_data_ptr<float>()[i]),
                                    before.const_data_ptr<double>()[i]);
      EXPECT_DOUBLE_EQ(sum.const_data_ptr<double>()[i], right) << i;
    }
  }
}

TEST_P(ModelVector, AddsToSlicesAndOtherTypes) {
  const at::Tensor x = at::randn({40});
  at::Tensor sum = at::zeros({40}, at::kDouble);
  add_scaled(sum.narrow(0, 3, 20), x.narrow(0, 5, 20), 2);
  EXPECT_TRUE(at::equal(sum.narrow(0, 3, 20), x.narrow(0, 5, 20).to(at::kDouble).mul(2)));
  EXPECT_EQ(sum.narrow(0, 0, 3).abs().sum().item<double>(), 0);
  EXPECT_EQ(sum.narrow(0, 23, 17).abs().sum().item<double>(), 0);
  at::Tensor doubles = at::zeros({40}, at::kDouble);
  add_scaled(doubles, x.to(at::kDouble), -1);
  EXPECT_TRUE(at::equal(doubles, x.to(at::kDouble).neg()));
  at::Tensor every_other = at::zeros({80}, at::kDouble).slice(0, 0, 80, 2);
  add_scaled(every_other, x, 2);
  EXPECT_TRUE(at::equal(every_other, x.to(at::kDouble).mul(2)));
}

TEST_P(ModelVector, FindsWhatIsNotFiniteWhereverItIs) {
  constexpr float kWrong[] = {
      std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
      std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()};
  for (const std::int64_t size : {1, 16, 31, (1 << 14) + 5}) {
    at::Tensor x = at::randn({size});
    x[0] = std::numeric_limits<float>::max();
    x[size / 2] = std::numeric_limits<float>::denorm_min();
    EXPECT_TRUE(all_finite(x)) << size;
    for (const std::int64_t place : {std::int64_t{0}, size / 2, size - 1}) {
      for (const float wrong : kWrong) {
        at::Tensor bad = x.clone();
        bad[place] = wrong;
        EXPECT_FALSE(all_finite(bad)) << wrong << " at " << place << " of " << size;
        EXPECT_FALSE(all_finite(bad.to(at::kDouble)));
      }
    }
  }
  EXPECT_TRUE(all_finite(at::zeros({0})));
  EXPECT_TRUE(all_finite(at::zeros({3}, at::kLong)));
}

INSTANTIATE_TEST_SUITE_P(Sets, ModelVector, testing::Values("avx512", "avx2", "aten"),
                         [](const auto& set) { return set.param; });

}  // namespace
}  // namespace fedvg::kernels
