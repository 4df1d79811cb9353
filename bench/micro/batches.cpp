// Assembling a batch: bytes of chosen images become numbers in the model's memory format.

#include <benchmark/benchmark.h>

#include "engine/samples.h"
#include "fedvg/random.h"

namespace fedvg {
namespace {

constexpr std::int64_t kImages = 10'000, kBatch = 32;

void batch_assembly(benchmark::State& state, std::int64_t channels, std::int64_t side) {
  Samples samples{.channels = channels, .height = side, .width = side};
  Random random(1, "micro");
  samples.pixels.resize(static_cast<std::size_t>(kImages * samples.image_bytes()));
  for (auto& pixel : samples.pixels) pixel = static_cast<std::uint8_t>(random.bits());
  samples.labels.resize(kImages, 0);
  const ByteStore store(samples, {.channels_last = true}, {});
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < kBatch; ++i) {
    ids.push_back(static_cast<std::int64_t>(random.below(kImages)));
  }
  BatchBuffer buffer;
  for (auto _ : state) benchmark::DoNotOptimize(store.assemble(ids, buffer));
  state.SetItemsProcessed(state.iterations() * kBatch);  // images
}

BENCHMARK_CAPTURE(batch_assembly, gray_28, 1, 28)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(batch_assembly, rgb_32, 3, 32)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fedvg
