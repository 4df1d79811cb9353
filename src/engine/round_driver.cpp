#include "engine/round_driver.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "fedvg/error.h"

namespace fedvg {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool all_finite(const at::Tensor& tensor) {
  return !tensor.is_floating_point() || at::isfinite(tensor).all().item<bool>();
}

bool all_finite(const ClientUpdate& update) {
  return std::isfinite(update.loss_last) && all_finite(update.delta) &&
         std::all_of(update.buffers.begin(), update.buffers.end(),
                     [](const at::Tensor& buffer) { return all_finite(buffer); });
}

std::int64_t bytes_of(const TensorMap& tensors) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

double mean(const Column& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

/// A participant that has trained and been assessed, on its way to the sums.
struct RoundDriver::Finished {
  ClientUpdate update;
  Assessment assessment;
  ClientRecord* record = nullptr;
};

/// What a round gathers.
struct RoundDriver::Sums {
  UpdateSum sum;
  std::vector<Receipt> receipts;
  std::vector<ClientRecord*> records;  ///< of the receipts
  std::int64_t bytes_up = 0;
  double seconds = 0;  ///< spent adding
};

RoundDriver::RoundDriver(DriverSetup setup) : setup_(std::move(setup)), pool_(setup_.workers) {
  std::vector<std::unique_ptr<Model>> models;
  for (std::size_t i = 0; i < setup_.workers; ++i) models.push_back(setup_.build_model());
  setup_.format.channels_last = setup_.format.channels_last && models[0]->channels_last();
  layout_ = layout_of(*models[0], setup_.format.channels_last);
  workers_.resize(setup_.workers);
  // Each worker's memory is first touched by the thread that will use it.
  pool_.run(setup_.workers, [&](std::size_t, std::size_t i) {
    workers_[i] = std::make_unique<Worker>(std::move(models[i]), layout_, setup_.format.dtype,
                                           setup_.format.device, setup_.build_optimizer(),
                                           setup_.validation);
  });
  Model& model = workers_[0]->model();
  Random initial(setup_.rules.seed, "initial-model");
  model.initialize(initial);
  global_ = at::zeros({layout_.size()},
                      at::TensorOptions().dtype(setup_.format.dtype).device(setup_.format.device));
  for (std::size_t i = 0; i < layout_.tensors(); ++i) {
    layout_.view(global_, i).copy_(model.parameters()[i].tensor.detach());
  }
  for (const auto& buffer : model.buffers()) buffers_.push_back(buffer.tensor.clone());
}

void RoundDriver::set_global(const at::Tensor& w, const Tensors& buffers) {
  global_ = w.clone();
  buffers_.clear();
  for (const auto& buffer : buffers) buffers_.push_back(buffer.clone());
}

void RoundDriver::train_client(Worker& worker, const Round& round, ClientRecord& record,
                               const std::atomic<bool>& stop, Finished& finished) {
  if (setup_.before_training) setup_.before_training(record.client);
  const Stopwatch training;
  worker.load(global_, buffers_);
  ClientUpdate& update = finished.update;
  update = worker.train(round.index, record.client,
                        setup_.clients[static_cast<std::size_t>(record.client)], setup_.rules,
                        global_, *setup_.correction, stop);
  record.samples = update.samples;
  record.steps = update.steps;
  record.loss_first = update.loss_first;
  record.loss_last = update.loss_last;
  record.seconds_train = training.seconds();
  if (update.steps == 0 || update.samples == 0) {
    record.status = "no-steps";
    return;
  }
  if (!std::isfinite(update.loss_last) || !all_finite(update)) {
    record.status = "not-finite";
    return;
  }
  const Stopwatch scoring;
  finished.assessment = setup_.weighting->assess(round, update, worker);
  record.seconds_score = scoring.seconds();
  record.score = finished.assessment.score;
  record.norm = finished.assessment.norm;
  record.tensor_norms = finished.assessment.tensor_norms;
  record.status = finished.assessment.refused.empty() ? "ok" : finished.assessment.refused;
}

RoundRecord RoundDriver::run_round(std::int64_t index, const std::vector<std::int64_t>& cohort,
                                   const std::atomic<bool>& stop,
                                   const std::function<void(Federation::Progress)>& progress) {
  const Stopwatch total;
  RoundRecord record{.round = index, .participants = static_cast<std::int64_t>(cohort.size())};
  for (const auto client : cohort) {
    if (client < 0 || client >= static_cast<std::int64_t>(setup_.clients.size())) {
      throw RunError("round " + std::to_string(index) + ": there is no client " +
                     std::to_string(client));
    }
    record.clients.push_back({.client = client});
  }
  // Longest first, so that the round does not end in one long client; ties by id.
  std::vector<std::size_t> order(cohort.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto samples = [&](std::size_t i) {
    return setup_.clients[static_cast<std::size_t>(cohort[i])].samples.size();
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return samples(a) != samples(b) ? samples(a) > samples(b) : cohort[a] < cohort[b];
  });

  Sums sums{.sum = UpdateSum(layout_, setup_.weighting->parts())};
  const auto population = static_cast<std::int64_t>(setup_.clients.size());
  const Round round{index, population, global_, layout_, {}};
  TurnQueue<Finished> queue(setup_.window, [&](Finished&& finished) {
    if (finished.record->status != "ok") return;
    const Stopwatch adding;
    const ClientUpdate& update = finished.update;
    Receipt receipt{.client = update.client,
                    .samples = update.samples,
                    .steps = update.steps,
                    .loss_last = update.loss_last,
                    .scores = std::move(finished.assessment.parts),
                    .factor = setup_.correction->factor(update),
                    .note = update.note};
    sums.sum.add(update, receipt.scores, receipt.factor);
    setup_.correction->accept(update);
    sums.bytes_up += bytes_of(update.extra);
    sums.receipts.push_back(std::move(receipt));
    sums.records.push_back(finished.record);
    sums.seconds += adding.seconds();
  });
  try {
    pool_.run(1, [&](std::size_t worker, std::size_t) {
      workers_[worker]->load(global_, buffers_);
      setup_.weighting->begin(round, *workers_[worker]);
    });
    std::atomic<std::int64_t> done = 0;
    std::mutex telling;
    pool_.run(order.size(), [&](std::size_t worker, std::size_t position) {
      try {
        if (stop) throw Interrupted("stopped between two clients");
        Finished finished;
        finished.record = &record.clients[order[position]];
        train_client(*workers_[worker], round, *finished.record, stop, finished);
        queue.put(position, std::move(finished));
      } catch (...) {
        queue.close();
        throw;
      }
      if (progress) {
        const std::lock_guard lock(telling);
        progress({++done, record.participants});
      }
    });
    finish(round, sums, record);
  } catch (...) {
    setup_.correction->abandon(round);
    throw;
  }
  record.seconds = total.seconds();
  return record;
}

void RoundDriver::finish(const Round& start, Sums& sums, RoundRecord& record) {
  const Stopwatch stepping;
  const Round round{start.index, start.population, global_, layout_, sums.receipts};
  std::vector<std::vector<Score>> scores;
  for (const auto& receipt : sums.receipts) scores.push_back(receipt.scores);
  const auto shares = setup_.weighting->shares(scores);
  auto combined = sums.sum.combine(shares);
  if (!combined) {
    record.is_void = true;
    record.void_reason = sums.receipts.empty() ? "no update was accepted" : "total weight 0";
    setup_.correction->abandon(round);
  } else {
    std::vector<Column> weights;
    for (std::size_t k = 0; k < sums.receipts.size(); ++k) {
      weights.push_back(sums.sum.weights(sums.receipts[k].scores, shares));
      sums.records[k]->weight = mean(weights[k]);
      sums.records[k]->tensor_weights = weights[k];
      if (weights[k].size() == 1) {
        sums.records[k]->tensor_weights.assign(layout_.tensors(), weights[k][0]);
      }
    }
    const Column columns = setup_.correction->columns(round, weights);
    for (std::size_t l = 0; l < layout_.tensors() && !(columns.size() == 1 && columns[0] == 1);
         ++l) {
      layout_.segment(combined->step, l).mul_(column_at(columns, l));
    }
    at::Tensor w = global_.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
    setup_.server->step(w, combined->step);
    setup_.correction->after_step(round, w);
    at::Tensor next = w.to(global_.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    if (!all_finite(next)) {
      throw RunError("diverged in round " + std::to_string(round.index) +
                     ": the server's step is not finite; the model of the round before is kept; "
                     "take smaller learning rates");
    }
    global_ = std::move(next);
    buffers_ = std::move(combined->buffers);
  }
  double entropy = 0;
  for (const ClientRecord* client : sums.records) {
    if (record.is_void) break;
    record.weight_min = std::min(record.weight_min.value_or(client->weight), client->weight);
    record.weight_max = std::max(record.weight_max.value_or(client->weight), client->weight);
    if (client->weight > 0) entropy -= client->weight * std::log(client->weight);
  }
  const auto accepted = static_cast<double>(sums.records.size());
  if (!record.is_void && accepted > 1) record.weight_entropy = entropy / std::log(accepted);

  std::int64_t model_bytes = layout_.parameters() * static_cast<std::int64_t>(global_.itemsize());
  for (const auto& buffer : buffers_) model_bytes += static_cast<std::int64_t>(buffer.nbytes());
  record.bytes_down =
      record.participants * (model_bytes + bytes_of(setup_.correction->broadcast()));
  record.bytes_up = record.participants * model_bytes + sums.bytes_up;
  const auto workers = static_cast<double>(pool_.size());
  for (const auto& client : record.clients) {
    record.rejected += client.status == "not-finite" || client.status == "dead";
    record.seconds_train += client.seconds_train / workers;
    record.seconds_score += client.seconds_score / workers;
  }
  record.seconds_combine = sums.seconds / workers + stepping.seconds();
}

Evaluation RoundDriver::evaluate(const SampleStore& store, std::span<const std::int64_t> ids) {
  constexpr std::size_t kChunk = 500;
  const std::size_t chunks = (ids.size() + kChunk - 1) / kChunk;
  std::vector<Worker::Tally> tallies(chunks);
  std::vector<char> loaded(pool_.size(), 0);
  pool_.run(chunks, [&](std::size_t worker, std::size_t chunk) {
    if (!loaded[worker]) workers_[worker]->load(global_, buffers_);
    loaded[worker] = 1;
    const std::size_t begin = chunk * kChunk;
    tallies[chunk] = workers_[worker]->evaluate(
        store, ids.subspan(begin, std::min(kChunk, ids.size() - begin)));
  });
  Worker::Tally sum;
  for (const auto& tally : tallies) {
    sum.loss_sum += tally.loss_sum;
    sum.right += tally.right;
    sum.samples += tally.samples;
  }
  const auto samples = static_cast<double>(sum.samples);
  return {static_cast<double>(sum.right) / samples, sum.loss_sum / samples};
}

}  // namespace fedvg
