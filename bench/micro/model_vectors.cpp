// What is done once a client or once a step with vectors of the model's size.

#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include "engine/combiners/update_sum.h"
#include "fedvg/local_optimizer.h"
#include "fedvg/weighting.h"
#include "micro/networks.h"

namespace fedvg {
namespace {

void count_bytes(benchmark::State& state, const at::Tensor& flat) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(flat.nbytes()));
}

/// Adds one client's update to the sums in double.
void combiner(benchmark::State& state, const char* network) {
  const Layout layout = layout_named(network);
  ClientUpdate update{.samples = 1, .steps = 1};
  update.delta = at::randn({layout.size()});
  UpdateSum sum(layout, 1);
  for (auto _ : state) sum.add(update, {{{2}, {2}}}, {1});
  count_bytes(state, update.delta);
}

/// D_val's gradient, as if it had been taken.
class GivenGradient final : public Evaluator {
 public:
  explicit GivenGradient(const Layout& layout)
      : layout_(layout), gradient_(at::randn({layout.size()})) {}
  bool has_validation() const override { return true; }
  const at::Tensor& gradient() override { return gradient_; }
  double accuracy() override { return 0; }
  const Layout& layout() const override { return layout_; }
  std::span<const std::int64_t> buffer_blocks() const override { return {}; }

 private:
  const Layout& layout_;
  at::Tensor gradient_;
};

/// From D_val's gradient to a client's score.
void norms(benchmark::State& state, const char* network, const char* norm) {
  const Layout layout = layout_named(network);
  const auto rule = Registry<WeightingRule>::instance().make("fedvg", Table{{"norm", norm}});
  GivenGradient evaluator(layout);
  const at::Tensor global = at::randn({layout.size()});
  const Round round{1, 1, global, layout, {}};
  const ClientUpdate update{.samples = 1, .steps = 1};
  for (auto _ : state) benchmark::DoNotOptimize(rule->assess(round, update, evaluator));
  count_bytes(state, global);
}

void sgd_step(benchmark::State& state, const char* network, double momentum) {
  const Layout layout = layout_named(network);
  const auto optimizer =
      Registry<LocalOptimizer>::instance().make("sgd", Table{{"momentum", momentum}});
  at::Tensor parameters = at::randn({layout.size()}), gradient = at::randn({layout.size()});
  for (auto _ : state) optimizer->step(parameters, gradient, 1e-6);
  count_bytes(state, parameters);
}

BENCHMARK_CAPTURE(combiner, cnn, "cnn")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(combiner, resnet18, "resnet18")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(norms, cnn_l1, "cnn", "l1")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(norms, cnn_l2, "cnn", "l2")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(norms, resnet18_l1, "resnet18", "l1")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sgd_step, cnn, "cnn", 0)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sgd_step, cnn_momentum, "cnn", 0.9)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(sgd_step, resnet18, "resnet18", 0)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fedvg
