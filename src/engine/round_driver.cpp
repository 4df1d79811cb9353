#include "engine/round_driver.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "data/wording.h"
#include "engine/combiners/update_sum.h"
#include "engine/stopwatch.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "kernels/model_vector.h"

namespace fedvg {
namespace {

using kernels::all_finite;

bool all_finite(const Tensors& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const at::Tensor& tensor) { return all_finite(tensor); });
}

bool all_finite(const TensorMap& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const auto& entry) { return all_finite(entry.second); });
}

bool all_finite(const ClientUpdate& update) {
  return std::isfinite(update.loss_last) && all_finite(update.delta) &&
         all_finite(update.buffers) && all_finite(update.extra) && all_finite(update.note);
}

}  // namespace

/// A participant that has trained and been assessed, on its way to the sums.
struct RoundDriver::Finished {
  std::int64_t passes = 0;  ///< over its samples, or steps where these are counted
  ClientUpdate update;
  Assessment assessment;
  ClientRecord* record = nullptr;
};

/// What a round gathers of the updates that count.
struct RoundDriver::Accepted {
  std::int64_t round;
  std::vector<Receipt> receipts;
  std::vector<ClientRecord*> records;               ///< of the receipts
  std::vector<std::vector<ScoreSpread>> spreads{};  ///< of the receipts
  std::int64_t extra_bytes = 0;
  double seconds = 0;  ///< spent adding
};

RoundDriver::RoundDriver(DriverSetup setup)
    : setup_(std::move(setup)), pool_(setup_.workers, setup_.threads, setup_.kernels) {
  if (!setup_.combiner) setup_.combiner = Registry<Combiner>::instance().make("mean");
  const auto model = setup_.build_model();
  const auto optimizer = setup_.build_optimizer();
  const auto build_whole = setup_.build_model;
  layout_ = layout_of(*model, setup_.format.channels_last);
  if (setup_.live_taps) crop_models(*model, *optimizer);
  setup_.correction->check(*optimizer, setup_.rules.keep_optimizer);
  learning_rate_ = optimizer->learning_rate();
  if (setup_.scoring_budget > 0 && ValidationBudget::applies(setup_.validation.plan.batches())) {
    budget_ = std::make_unique<ValidationBudget>(setup_.scoring_budget, setup_.validation.plan.ends,
                                                 setup_.rules.seed);
  }
  states_ = std::make_unique<ClientStateStore>(setup_.state_memory, setup_.state_folder);
  workers_.resize(setup_.workers);
  // Each worker's memory is first touched by the thread that will use it.
  pool_.run(setup_.workers, [&](std::size_t, std::size_t i) {
    workers_[i] = std::make_unique<Worker>(setup_.build_model, layout_, setup_.format,
                                           setup_.build_optimizer(), setup_.validation);
  });
  draw_initial_model(build_whole);
}

void RoundDriver::crop_models(Model& model, const LocalOptimizer& optimizer) {
  const auto live = model.crop_to_live_taps(*setup_.live_taps);
  if (live.empty()) return;
  const std::int64_t tail = tail_of(optimizer.decays(), setup_.combiner->takes_weights());
  Layout cropped = layout_of(model, setup_.format.channels_last, live, tail);
  dead_.emplace(std::move(layout_), cropped, live);
  layout_ = std::move(cropped);
  setup_.build_model = [whole = std::move(setup_.build_model), input = *setup_.live_taps] {
    auto made = whole();
    made->crop_to_live_taps(input);
    return made;
  };
}

void RoundDriver::draw_initial_model(const std::function<std::unique_ptr<Model>()>& build_whole) {
  const auto options = at::TensorOptions().dtype(setup_.format.dtype).device(setup_.format.device);
  Random initial(setup_.rules.seed, "initial-model");
  const Layout& whole = model_layout();
  Resident apart;
  if (dead_) apart = make_resident(build_whole(), whole, options);
  Model& first = dead_ ? *apart.model : workers_[0]->model();
  first.initialize(initial);
  at::Tensor w = at::zeros({whole.size()}, options);
  for (std::size_t i = 0; i < whole.tensors(); ++i) {
    whole.view(w, i).copy_(first.parameters()[i].tensor.detach());
  }
  for (const auto& buffer : first.buffers()) buffers_.push_back(buffer.tensor.clone());
  global_ = dead_ ? dead_->crop(w, /*anew=*/true) : w;
}

bool RoundDriver::remembers_nothing() const {
  const bool clients = setup_.correction->vectors_kept() > 0 || setup_.rules.keep_optimizer;
  return !has_run_ ||
         (!clients && setup_.correction->state().empty() && setup_.server->state().empty());
}

std::int64_t RoundDriver::bytes_of(const TensorMap& tensors) const {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    const bool vector = tensor.dim() == 1 && tensor.numel() == layout_.size();
    bytes += static_cast<std::int64_t>(tensor.itemsize()) *
             (vector ? model_layout().size() : tensor.numel());
  }
  return bytes;
}

void RoundDriver::set_global(const at::Tensor& w, const Tensors& buffers) {
  global_ = dead_ ? dead_->crop(w, remembers_nothing()) : w.clone();
  buffers_.clear();
  for (const auto& buffer : buffers) buffers_.push_back(buffer.clone());
}

void RoundDriver::train_client(Worker& worker, const RoundStart& start, const Round& round,
                               ClientRecord& record, const std::atomic<bool>& stop,
                               Finished& finished) {
  if (setup_.before_training) setup_.before_training(record.client);
  const bool measured = setup_.measures_clients && setup_.measures_clients(start.round);
  if (measured) {
    load_own_model(worker, record.client);
    record.accuracy_before = accuracy_on_own(worker, record.client);
  }
  LocalRules rules = setup_.rules;
  (rules.steps > 0 ? rules.steps : rules.epochs) = finished.passes;
  const Stopwatch training;
  ClientUpdate& update = finished.update;
  ClientState next;
  update = worker.train(
      start, record.client, setup_.clients[static_cast<std::size_t>(record.client)], rules,
      *setup_.correction, states_->get(record.client).to(setup_.format.device), next, stop);
  record.samples = update.samples;
  record.steps = update.steps;
  record.loss_first = update.loss_first;
  record.loss_last = update.loss_last;
  record.seconds_train = training.seconds();
  if (update.steps == 0 || update.samples == 0) {
    record.status = "no-steps";
    return;
  }
  record.status = "not-finite";
  if (!std::isfinite(update.loss_last)) return;
  if (measured) record.accuracy_after = accuracy_on_own(worker, record.client);
  if (record.corrupted.value_or(false) && setup_.corrupted_update_factor != 1) {
    worker.exaggerate(update, start.global, setup_.corrupted_update_factor);
  }
  if (!all_finite(update)) return;
  const Stopwatch scoring;
  finished.assessment = setup_.weighting->assess(round, update, worker);
  record.seconds_score = scoring.seconds();
  record.score = finished.assessment.score;
  record.norm = finished.assessment.norm;
  record.tensor_norms = finished.assessment.tensor_norms;
  record.status = finished.assessment.refused.empty() ? "ok" : finished.assessment.refused;
  if (record.status == "ok" && !next.empty()) states_->put(record.client, start.round, next);
  if (setup_.rules.buffers != BufferRule::global) update.buffers.clear();
}

void RoundDriver::add(Finished&& finished, Accepted& accepted) {
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
  setup_.combiner->add(update, receipt.scores, receipt.factor);
  setup_.correction->accept(update);
  accepted.extra_bytes += bytes_of(update.extra);
  accepted.receipts.push_back(std::move(receipt));
  accepted.spreads.push_back(std::move(finished.assessment.spreads));
  accepted.records.push_back(finished.record);
  accepted.seconds += adding.seconds();
}

RoundRecord RoundDriver::record_of(std::int64_t index,
                                   const std::vector<std::int64_t>& cohort) const {
  RoundRecord record{.round = index, .participants = static_cast<std::int64_t>(cohort.size())};
  for (const auto client : cohort) {
    if (client < 0 || client >= static_cast<std::int64_t>(setup_.clients.size())) {
      throw RunError("round " + std::to_string(index) + ": there is no client " +
                     std::to_string(client));
    }
    record.clients.push_back({.client = client});
    if (!setup_.corrupted.empty()) {
      record.clients.back().corrupted = setup_.corrupted[static_cast<std::size_t>(client)];
    }
  }
  record.learning_rate = learning_rate_;
  if (setup_.learning_rate_factor) record.learning_rate *= setup_.learning_rate_factor(index);
  return record;
}

std::vector<std::size_t> RoundDriver::order_of_work(const std::vector<std::int64_t>& passes,
                                                    std::vector<ClientRecord>& clients) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    if (passes[i] > 0) {
      order.push_back(i);
      continue;
    }
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    clients[i].status = "dropped";
    clients[i].loss_first = clients[i].loss_last = kNone;
  }
  const auto samples = [&](std::size_t i) {
    return setup_.clients[static_cast<std::size_t>(clients[i].client)].samples.size();
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return samples(a) != samples(b) ? samples(a) > samples(b)
                                    : clients[a].client < clients[b].client;
  });
  return order;
}

std::optional<std::int64_t> RoundDriver::choose_scored(std::int64_t index) {
  Worker::Validation& validation = setup_.validation;
  if (budget_) {
    validation.scored = budget_->batches_of(index);
    validation.groups = ValidationBudget::kGroups;
  }
  if (!setup_.weighting->needs_validation()) return std::nullopt;
  return budget_ ? budget_->images_in(validation.scored) : std::ssize(validation.plan.ids);
}

RoundRecord RoundDriver::run_round(std::int64_t index, const std::vector<std::int64_t>& cohort,
                                   const std::atomic<bool>& stop,
                                   const std::function<void(Federation::Progress)>& progress) {
  const Stopwatch total;
  RoundRecord record = record_of(index, cohort);
  const LocalRules& rules = setup_.rules;
  const auto passes =
      setup_.faults.passes(rules.seed, index, cohort, rules.steps > 0 ? rules.steps : rules.epochs);
  const auto order = order_of_work(passes, record.clients);
  record.scored = choose_scored(index);
  has_run_ = true;
  const TensorMap inbox = setup_.correction->broadcast();
  const RoundStart start{index, global_, buffers_, inbox, record.learning_rate};
  const Round round{index, std::ssize(setup_.clients), global_, layout_, {}};
  Accepted accepted{.round = index};
  setup_.combiner->begin(layout_, setup_.weighting->parts());
  TurnQueue<Finished> queue(setup_.window,
                            [&](Finished&& finished) { add(std::move(finished), accepted); });
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
        finished.passes = passes[order[position]];
        train_client(*workers_[worker], start, round, *finished.record, stop, finished);
        // Where somebody else failed meanwhile, that is what the round throws.
        if (!queue.put(position, std::move(finished))) return;
      } catch (...) {
        queue.close();
        throw;
      }
      if (progress) {
        const std::lock_guard lock(telling);
        progress({++done, std::ssize(order)});
      }
    });
    const Stopwatch stepping;
    step(accepted, record);
    record.seconds_combine = stepping.seconds();
  } catch (...) {
    setup_.correction->abandon(round);
    states_->drop(index);
    throw;
  }
  summarize(accepted, start, record);
  record.seconds = total.seconds();
  return record;
}

std::string RoundDriver::why_nobody(const RoundRecord& record) const {
  std::set<std::string> fates;
  for (const ClientRecord& client : record.clients) fates.insert(client.status);
  if (fates == std::set<std::string>{"dropped"}) return "no client answered (train.drop_out)";
  fates.erase("dropped");
  if (fates != std::set<std::string>{"no-steps"}) return "no update was accepted";
  if (!workers_[0]->model().has_batch_norm()) return "no client took a step";
  return "no client took a step, as BatchNorm has no statistics of a batch of one sample; give "
         "clients at least 2 samples (partition.min_samples), or take a network without BatchNorm";
}

std::string RoundDriver::too_few(std::size_t accepted, const RoundRecord& record) const {
  if (accepted == 0) return why_nobody(record);
  const auto number = static_cast<std::int64_t>(accepted);
  if (number >= setup_.min_participants) return "";
  return counted(number, "accepted update") + ", train.min_participants is " +
         std::to_string(setup_.min_participants);
}

void RoundDriver::step(Accepted& accepted, RoundRecord& record) {
  const auto population = static_cast<std::int64_t>(setup_.clients.size());
  const Round round{accepted.round, population, global_, layout_, accepted.receipts};
  std::vector<std::vector<Score>> scores;
  for (const auto& receipt : accepted.receipts) scores.push_back(receipt.scores);
  const auto shares = setup_.weighting->shares(scores);
  record.void_reason = too_few(scores.size(), record);
  std::optional<Combined> combined;
  if (record.void_reason.empty()) combined = setup_.combiner->combine(shares);
  if (!combined) {
    record.is_void = true;
    if (record.void_reason.empty()) {
      record.void_reason =
          setup_.combiner->takes_weights() ? "total weight 0" : "too few updates were accepted";
    }
    setup_.correction->abandon(round);
    states_->drop(accepted.round);
    return;
  }
  std::vector<Column> weights;
  std::set<std::int64_t> clients;
  for (std::size_t k = 0; k < accepted.receipts.size(); ++k) {
    weights.push_back(setup_.combiner->weights(k, scores[k], shares));
    ClientRecord& client = *accepted.records[k];
    client.weight = mean(weights[k]);
    client.tensor_weights = weights[k];
    if (weights[k].size() == 1) client.tensor_weights.assign(layout_.tensors(), weights[k][0]);
    clients.insert(client.client);
  }
  const Column columns = setup_.correction->columns(round, weights);
  for (std::size_t l = 0; l < layout_.tensors() && !(columns.size() == 1 && columns[0] == 1); ++l) {
    layout_.segment(combined->step, l).mul_(column_at(columns, l));
  }
  // Where clients share nothing the global model stays the initial one.
  if (!setup_.own_models) take_step(round, std::move(*combined));
  if (budget_) budget_->measure(accepted.spreads);
  states_->publish(accepted.round, clients);
}

void RoundDriver::take_step(const Round& round, Combined&& combined) {
  const TensorMap server = setup_.server->state(), correction = setup_.correction->state();
  try {
    at::Tensor w = global_.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
    setup_.server->step(w, combined.step);
    setup_.correction->after_step(round, w);
    at::Tensor next = w.to(global_.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    Tensors buffers = std::move(combined.buffers);
    if (setup_.rules.buffers != BufferRule::global && all_finite(next)) {
      pool_.run(1, [&](std::size_t worker, std::size_t) {
        buffers = workers_[worker]->buffers_from_validation(next);
      });
    }
    if (!all_finite(next) || !all_finite(buffers)) {
      throw RunError("diverged in round " + std::to_string(round.index) +
                     ": the server's step is not finite; the model of the round before is kept; "
                     "take smaller learning rates");
    }
    global_ = std::move(next);
    buffers_ = std::move(buffers);
  } catch (...) {
    setup_.server->restore(server);
    setup_.correction->restore(correction);
    throw;
  }
}

void RoundDriver::summarize(const Accepted& accepted, const RoundStart& start,
                            RoundRecord& record) const {
  double entropy = 0;
  for (const ClientRecord* client : accepted.records) {
    if (record.is_void) break;
    record.weight_min = std::min(record.weight_min.value_or(client->weight), client->weight);
    record.weight_max = std::max(record.weight_max.value_or(client->weight), client->weight);
    if (client->weight > 0) entropy -= client->weight * std::log(client->weight);
  }
  const auto count = static_cast<double>(accepted.records.size());
  if (!record.is_void && count > 1) record.weight_entropy = entropy / std::log(count);

  std::int64_t model_bytes =
      model_layout().parameters() * static_cast<std::int64_t>(global_.itemsize());
  for (const auto& buffer : buffers_) model_bytes += static_cast<std::int64_t>(buffer.nbytes());
  record.bytes_down = record.participants * (model_bytes + bytes_of(start.inbox));
  const auto dropped = std::ranges::count(record.clients, "dropped", &ClientRecord::status);
  record.bytes_up = (record.participants - dropped) * model_bytes + accepted.extra_bytes;
  const auto workers = static_cast<double>(pool_.size());
  for (const auto& client : record.clients) {
    record.rejected += client.status == "not-finite" || client.status == "dead";
    record.seconds_train += client.seconds_train / workers;
    record.seconds_score += client.seconds_score / workers;
  }
  record.seconds_combine += accepted.seconds / workers;
}

}  // namespace fedvg
