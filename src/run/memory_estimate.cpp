#include "run/memory_estimate.h"

#include <fmt/format.h>

#include <algorithm>

namespace fedvg {
namespace {

// A mixture keeps a sum for each of its rules, every other weighting one.
std::int64_t parts_of(const Table& weighting) {
  const Value* of = weighting.find("of");
  if (!of || !of->get<Array>()) return 1;
  std::int64_t parts = 0;
  for (const Value& rule : *of->get<Array>()) {
    parts += rule.get<Table>() ? parts_of(*rule.get<Table>()) : 1;
  }
  return parts;
}

std::int64_t bytes_of(const Samples& samples) {
  return static_cast<std::int64_t>(samples.pixels.size() +
                                   samples.labels.size() * sizeof(std::int64_t));
}

}  // namespace

MemoryEstimate memory_estimate(const Experiment& experiment) {
  const Configuration& configuration = experiment.configuration();
  const FederatedData& data = experiment.data();
  MemoryEstimate estimate;
  for (const NamedArray& array : experiment.federation().model()) {
    estimate.model += static_cast<std::int64_t>(array.bytes.size());
  }
  estimate.parts = parts_of(configuration.method.weighting.options);
  // The mean streams; every other combiner keeps the whole cohort's updates.
  estimate.waiting = experiment.cohorts().participants();
  if (configuration.method.combiner.name == "mean") {
    estimate.waiting = std::min(estimate.waiting, configuration.engine.window);
  }
  estimate.workers = experiment.federation().info().workers;
  estimate.data = bytes_of(data.dataset.training) + bytes_of(data.dataset.test);
  return estimate;
}

std::string MemoryEstimate::text() const {
  return fmt::format(
      "memory: about {} = ({} sum{} + {} waiting + {} worker{}) x {} of model + {} of data, beside "
      "libtorch and the activations of a batch",
      bytes_text(total()), parts, parts == 1 ? "" : "s", waiting, workers, workers == 1 ? "" : "s",
      bytes_text(model), bytes_text(data));
}

std::string bytes_text(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (number < 1e6) return fmt::format("{:.1f} kB", number / 1e3);
  if (number < 1e9) return fmt::format("{:.1f} MB", number / 1e6);
  return fmt::format("{:.2f} GB", number / 1e9);
}

}  // namespace fedvg
