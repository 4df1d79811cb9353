// fedvg-conformance FILE...: runs every method of the files through the product's own
// engine in float64 and prints METHOD MAX_ABS_DIFF for each, against the file's global
// models and weights; "unsupported" for a method that the product lacks. Exit status 1
// when a difference exceeds 1e-10 or is not finite (the model diverges, the file has a NaN),
// 3 for a file that is no case.

#include <ATen/ops/cat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "case_file.h"
#include "engine/round_driver.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "method_settings.h"

namespace fedvg::conformance {
namespace {

constexpr double kTolerance = 1e-10;

/// All batches of a file behind one store: sample ids count them in order.
class Pool {
 public:
  BatchPlan add(const Batches& batches) {
    BatchPlan plan;
    for (std::size_t b = 0; b < batches.x.size(); ++b) {
      for (std::int64_t i = 0; i < batches.y[b].numel(); ++i) plan.ids.push_back(size_++);
      plan.ends.push_back(plan.ids.size());
      x_.push_back(batches.x[b]);
      y_.push_back(batches.y[b]);
    }
    return plan;
  }
  TensorStore store() const { return {at::cat(x_), at::cat(y_)}; }

 private:
  std::vector<at::Tensor> x_, y_;
  std::int64_t size_ = 0;
};

/// Tensors by name, as the file names them.
std::vector<double> flat_model(const RoundDriver& driver, const std::vector<std::string>& order) {
  std::map<std::string, at::Tensor> by_name;
  for (std::size_t i = 0; i < driver.layout().tensors(); ++i) {
    by_name[driver.layout().slots()[i].name] = driver.layout().view(driver.global(), i);
  }
  for (std::size_t i = 0; i < driver.buffers().size(); ++i) {
    by_name[driver.buffer_names()[i].name] = driver.buffers()[i];
  }
  std::vector<double> values;
  for (const auto& name : order) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) throw DataError("flatten_order: no tensor is named '" + name + "'");
    const at::Tensor plain = found->second.to(at::kDouble).contiguous();
    const auto* data = plain.data_ptr<double>();
    values.insert(values.end(), data, data + plain.numel());
  }
  return values;
}

/// copy_ would spread a smaller tensor.
void copy_exactly(const at::Tensor& to, const at::Tensor& from, const std::string& name) {
  if (to.sizes() != from.sizes()) {
    throw DataError("init: '" + name + "' does not have the shape that the network gives it");
  }
  to.copy_(from);
}

void set_initial(RoundDriver& driver, const std::map<std::string, at::Tensor>& init) {
  at::Tensor w = driver.global().clone();
  Tensors buffers;
  std::size_t used = 0;
  for (std::size_t i = 0; i < driver.layout().tensors(); ++i) {
    const std::string& name = driver.layout().slots()[i].name;
    const auto found = init.find(name);
    if (found == init.end()) throw DataError("init: '" + name + "' is missing");
    copy_exactly(driver.layout().view(w, i), found->second, name);
    ++used;
  }
  for (std::size_t i = 0; i < driver.buffers().size(); ++i) {
    buffers.push_back(driver.buffers()[i].clone());
    const std::string& name = driver.buffer_names()[i].name;
    const auto found = init.find(name);
    if (found == init.end()) continue;
    copy_exactly(buffers.back(), found->second, name);
    ++used;
  }
  if (used != init.size()) throw DataError("init: names a tensor that the network lacks");
  driver.set_global(w, buffers);
}

/// Largest difference so far; a difference that is not a number stays.
class Largest {
 public:
  void compare(double got, double wanted) {
    const double difference = std::abs(got - wanted);
    if (!std::isfinite(difference)) finite_ = false;
    value_ = std::max(value_, difference);
  }
  double value() const { return finite_ ? value_ : std::nan(""); }

 private:
  double value_ = 0;
  bool finite_ = true;
};

/// `wanted` is [1] or [T]; a client that was not weighted counts as 0 in every tensor.
void compare_weights(const ClientRecord& client, const std::vector<double>& wanted,
                     Largest& largest) {
  const auto& tensors = client.tensor_weights;
  if (wanted.size() > 1 && !tensors.empty() && wanted.size() != tensors.size()) {
    throw DataError("`weights` has " + std::to_string(wanted.size()) + " numbers for a client, " +
                    "the network has " + std::to_string(tensors.size()) + " tensors");
  }
  for (std::size_t l = 0; l < wanted.size(); ++l) {
    const bool by_tensor = wanted.size() > 1 && !tensors.empty();
    largest.compare(by_tensor ? tensors[l] : client.weight, wanted[l]);
  }
}

double difference(const CaseFile& file, const MethodSettings& settings, const Expected& expected,
                  bool channels_last) {
  Pool pool;
  std::vector<LocalData> clients;
  for (std::size_t client = 0; client < file.data.size(); ++client) {
    const BatchPlan plan = pool.add(file.data[client]);
    LocalData& one = clients.emplace_back();
    one.samples = plan.ids;
    one.fixed_ends = plan.ends;
    if (client >= file.probe.size()) continue;
    const BatchPlan probe = pool.add(file.probe[client]);
    for (std::size_t b = 0; b < probe.batches(); ++b) {
      const auto ids = probe.batch(b);
      one.fixed_probe.emplace_back(ids.begin(), ids.end());
    }
  }
  const BatchPlan validation = pool.add(file.validation);
  const TensorStore store = pool.store();
  for (auto& client : clients) client.store = &store;

  DriverSetup setup;
  setup.build_model = [&file] { return build_network(file.layers); };
  setup.build_optimizer = [part = settings.local_optimizer] {
    return Registry<LocalOptimizer>::instance().make(part);
  };
  setup.correction = Registry<Correction>::instance().make(settings.method.correction);
  setup.weighting = Registry<WeightingRule>::instance().make(settings.method.weighting);
  setup.server = Registry<ServerOptimizer>::instance().make(settings.method.server);
  setup.clients = std::move(clients);
  setup.validation = {&store, validation, settings.scoring};
  setup.rules = {.epochs = settings.epochs,
                 .steps = settings.steps,
                 .shuffle = false,
                 .clip = settings.clip,
                 .buffers = settings.buffers};
  setup.workers = 2;
  setup.format.dtype = at::kDouble;
  setup.format.channels_last = channels_last;
  RoundDriver driver(std::move(setup));
  set_initial(driver, file.init);

  Largest largest;
  const std::atomic<bool> stop = false;
  for (std::size_t r = 0; r < file.participants.size(); ++r) {
    const auto record =
        driver.run_round(static_cast<std::int64_t>(r) + 1, file.participants[r], stop);
    const auto got = flat_model(driver, file.flatten_order);
    const auto& wanted = expected.global.at(r);
    if (got.size() != wanted.size()) {
      throw DataError("a global model has " + std::to_string(wanted.size()) +
                      " numbers, the network " + std::to_string(got.size()));
    }
    for (std::size_t i = 0; i < got.size(); ++i) largest.compare(got[i], wanted[i]);
    if (!expected.weights) continue;
    for (std::size_t k = 0; k < record.clients.size(); ++k) {
      compare_weights(record.clients[k], (*expected.weights)[r][k], largest);
    }
  }
  return largest.value();
}

/// In both memory formats of images where there are convolutions: runs take channels_last.
double largest_difference(const CaseFile& file, const MethodSettings& settings,
                          const Expected& expected) {
  const double rows = difference(file, settings, expected, /*channels_last=*/false);
  const bool convolves = std::any_of(file.layers.begin(), file.layers.end(),
                                     [](const auto& layer) { return layer.type == "conv2d"; });
  if (!convolves) return rows;
  const double pixels = difference(file, settings, expected, /*channels_last=*/true);
  return rows > pixels || std::isnan(rows) ? rows : pixels;
}

/// libtorch's first line, without the stack trace below it.
std::string first_line(const c10::Error& problem) {
  const std::string text = problem.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

/// True when every method that the product has agrees.
bool check_methods(const CaseFile& file) {
  bool passed = true;
  for (const auto& [name, expected] : file.methods) {
    try {
      const double largest =
          largest_difference(file, settings_of(file, name, expected.parts), expected);
      std::printf("%s %.3g\n", name.c_str(), largest);
      passed = passed && largest <= kTolerance;
    } catch (const RunError& problem) {  // diverged
      std::printf("%s nan\n", name.c_str());
      std::fprintf(stderr, "%s: %s\n", name.c_str(), problem.what());
      passed = false;
    } catch (const OptionError& problem) {
      std::printf("%s unsupported\n", name.c_str());
      std::fprintf(stderr, "%s: %s\n", name.c_str(), problem.what());
    }
    std::fflush(stdout);
  }
  return passed;
}

bool check_file(const std::string& path) {
  const CaseFile file = read_case_file(path);
  try {
    return check_methods(file);
  } catch (const DataError& problem) {
    throw DataError(path + ": " + problem.what());
  } catch (const c10::Error& problem) {
    throw DataError(path +
                    ": its samples or tensors do not fit the network: " + first_line(problem));
  }
}

}  // namespace
}  // namespace fedvg::conformance

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: fedvg-conformance FILE...\n");
    return 2;
  }
  bool passed = true;
  try {
    for (int i = 1; i < count; ++i) passed = fedvg::conformance::check_file(arguments[i]) && passed;
  } catch (const fedvg::Error& problem) {
    std::fprintf(stderr, "fedvg-conformance: error: %s\n", problem.what());
    return problem.exit_code();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "fedvg-conformance: error: %s\n", problem.what());
    return 70;
  }
  return passed ? 0 : 1;
}
