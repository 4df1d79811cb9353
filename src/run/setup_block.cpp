#include "run/setup_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "data/wording.h"
#include "engine/client_faults.h"
#include "run/statistics.h"

namespace fedvg {
namespace {

std::string part_text(const Part& part) {
  std::string text = part.name;
  for (const auto& [key, value] : part.options.entries()) {
    text += (text == part.name ? " (" : ", ") + key + " = " + value.text();
  }
  return part.options.empty() ? text : text + ")";
}

std::string data_text(const FederatedData& data) {
  const Samples& training = data.dataset.training;
  const std::string things = training.is_features ? "samples" : "images";
  const std::string samples = data.pooled ? fmt::format("{} {} pooled, {} of them for the test",
                                                        training.size(), things, data.test.size())
                                          : fmt::format("{} training and {} test {}",
                                                        training.size(), data.test.size(), things);
  const std::string shape = training.is_features
                                ? counted(training.channels, "feature")
                                : fmt::format("{} x {}, {}", training.height, training.width,
                                              counted(training.channels, "channel"));
  return fmt::format("{}: {} of {}, {} classes ({})", data.dataset.name, samples, shape,
                     data.dataset.classes.size(), data.dataset.source);
}

// What a model sees other than bytes / 255; empty: nothing.
std::string input_text(const DataOptions& data) {
  std::string text;
  if (data.normalize.name != "none") text = "normalised by " + part_text(data.normalize);
  const std::string augmentation = augmentation_text(augmentation_of(data));
  if (augmentation.empty()) return text;
  return text + (text.empty() ? "" : "; ") + "augmented in local training: " + augmentation;
}

std::string clients_text(const FederatedData& data) {
  const auto sizes = client_sizes(data);
  std::vector<double> numbers(sizes.begin(), sizes.end());
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  return fmt::format("{} with {} / {:g} / {} samples (least / median / most), {} empty; {}",
                     sizes.size(), *least, median_of(numbers), *most,
                     std::count(sizes.begin(), sizes.end(), 0), data.source);
}

std::string model_text(const Part& model, const FederationInfo& info) {
  return fmt::format("{}: {} in {}", part_text(model), counted(info.parameters, "parameter"),
                     counted(std::ssize(info.tensors), "tensor"));
}

std::string method_text(const Method& method) {
  const bool mean = method.combiner.name == "mean";
  return fmt::format("{} = {} × {} × {}", method.name, part_text(method.correction),
                     part_text(method.weighting), part_text(method.server)) +
         (mean ? "" : ", combined by " + part_text(method.combiner));
}

// ", 1 never answers, 3 do fewer epochs"; empty: all answer and do what they should.
std::string faults_text(const TrainOptions& train, std::int64_t participants) {
  const std::int64_t dropped = nearest_share(train.drop_out, participants);
  const std::int64_t slow =
      std::min(nearest_share(train.stragglers, participants), participants - dropped);
  std::string text;
  if (dropped > 0) text += fmt::format(", {} never answer{}", dropped, dropped == 1 ? "s" : "");
  if (slow > 0) {
    text += fmt::format(", {} do{} fewer {}", slow, slow == 1 ? "es" : "",
                        train.steps > 0 ? "steps" : "epochs");
  }
  return text;
}

std::string training_text(const Experiment& experiment) {
  const TrainOptions& train = experiment.configuration().train;
  const std::string work =
      train.steps > 0 ? counted(train.steps, "step") : counted(train.epochs, "epoch");
  const std::string clients = counted(std::ssize(experiment.data().clients), "client");
  const bool pooled = experiment.configuration().method.line == Line::centralized;
  const std::string who =
      pooled ? "the samples of " + clients + " as one"
             : fmt::format("{} of {} in each", experiment.cohorts().participants(), clients);
  return fmt::format("{}, {}{}, {} in batches of {}, {}", counted(train.rounds, "round"), who,
                     faults_text(train, experiment.cohorts().participants()), work,
                     train.batch_size, part_text(train.optimizer));
}

// "live taps 4.2 of 11.2 M weights"; empty: all are live.
std::string live_taps_text(const FederationInfo& info) {
  if (info.live == info.parameters) return "";
  constexpr double kMillion = 1e6;
  if (info.parameters < 100'000) {
    return fmt::format(", live taps {} of {} weights", info.live, info.parameters);
  }
  return fmt::format(", live taps {:.1f} of {:.1f} M weights",
                     static_cast<double>(info.live) / kMillion,
                     static_cast<double>(info.parameters) / kMillion);
}

}  // namespace

std::string engine_text(const FederationInfo& info) {
  const std::string threads = info.threads == 1 ? "" : fmt::format(" of {} threads", info.threads);
  return fmt::format("{}{} on {}, {}, {}, kernels {}{}", counted(info.workers, "worker"), threads,
                     info.device, info.precision, info.memory_format, info.kernels,
                     live_taps_text(info));
}

std::string topic_line(const std::string& topic, const std::string& text) {
  return fmt::format("{:<10}  {}", topic, text);
}

std::vector<std::string> setup_block(const Experiment& experiment,
                                     const std::filesystem::path& folder) {
  const Configuration& configuration = experiment.configuration();
  const FederatedData& data = experiment.data();
  const FederationInfo& info = experiment.federation().info();
  std::vector<std::string> lines = {
      topic_line("data", data_text(data)),
      topic_line("clients", clients_text(data)),
      topic_line("D_val", data.validation.empty()
                              ? "none"
                              : fmt::format("{} samples", data.validation.size())),
      topic_line("model", model_text(configuration.model, info)),
      topic_line("method", method_text(configuration.method)),
      topic_line("training", training_text(experiment)),
      topic_line("engine", engine_text(info)),
      topic_line("folder", folder.string()),
      topic_line("seed", std::to_string(configuration.seed))};
  if (!data.corrupted.empty()) {
    lines.insert(
        lines.begin() + 2,
        topic_line("corrupted", corruption_text(configuration.corruption, data.corrupted)));
  }
  const std::string input = input_text(configuration.data);
  if (!input.empty()) lines.insert(lines.begin() + 1, topic_line("input", input));
  return lines;
}

}  // namespace fedvg
