// Layers with loops of our own against libtorch's operators: forward and backward of a batch
// of 32, in channels_last.

#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <vector>

#include "kernels/convolution.h"
#include "kernels/instruction_set.h"
#include "kernels/layout.h"
#include "kernels/relu_max_pool.h"

namespace fedvg {
namespace {

constexpr std::int64_t kBatch = 32;

at::Tensor leaf(std::initializer_list<std::int64_t> shape) {
  return kernels::plain(at::randn(shape)).set_requires_grad(true);
}

/// One forward pass and the backward from its output to the leaves.
template <class Forward>
void both_ways(benchmark::State& state, std::vector<at::Tensor> leaves, const Forward& forward) {
  const at::Tensor gradient = kernels::plain(at::randn(forward().sizes()));
  for (auto _ : state) {
    forward().backward(gradient);
    for (at::Tensor& one : leaves) one.mutable_grad().reset();
  }
  state.SetItemsProcessed(state.iterations() * kBatch);  // images
}

void relu_max_pool(benchmark::State& state, const std::string& set, std::int64_t channels,
                   std::int64_t side) {
  const kernels::UseKernels use(kernels::kernels_of(set));
  const at::Tensor x = leaf({kBatch, channels, side, side});
  both_ways(state, {x}, [&] { return kernels::relu_max_pool(x); });
}

struct Convolution {
  const char* name;
  std::int64_t in, out, kernel, side, stride, padding;
};

void convolution(benchmark::State& state, const std::string& set, const Convolution& shape) {
  const kernels::UseKernels use(kernels::kernels_of(set));
  const at::Tensor x = leaf({kBatch, shape.in, shape.side, shape.side});
  const at::Tensor weight = leaf({shape.out, shape.in, shape.kernel, shape.kernel});
  both_ways(state, {x, weight}, [&] {
    return kernels::convolution(x, weight, std::nullopt, shape.stride, shape.padding);
  });
}

constexpr Convolution kConvolutions[] = {
    {"cnn_conv2", 32, 64, 5, 12, 1, 0},        {"resnet_layer1", 64, 64, 3, 8, 1, 1},
    {"resnet_layer2", 128, 128, 3, 4, 1, 1},   {"resnet_layer3_0", 128, 256, 3, 4, 2, 1},
    {"resnet_layer4_1", 512, 512, 3, 1, 1, 1},
};

// Each instruction set of this processor, which is known only when the program runs.
[[maybe_unused]] const bool registered = [] {
  for (const std::string& set : kernels::instruction_sets()) {
    const auto add = [&set](const std::string& name, auto run) {
      benchmark::RegisterBenchmark((name + "/" + set).c_str(), run)->Unit(benchmark::kMicrosecond);
    };
    add("relu_max_pool/cnn_1", [set](auto& state) { relu_max_pool(state, set, 32, 24); });
    add("relu_max_pool/cnn_2", [set](auto& state) { relu_max_pool(state, set, 64, 8); });
    for (const Convolution& shape : kConvolutions) {
      add(std::string("convolution/") + shape.name,
          [set, shape](auto& state) { convolution(state, set, shape); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace fedvg
