#include "run/memory_estimate.h"

#include <fmt/format.h>

#include <algorithm>

namespace fedvg {
namespace {

std::int64_t bytes_of(const Samples& samples) {
  return static_cast<std::int64_t>(samples.pixels.size() +
                                   samples.labels.size() * sizeof(std::int64_t));
}

}  // namespace

MemoryEstimate memory_estimate(const Experiment& experiment) {
  const Configuration& configuration = experiment.configuration();
  const FederatedData& data = experiment.data();
  MemoryEstimate estimate;
  const FederationInfo& info = experiment.federation().info();
  estimate.model = info.live_bytes + info.buffer_bytes;
  estimate.parts = info.score_parts;
  estimate.waiting = experiment.cohorts().participants();
  if (!info.keeps_updates) {
    estimate.waiting = std::min(estimate.waiting, configuration.engine.window);
  }
  estimate.workers = info.workers;
  estimate.data = bytes_of(data.dataset.training) + bytes_of(data.dataset.test);
  if (data.validation_set) estimate.data += bytes_of(*data.validation_set);
  const auto sizes = client_sizes(data);
  const std::int64_t clients = configuration.method.line == Line::centralized
                                   ? 1
                                   : std::ssize(sizes) - std::ranges::count(sizes, 0);
  const std::int64_t states = clients * info.state_bytes;
  constexpr std::int64_t kMegabyte = 1 << 20;
  estimate.states = std::min(states, configuration.engine.state_memory * kMegabyte);
  estimate.on_disk = states - estimate.states;
  return estimate;
}

std::string MemoryEstimate::text() const {
  std::string kept;
  if (states + on_disk > 0) kept = " + " + bytes_text(states) + " of clients' states";
  if (on_disk > 0) {
    kept += " (engine.state_memory; " + bytes_text(on_disk) + " more on disk)";
  }
  return fmt::format(
      "memory: about {} = ({} sum{} + {} waiting + {} worker{}) x {} of model + {} of data{}, "
      "beside libtorch and the activations of a batch",
      bytes_text(total()), parts, parts == 1 ? "" : "s", waiting, workers, workers == 1 ? "" : "s",
      bytes_text(model), bytes_text(data), kept);
}

std::string bytes_text(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (number < 1e6) return fmt::format("{:.1f} kB", number / 1e3);
  if (number < 1e9) return fmt::format("{:.1f} MB", number / 1e6);
  return fmt::format("{:.2f} GB", number / 1e9);
}

}  // namespace fedvg
