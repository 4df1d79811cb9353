#include "speed/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/stopwatch.h"
#include "fedvg/error.h"
#include "run/experiment.h"
#include "run/peak_memory.h"
#include "run/statistics.h"
#include "speed/multiply_add_peak.h"
#include "speed/stock_rates.h"

namespace fedvg {
namespace {

constexpr double kLongestStock = 3;      // seconds of a phase in a repetition
constexpr double kShortestStock = 0.05;  // below, starting the threads would count
constexpr double kLongestTrial = 1;      // seconds to find the better memory format
constexpr double kPeakSeconds = 0.3;

/// The stock loop's time for a phase of which the engine took `engine` seconds.
double stock_seconds(double engine) { return std::clamp(engine, kShortestStock, kLongestStock); }

std::string data_text(const FederatedData& data) {
  const Samples& training = data.dataset.training;
  const std::string which = data.dataset.name == "random"
                                ? "random images"
                                : data.dataset.name + " (" + data.dataset.source + ")";
  return fmt::format("{}, {} x {} x {}, {} classes: {} to train on, {} clients, D_val {}, test {}",
                     which, training.channels, training.height, training.width,
                     data.dataset.classes.size(), training.size(), data.clients.size(),
                     data.validation.size(), data.test.size());
}

/// Rounds and stock loop in turn.
class SpeedRun {
 public:
  SpeedRun(Experiment& experiment, const std::string& device, Console& console,
           const std::atomic<bool>& stop)
      : experiment_(experiment), console_(console), stop_(stop) {
    const Configuration& configuration = experiment.configuration();
    const Samples& samples = experiment.data().dataset.training;
    if (!samples.is_features) {
      model_ = stock_model(configuration.model, samples.channels, samples.height, samples.width,
                           std::ssize(experiment.data().dataset.classes));
    }
    // The stock loop runs on the processor.
    compares_ = model_.has_value() && device == "cpu";
  }

  /// Warms up and measures what only the engine's memory is in.
  void begin(std::int64_t rounds) {
    rounds_ = rounds;
    const PhaseSeconds seconds = run_round(1);
    peak_mb_ = peak_megabytes();
    peak_ = multiply_add_peak(kPeakSeconds);
    if (!compares_) return;
    const Configuration& configuration = experiment_.configuration();
    // Of clients that have less than a batch, the engine trains on what they have.
    train_batch_ = 1;
    for (const ClientRecord& client : record_.clients) {
      train_batch_ = std::max(train_batch_, client.samples);
    }
    train_batch_ = std::min(train_batch_, configuration.train.batch_size);
    score_batch_ = configuration.scoring.batch_size;
    if (const auto images = std::ssize(experiment_.data().validation); images > 0) {
      score_batch_ = std::min<std::int64_t>(score_batch_, images);
    }
    const StockWork work{.train_batch = train_batch_,
                         .score_batch = score_batch_,
                         .score_with_batch_statistics = configuration.scoring.mode == "train"};
    const double longer = std::max(seconds.train, seconds.score);
    stock_.emplace(*model_, work, static_cast<std::size_t>(cores()),
                   std::clamp(longer, 3 * kShortestStock, kLongestTrial), stop_);
  }

  void repeat() {
    for (std::int64_t i = 0; i < rounds_; ++i) {
      const PhaseSeconds seconds = run_round(i + 2);
      seconds_.push_back(seconds);
      const auto rate = [&](std::int64_t images, double phase) {
        return static_cast<double>(images) / (phase * static_cast<double>(cores()));
      };
      const std::int64_t trained = images_trained(record_, experiment_.configuration().train);
      if (trained > 0) {
        train_.push_back({.engine = rate(trained, seconds.train), .stock = {}});
        if (stock_) train_.back().stock = stock_->train(stock_seconds(seconds.train));
      }
      const std::int64_t scored = takes_gradient() ? images_scored(record_) : 0;
      if (scored > 0) {
        score_.push_back({.engine = rate(scored, seconds.score), .stock = {}});
        if (stock_) score_.back().stock = stock_->score(stock_seconds(seconds.score));
      }
      if (stop_) throw Interrupted("interrupted: nothing was measured to the end");
    }
  }

  /// Rounds of `threaded`, which has more threads a worker, each beside one of this experiment's.
  ThreadsTrial against(Experiment& threaded) {
    const std::int64_t threads = threaded.configuration().engine.threads;
    std::vector<double> one, more;
    const std::int64_t first = rounds_ + 2;
    for (std::int64_t round = first; round <= first + rounds_; ++round) {
      const auto seconds = [&](Experiment& experiment) {
        const double taken = round_of(experiment, round).seconds;
        if (stop_) throw Interrupted("interrupted: nothing was measured to the end");
        return taken;
      };
      const double with_more = seconds(threaded), with_one = seconds(experiment_);
      if (round == first) continue;  // warms up
      more.push_back(with_more);
      one.push_back(with_one);
    }
    return {.workers = threaded.federation().info().workers,
            .threads = threads,
            .seconds = median_of(more),
            .seconds_one = median_of(one)};
  }

  SpeedMeasurement result() const {
    SpeedMeasurement result{.data = data_text(experiment_.data()),
                            .rounds = rounds_,
                            .federation = info(),
                            .seconds = medians_of(seconds_),
                            .train_batch = train_batch_,
                            .score_batch = score_batch_,
                            .peak_mb = peak_mb_,
                            .multiply_add_peak = peak_};
    const auto share = [&](const std::optional<PhaseSpeed>& speed) -> std::optional<double> {
      if (!speed || !model_ || !peak_) return std::nullopt;
      return speed->images_per_second_core * multiply_adds(*model_).training_flops() / *peak_;
    };
    if (!train_.empty()) result.train = speed_of(train_);
    if (!score_.empty()) result.score = speed_of(score_);
    result.train_share = share(result.train);
    result.score_share = share(result.score);
    if (stock_ && result.train) result.train_format = stock_->train_format();
    if (stock_ && result.score) result.score_format = stock_->score_format();
    return result;
  }

 private:
  const FederationInfo& info() const { return experiment_.federation().info(); }

  /// That the engine keeps busy.
  std::int64_t cores() const { return info().workers * experiment_.configuration().engine.threads; }

  /// Other rules than FedVG's look at D_val otherwise, or not at all.
  bool takes_gradient() const {
    const Part& weighting = experiment_.configuration().method.weighting;
    return weighting.name == "fedvg" && needs_validation(weighting);
  }

  /// The server's step is taken in this thread, whose number of threads whoever made a pool of
  /// workers last has set: another federation, the stock loop.
  RoundRecord round_of(Experiment& experiment, std::int64_t round,
                       const std::function<void(Federation::Progress)>& progress = {}) {
    keep_to_threads(experiment.configuration().engine.threads);
    return experiment.federation().run_round(round, experiment.cohorts().cohort(round), stop_,
                                             progress);
  }

  PhaseSeconds run_round(std::int64_t round) {
    const std::string label =
        round == 1 ? "warming up" : fmt::format("round {} of {}", round - 1, rounds_);
    record_ = round_of(experiment_, round, [&](Federation::Progress progress) {
      console_.show_progress(label, progress.done, progress.total);
    });
    console_.clear_progress();
    const Stopwatch watch;
    experiment_.federation().evaluate_test(stop_);
    return phase_seconds(record_, watch.seconds());
  }

  Experiment& experiment_;
  Console& console_;
  const std::atomic<bool>& stop_;
  std::optional<StockModel> model_;
  bool compares_ = false;
  std::int64_t rounds_ = 0;
  RoundRecord record_;  // of the last round
  std::int64_t train_batch_ = 0, score_batch_ = 0;
  std::optional<StockRates> stock_;
  double peak_mb_ = 0;
  std::optional<double> peak_;
  std::vector<PhaseSeconds> seconds_;
  std::vector<Rates> train_, score_;
};

}  // namespace

SpeedMeasurement measure_speed(SpeedRequest request, Console& console,
                               const std::atomic<bool>& stop) {
  Configuration threaded = request.configuration;
  Experiment experiment(std::move(request.configuration), request.device);
  for (const auto& note : experiment.notes()) console.say("note: " + note);
  SpeedRun run(experiment, request.device, console, stop);
  run.begin(request.rounds);
  run.repeat();
  SpeedMeasurement measurement = run.result();
  measurement.workload = request.workload;
  measurement.environment = environment_here(request.malloc);
  const auto threads = threads_left(measurement.federation.workers, threaded.engine.threads,
                                    threaded.engine.workers, measurement.environment.cores);
  if (threads && request.device == "cpu") {
    threaded.engine.workers = measurement.federation.workers;
    threaded.engine.threads = *threads;
    // Named loops are for one thread, and are refused with more.
    if (threaded.engine.kernels != "aten") threaded.engine.kernels = "auto";
    Experiment other(std::move(threaded), request.device);
    measurement.threads = run.against(other);
  }
  return measurement;
}

}  // namespace fedvg
