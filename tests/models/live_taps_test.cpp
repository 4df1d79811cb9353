#include "models/live_taps.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/instruction_set.h"
#include "models/network.h"
#include "models/testing.h"

namespace fedvg {
namespace {

/// Whether one tap of a kernel along a side, the others 0, sees an image of ones anywhere.
bool sees(std::int64_t tap, std::int64_t extent, std::int64_t kernel, std::int64_t stride,
          std::int64_t padding) {
  at::Tensor weight = at::zeros({1, 1, 1, kernel}, at::kDouble);
  weight[0][0][0][tap].fill_(1);
  const at::Tensor x = at::ones({1, 1, 1, extent}, at::kDouble);
  return at::conv2d(x, weight, {}, at::IntArrayRef{1, stride}, at::IntArrayRef{0, padding})
             .abs()
             .sum()
             .item<double>() > 0;
}

TEST(LiveRange, LeavesOutWhatSeesNoPixelAndNothingElse) {
  std::int64_t cropped = 0;
  for (std::int64_t extent = 1; extent <= 9; ++extent) {
    for (std::int64_t kernel = 1; kernel <= 7; ++kernel) {
      for (std::int64_t stride = 1; stride <= 3; ++stride) {
        for (std::int64_t padding = 0; padding <= 4; ++padding) {
          if (extent + 2 * padding < kernel) continue;
          SCOPED_TRACE(testing::Message() << extent << " kernel " << kernel << " stride " << stride
                                          << " padding " << padding);
          const TapRange range = live_range(extent, kernel, stride, padding);
          ASSERT_GE(range.first, 0);
          ASSERT_GE(range.count, 1);
          ASSERT_LE(range.first + range.count, kernel);
          for (std::int64_t tap = 0; tap < kernel; ++tap) {
            const bool kept = tap >= range.first && tap < range.first + range.count;
            EXPECT_TRUE(kept || !sees(tap, extent, kernel, stride, padding)) << tap;
          }
          if (range.count == kernel) continue;
          ++cropped;
          EXPECT_TRUE(sees(range.first, extent, kernel, stride, padding));
          EXPECT_TRUE(sees(range.first + range.count - 1, extent, kernel, stride, padding));
          const at::Tensor x = at::rand({2, 3, 1, extent}, at::kDouble);
          const at::Tensor w = at::rand({4, 3, 1, kernel}, at::kDouble);
          const at::Tensor whole =
              at::conv2d(x, w, {}, at::IntArrayRef{1, stride}, at::IntArrayRef{0, padding});
          const at::Tensor live =
              at::conv2d(x, w.narrow(3, range.first, range.count), {}, at::IntArrayRef{1, stride},
                         at::IntArrayRef{0, range.padding});
          ASSERT_EQ(whole.sizes(), live.sizes());
          EXPECT_LT(whole.sub(live).abs().max().item<double>(), 1e-14);
        }
      }
    }
  }
  EXPECT_GT(cropped, 30);
}

TEST(LiveRange, IsThatOfThreeByThreeOnTinyMaps) {
  const auto is = [](const TapRange& range, std::int64_t first, std::int64_t count,
                     std::int64_t padding) {
    return range.first == first && range.count == count && range.padding == padding;
  };
  EXPECT_TRUE(is(live_range(1, 3, 1, 1), 1, 1, 0));
  EXPECT_TRUE(is(live_range(2, 3, 2, 1), 1, 2, 0));
  EXPECT_TRUE(is(live_range(2, 3, 1, 1), 0, 3, 1));
  EXPECT_TRUE(is(live_range(1, 3, 2, 1), 1, 1, 0));
  EXPECT_TRUE(is(live_range(32, 7, 2, 3), 0, 7, 3));
}

std::int64_t parameters_left(const char* name, std::int64_t side) {
  const ModelInput input{3, side, side, 10};
  const auto model = build_model(name, input);
  model->crop_to_live_taps(input);
  return count_parameters(*model);
}

// layer4 of ResNet-18 on 1x1 maps: 4 taps of 9 of the first kernel, which has stride 2 on 2x2
// maps, and 1 of 9 of the three after it.
TEST(LiveTaps, AreFewInTheLastLayerOfAResnetOnSmallImages) {
  const std::int64_t whole = 11181642, dead = 256 * 512 * 5 + 3 * 512 * 512 * 8;
  EXPECT_EQ(parameters_left("resnet18", 32), whole - dead);
  EXPECT_EQ(parameters_left("resnet18", 28), whole - dead);
  EXPECT_EQ(parameters_left("resnet18", 64), whole);
}

TEST(LiveTaps, AreAllThereWithoutPadding) {
  const ModelInput input{1, 28, 28, 10};
  EXPECT_TRUE(build_model("cnn", input)->crop_to_live_taps(input).empty());
  EXPECT_TRUE(build_model("mlp", input)->crop_to_live_taps(input).empty());
}

TEST(LiveTaps, StayWholeWhereTheSidesWouldNeedUnlikePaddings) {
  Network net;
  net.conv2d("conv", 1, 2, 3, 1, 1).global_avg_pool().linear("fc", 2, 2);
  EXPECT_TRUE(net.crop_to_live_taps({1, 1, 2, 2}).empty());
  EXPECT_EQ(net.parameters()[0].tensor.size(2), 3);
}

TEST(LiveTaps, MayBeMoreAlongOneSide) {
  Network net;
  net.conv2d("conv", 1, 2, 3, 2, 1).global_avg_pool().linear("fc", 2, 2);
  const auto live = net.crop_to_live_taps({1, 1, 2, 2});
  ASSERT_EQ(live.size(), 1);
  EXPECT_EQ(net.parameters()[0].tensor.sizes().vec(), (std::vector<std::int64_t>{2, 1, 1, 2}));
  EXPECT_EQ(live[0].top, 1);
  EXPECT_EQ(live[0].left, 1);
}

/// The live part of a whole weight.
at::Tensor part(const at::Tensor& whole, const std::vector<LiveTaps>& live, std::size_t i) {
  for (const auto& taps : live) {
    if (taps.parameter != i) continue;
    return whole.narrow(2, taps.top, taps.height).narrow(3, taps.left, taps.width);
  }
  return whole;
}

/// A model, and the same cropped: what they say, and their gradients.
void expect_alike(Model& whole, Model& cropped, const ModelInput& input, at::ScalarType type,
                  double tolerance) {
  Random random(3, "initial-model");
  whole.initialize(random);
  const auto live = cropped.crop_to_live_taps(input);
  ASSERT_FALSE(live.empty());
  const auto memory = [&](const at::Tensor& x) {
    return x.dim() == 4 ? x.contiguous(at::MemoryFormat::ChannelsLast) : x.contiguous();
  };
  for (std::size_t i = 0; i < whole.parameters().size(); ++i) {
    at::Tensor w = whole.parameters()[i].tensor;
    w.set_data(memory(w.detach().to(type)));
    cropped.parameters()[i].tensor.set_data(memory(part(w.detach(), live, i).clone()));
  }
  for (Model* model : {&whole, &cropped}) {
    for (auto& buffer : model->buffers()) {
      if (buffer.tensor.is_floating_point()) buffer.tensor.set_data(buffer.tensor.to(type));
    }
  }
  const at::Tensor images = memory(at::rand({4, input.channels, input.height, input.width}, type));
  const at::Tensor a = whole.forward(images, Mode::batch_statistics).logits;
  const at::Tensor b = cropped.forward(images, Mode::batch_statistics).logits;
  EXPECT_LT(a.sub(b).abs().max().item<double>(), tolerance * a.abs().max().item<double>());
  a.square().sum().backward();
  b.square().sum().backward();
  for (std::size_t i = 0; i < whole.parameters().size(); ++i) {
    SCOPED_TRACE(whole.parameters()[i].name);
    const at::Tensor g = whole.parameters()[i].tensor.grad();
    const at::Tensor own = part(g, live, i);
    const at::Tensor other = cropped.parameters()[i].tensor.grad();
    ASSERT_EQ(own.sizes(), other.sizes());
    const double most = tolerance * std::max(1.0, g.abs().max().item<double>());
    EXPECT_LE(own.sub(other).abs().max().item<double>(), most);
    if (own.sizes() == g.sizes()) continue;
    at::Tensor dead = g.clone();
    part(dead, live, i).zero_();
    EXPECT_LE(dead.abs().max().item<double>(), most);
    EXPECT_GT(own.abs().max().item<double>(), 1e-3);
  }
}

TEST(LiveTaps, GiveWhatTheWholeNetworkGives) {
  const ModelInput input{2, 6, 6, 3};
  const auto build = [] {
    auto net = std::make_unique<Network>();
    net->conv2d("a", 2, 4, 3, 1, 1).relu().max_pool(3);          // 6x6, 2x2
    net->conv2d("b", 4, 5, 5, 2, 2).batch_norm("bn", 5).tanh();  // 1x1
    net->conv2d("c", 5, 6, 3, 1, 1).flatten().linear("fc", 6, 3);
    return net;
  };
  const auto whole = build(), cropped = build();
  expect_alike(*whole, *cropped, input, at::kDouble, 1e-12);
}

TEST(LiveTaps, GiveWhatTheWholeResnetGives) {
  for (const char* norm : {"batch", "group"}) {
    const ModelInput input{3, 16, 16, 4};
    const auto whole = build_model("resnet18", input, Table{{"norm", norm}});
    const auto cropped = build_model("resnet18", input, Table{{"norm", norm}});
    expect_alike(*whole, *cropped, input, at::kDouble, 1e-9);
  }
}

class LiveTapsByKernels : public ::testing::TestWithParam<std::string> {};

TEST_P(LiveTapsByKernels, GiveWhatTheWholeNetworkGives) {
  const kernels::UseKernels use(kernels::kernels_of(GetParam()));
  const ModelInput input{16, 4, 4, 5};
  const auto build = [] {
    auto net = std::make_unique<Network>();
    net->conv2d("a", 16, 32, 3, 2, 1, false).tanh();  // 2x2
    net->conv2d("b", 32, 48, 3, 2, 1, false).tanh();  // 1x1
    net->conv2d("c", 48, 32, 3, 1, 1, true).flatten().linear("fc", 32, 5);
    return net;
  };
  const auto whole = build(), cropped = build();
  expect_alike(*whole, *cropped, input, at::kFloat, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Instances, LiveTapsByKernels,
                         ::testing::ValuesIn(kernels::instruction_sets()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace fedvg
