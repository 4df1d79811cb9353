#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "models/testing.h"

namespace fedvg {
namespace {

// 6*25 + 6 + 16*6*25 + 16 + 400*120 + 120 + 120*84 + 84 + 84*10 + 10: LeCun's but for the
// connections of the second convolution and the output layer.
TEST(Lenet5, HasTheParametersOfItsLayers) {
  const auto model = build_model("lenet5", {1, 28, 28, 10});
  EXPECT_EQ(count_parameters(*model), 61706);
  EXPECT_EQ(names_of(model->parameters()),
            (std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                      "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias",
                                      "fc3.weight", "fc3.bias"}));
  EXPECT_EQ(model->head(), "fc3");
  EXPECT_EQ(count_parameters(*build_model("lenet5", {1, 32, 32, 10})), 61706);
}

TEST(Lenet5, TakesItsWidthsFromTheData) {
  for (const auto& [height, width] : {std::pair{28, 28}, {32, 32}, {12, 40}, {13, 12}, {64, 33}}) {
    const auto model = build_model("lenet5", {3, height, width, 7});
    const Output output = model->forward(at::zeros({2, 3, height, width}), Mode::train);
    EXPECT_EQ(output.logits.sizes().vec(), (std::vector<std::int64_t>{2, 7}));
    EXPECT_EQ(output.features.sizes().vec(), (std::vector<std::int64_t>{2, 84}));
  }
}

TEST(Lenet5, RefusesImagesThatVanish) {
  EXPECT_THROW(build_model("lenet5", {1, 11, 28, 10}), OptionError);
  EXPECT_THROW(build_model("lenet5", {1, 28, 11, 10}), OptionError);
}

}  // namespace
}  // namespace fedvg
