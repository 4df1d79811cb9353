#include "speed/round_speed.h"

#include <algorithm>

#include "run/statistics.h"

namespace fedvg {

PhaseSeconds phase_seconds(const RoundRecord& record, double evaluate) {
  PhaseSeconds seconds{.train = record.seconds_train,
                       .score = record.seconds_score,
                       .combine = record.seconds_combine,
                       .evaluate = evaluate,
                       .round = record.seconds + evaluate};
  seconds.other = std::max(0.0, record.seconds - seconds.train - seconds.score - seconds.combine);
  return seconds;
}

std::int64_t images_trained(const ClientRecord& client, const TrainOptions& train) {
  if (client.steps == 0) return 0;
  const std::int64_t whole = client.samples / train.batch_size;
  const std::int64_t rest = client.samples % train.batch_size;
  // An epoch ends in a batch of the rest unless that was skipped.
  const std::int64_t all = whole + (rest > 0);
  if (train.steps > 0) {
    return client.steps / all * client.samples +
           std::min(client.steps % all * train.batch_size, client.samples);
  }
  return client.steps == all * train.epochs ? client.samples * train.epochs
                                            : client.steps * train.batch_size;
}

std::int64_t images_trained(const RoundRecord& record, const TrainOptions& train) {
  std::int64_t images = 0;
  for (const ClientRecord& client : record.clients) images += images_trained(client, train);
  return images;
}

std::int64_t images_scored(const RoundRecord& record) {
  const auto was_scored = [](const ClientRecord& client) { return client.seconds_score > 0; };
  return record.scored.value_or(0) * std::ranges::count_if(record.clients, was_scored);
}

std::optional<std::int64_t> threads_left(std::int64_t workers, std::int64_t threads,
                                         std::int64_t asked, std::int64_t cores) {
  if (threads != 1) return std::nullopt;
  const std::int64_t each = (asked > 0 ? std::min(asked, cores) : cores) / workers;
  if (each < 2) return std::nullopt;
  return each;
}

PhaseSpeed speed_of(const std::vector<Rates>& repetitions) {
  std::vector<double> engine, stock, ratios;
  for (const Rates& rates : repetitions) {
    engine.push_back(rates.engine);
    if (!rates.stock) continue;
    stock.push_back(*rates.stock);
    ratios.push_back(rates.engine / *rates.stock);
  }
  PhaseSpeed speed{.images_per_second_core = median_of(engine)};
  if (ratios.empty()) return speed;
  speed.stock = median_of(stock);
  speed.ratio = median_of(ratios);
  speed.ratio_least = std::ranges::min(ratios);
  speed.ratio_most = std::ranges::max(ratios);
  return speed;
}

PhaseSeconds medians_of(const std::vector<PhaseSeconds>& repetitions) {
  PhaseSeconds medians;
  for (const auto phase : {&PhaseSeconds::train, &PhaseSeconds::score, &PhaseSeconds::combine,
                           &PhaseSeconds::evaluate, &PhaseSeconds::other, &PhaseSeconds::round}) {
    std::vector<double> numbers;
    for (const PhaseSeconds& seconds : repetitions) numbers.push_back(seconds.*phase);
    medians.*phase = median_of(numbers);
  }
  return medians;
}

}  // namespace fedvg
