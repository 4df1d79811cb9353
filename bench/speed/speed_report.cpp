#include "speed/speed_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "data/wording.h"
#include "run/setup_block.h"

namespace fedvg {
namespace {

using Json = nlohmann::ordered_json;

std::string malloc_text(const MallocSettings& malloc) {
  if (malloc.mmap_threshold == 0) return "as the system's library has it, for both";
  constexpr std::int64_t kMegabyte = 1 << 20;
  return fmt::format("mmap threshold {} MB, trim threshold {} MB, top pad {} MB, for both",
                     malloc.mmap_threshold / kMegabyte, malloc.trim_threshold / kMegabyte,
                     malloc.top_pad / kMegabyte);
}

std::string processor_text(const SpeedMeasurement& measurement) {
  const std::string peak = measurement.multiply_add_peak
                               ? fmt::format("{:.1f} GFLOP/s a core in multiply-adds",
                                             *measurement.multiply_add_peak / 1e9)
                               : "multiply-add peak not measured";
  return fmt::format("{}, {}; {}", measurement.environment.processor,
                     counted(measurement.environment.cores, "core"), peak);
}

std::string stock_text(const SpeedMeasurement& measurement) {
  if (!measurement.train_format) return "none for this model and device";
  std::string text =
      fmt::format("bare libtorch, float32, on as many threads: training in batches of {}, {}",
                  measurement.train_batch, name_of(*measurement.train_format));
  if (measurement.score_format) {
    text += fmt::format("; scoring in batches of {}, {}", measurement.score_batch,
                        name_of(*measurement.score_format));
  }
  return text;
}

std::string cell(const std::optional<double>& number, int digits) {
  return number ? fmt::format("{:.{}f}", *number, digits) : "-";
}

constexpr const char* kTable = "{:<8}  {:>8}  {:>13}  {:>8}  {:>6}  {:>14}  {:>11}  {:>7}";

std::string title() {
  return fmt::format(kTable, "phase", "seconds", "images/s/core", "stock", "ratio", "spread",
                     "flops share", "peak MB");
}

std::string phase_line(const char* phase, double seconds, const std::string& peak = "") {
  return fmt::format(kTable, phase, cell(seconds, 3), "", "", "", "", "", peak);
}

std::string phase_line(const char* phase, double seconds, const std::optional<PhaseSpeed>& speed,
                       const std::optional<double>& share) {
  const PhaseSpeed known = speed.value_or(PhaseSpeed{});
  const auto rate = speed ? std::optional(known.images_per_second_core) : std::nullopt;
  const std::string spread =
      known.ratio_least ? cell(known.ratio_least, 3) + " - " + cell(known.ratio_most, 3) : "-";
  return fmt::format(kTable, phase, cell(seconds, 3), cell(rate, 0), cell(known.stock, 0),
                     cell(known.ratio, 3), spread, cell(share, 3), "");
}

Json json_of(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json json_of(const std::optional<MemoryFormat>& format) {
  return format ? Json(name_of(*format)) : Json();
}

/// {"train": …, "score": …} of one figure of both.
template <class Figure>
Json by_phase(const SpeedMeasurement& measurement, const Figure& figure) {
  const auto of = [&](const std::optional<PhaseSpeed>& speed) {
    return speed ? figure(*speed) : Json();
  };
  return {{"train", of(measurement.train)}, {"score", of(measurement.score)}};
}

/// "a round in 1.20 s with 1 worker of 2 threads, 1.70 s with one thread: …"
std::string threads_text(const ThreadsTrial& trial) {
  const std::string advice =
      trial.ratio() > 1
          ? fmt::format("engine.threads = {} is {:.2f} x as fast", trial.threads, trial.ratio())
          : fmt::format("engine.threads = {} is slower, by {:.2f}", trial.threads,
                        1 / trial.ratio());
  return fmt::format(
      "{}: {:.3f} s for training, scoring and step with {} of {} threads, {:.3f} s "
      "with one each",
      advice, trial.seconds, counted(trial.workers, "worker"), trial.threads, trial.seconds_one);
}

}  // namespace

std::vector<std::string> speed_lines(const SpeedMeasurement& measurement) {
  const PhaseSeconds& seconds = measurement.seconds;
  std::vector<std::string> lines = {
      topic_line("workload", measurement.workload),
      topic_line("data", measurement.data),
      topic_line("processor", processor_text(measurement)),
      topic_line("engine", engine_text(measurement.federation) + ", libtorch " +
                               measurement.federation.libtorch_version),
      topic_line("stock", stock_text(measurement)),
      topic_line("malloc", malloc_text(measurement.environment.malloc)),
      topic_line("rounds", fmt::format("medians of {} after one to warm up, stock loop in turn",
                                       measurement.rounds)),
      "",
      title(),
      phase_line("train", seconds.train, measurement.train, measurement.train_share),
      phase_line("score", seconds.score, measurement.score, measurement.score_share),
      phase_line("combine", seconds.combine),
      phase_line("evaluate", seconds.evaluate),
      phase_line("other", seconds.other),
      phase_line("round", seconds.round, cell(measurement.peak_mb, 0))};
  if (measurement.threads) {
    lines.emplace_back();
    lines.push_back(topic_line("threads", threads_text(*measurement.threads)));
  }
  return lines;
}

std::string speed_json(const SpeedMeasurement& measurement) {
  const PhaseSeconds& seconds = measurement.seconds;
  const FederationInfo& info = measurement.federation;
  const MallocSettings& malloc = measurement.environment.malloc;
  const auto peak = measurement.multiply_add_peak;
  Json json = {{"workload", measurement.workload},
               {"data", measurement.data},
               {"processor", measurement.environment.processor},
               {"cores", measurement.environment.cores},
               {"device", info.device},
               {"kernels", info.kernels},
               {"memory_format", info.memory_format},
               {"workers", info.workers},
               {"threads_each", info.threads},
               {"precision", info.precision},
               {"libtorch", info.libtorch_version},
               {"malloc",
                {{"mmap_threshold", malloc.mmap_threshold},
                 {"trim_threshold", malloc.trim_threshold},
                 {"top_pad", malloc.top_pad}}},
               {"rounds", measurement.rounds},
               {"phases",
                {{"train", seconds.train},
                 {"score", seconds.score},
                 {"combine", seconds.combine},
                 {"evaluate", seconds.evaluate},
                 {"other", seconds.other},
                 {"round", seconds.round}}}};
  json["images_per_second_core"] = by_phase(
      measurement, [](const PhaseSpeed& speed) { return Json(speed.images_per_second_core); });
  json["stock"] =
      by_phase(measurement, [](const PhaseSpeed& speed) { return json_of(speed.stock); });
  json["stock"]["memory_format"] = {{"train", json_of(measurement.train_format)},
                                    {"score", json_of(measurement.score_format)}};
  json["ratio"] =
      by_phase(measurement, [](const PhaseSpeed& speed) { return json_of(speed.ratio); });
  json["spread"] = by_phase(measurement, [](const PhaseSpeed& speed) {
    return speed.ratio ? Json::array({*speed.ratio_least, *speed.ratio_most}) : Json();
  });
  json["peak_mb"] = measurement.peak_mb;
  json["flops_share"] = {{"train", json_of(measurement.train_share)},
                         {"score", json_of(measurement.score_share)}};
  json["threads"] = Json();
  if (const auto& trial = measurement.threads) {
    json["threads"] = {{"workers", trial->workers},
                       {"threads", trial->threads},
                       {"seconds", trial->seconds},
                       {"seconds_one", trial->seconds_one},
                       {"ratio", trial->ratio()}};
  }
  json["multiply_add_gflops"] = peak ? Json(*peak / 1e9) : Json();
  return json.dump(2);
}

}  // namespace fedvg
