// Scoring batches of a network with BatchNorm that go through it together.

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "engine/worker.h"
#include "fedvg/registry.h"
#include "kernels/instruction_set.h"

namespace fedvg {
namespace {

constexpr std::int64_t kImages = 300, kSide = 16, kClasses = 5, kBatch = 32;

Samples random_images() {
  Samples samples{.channels = 1, .height = kSide, .width = kSide};
  Random random(1, "test");
  for (std::int64_t i = 0; i < kImages * kSide * kSide; ++i) {
    samples.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
  }
  for (std::int64_t i = 0; i < kImages; ++i) {
    samples.labels.push_back(static_cast<std::int64_t>(random.below(kClasses)));
  }
  return samples;
}

class JoinedScoring : public ::testing::TestWithParam<std::string> {};

TEST_P(JoinedScoring, IsTheSumOverItsBatches) {
  const kernels::UseKernels use(kernels::kernels_of(GetParam()));
  const Samples samples = random_images();
  const ByteStore store(samples, {.channels_last = true}, {});
  Table options;
  options.set("norm", std::string("batch"));
  const auto builder = Registry<ModelBuilder>::instance().make("cnn", options);
  const auto build = [&] { return builder->build({1, kSide, kSide, kClasses}); };
  const auto model = build();
  ASSERT_TRUE(model->groups_statistics());
  const Layout layout = layout_of(*model, true);

  const auto gradient_over = [&](const std::vector<std::int64_t>& ids) {
    const Worker::Validation validation{&store, cut(ids, kBatch, true), Mode::batch_statistics};
    Worker worker(build, layout, {.channels_last = true},
                  Registry<LocalOptimizer>::instance().make("sgd"), validation);
    Random random(1, "initial-model");
    worker.model().initialize(random);
    return worker.gradient().to(at::kDouble);
  };
  // 300 images: eight batches of 32 go together, then one of 32 and the last of 12.
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < kImages; ++i) all.push_back(i);
  at::Tensor sum = at::zeros({layout.size()}, at::kDouble);
  for (std::int64_t begin = 0; begin < kImages; begin += kBatch) {
    const auto end = std::min(begin + kBatch, kImages);
    const auto part = gradient_over({all.begin() + begin, all.begin() + end});
    sum.add_(part, static_cast<double>(end - begin) / kImages);
  }
  const at::Tensor joined = gradient_over(all);
  const double size = sum.norm().item<double>();
  ASSERT_GT(size, 0);
  // libtorch sums a convolution in an order that depends on the batch.
  EXPECT_LT(joined.sub(sum).norm().item<double>(), (GetParam() == "aten" ? 1e-5 : 1e-6) * size);
}

INSTANTIATE_TEST_SUITE_P(Instances, JoinedScoring, ::testing::ValuesIn(kernels::instruction_sets()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace fedvg
