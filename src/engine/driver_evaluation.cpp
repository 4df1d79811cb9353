// What a federation's model, or its clients' own ones, are worth on a set of samples.

#include <algorithm>

#include "engine/round_driver.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::size_t kChunk = 500;  // samples of an evaluation that one worker takes at once

std::size_t chunks_of(std::span<const std::int64_t> ids) {
  return (ids.size() + kChunk - 1) / kChunk;
}

Evaluation evaluation_of(const Worker::Tally& tally, const Predictions& predictions,
                         const std::vector<std::optional<double>>& aurocs) {
  const auto samples = static_cast<double>(tally.samples);
  Evaluation evaluation{static_cast<double>(tally.right) / samples, tally.loss_sum / samples};
  evaluation.confusion = confusion_of(predictions);
  evaluation.balanced_accuracy = balanced_accuracy(evaluation.confusion);
  evaluation.macro_f1 = macro_f1(evaluation.confusion);
  evaluation.macro_auroc = mean_of_present(aurocs);
  return evaluation;
}

}  // namespace

std::optional<double> RoundDriver::accuracy_on_own(Worker& worker, std::int64_t client) const {
  const LocalData& own = setup_.clients[static_cast<std::size_t>(client)];
  if (own.samples.empty()) return std::nullopt;
  const Worker::Tally tally = worker.evaluate(*own.store, own.samples);
  return static_cast<double>(tally.right) / static_cast<double>(tally.samples);
}

void RoundDriver::load_own_model(Worker& worker, std::int64_t client) {
  const ClientState state = setup_.own_models ? states_->get(client) : ClientState();
  const auto w = state.correction.find("w");
  worker.load(w == state.correction.end() ? global_ : w->second,
              state.buffers.empty() ? buffers_ : state.buffers);
}

void RoundDriver::global_model_in_chunks(
    std::span<const std::int64_t> ids, const std::atomic<bool>& stop,
    const std::function<void(Worker& worker, std::size_t chunk, std::span<const std::int64_t>)>&
        evaluate) {
  std::vector<char> loaded(pool_.size(), 0);
  pool_.run(chunks_of(ids), [&](std::size_t worker, std::size_t chunk) {
    if (stop) throw Interrupted("stopped in an evaluation");
    if (!loaded[worker]) workers_[worker]->load(global_, buffers_);
    loaded[worker] = 1;
    const std::size_t begin = chunk * kChunk;
    evaluate(*workers_[worker], chunk, ids.subspan(begin, std::min(kChunk, ids.size() - begin)));
  });
}

Evaluation RoundDriver::evaluate(const SampleStore& store, std::span<const std::int64_t> ids,
                                 const std::atomic<bool>& stop, Predictions* predictions) {
  std::vector<Worker::Tally> tallies(chunks_of(ids));
  std::vector<Predictions> parts(chunks_of(ids));
  global_model_in_chunks(ids, stop, [&](Worker& worker, std::size_t chunk, auto samples) {
    tallies[chunk] = worker.evaluate(store, samples, &parts[chunk]);
  });
  Worker::Tally sum;
  for (const auto& tally : tallies) {
    sum.loss_sum += tally.loss_sum;
    sum.right += tally.right;
    sum.samples += tally.samples;
  }
  Predictions all;
  for (auto& part : parts) {
    all.append(part);
    part = {};  // held once
  }
  std::vector<std::optional<double>> aurocs(static_cast<std::size_t>(all.classes));
  pool_.run(aurocs.size(), [&](std::size_t, std::size_t c) {
    aurocs[c] = auroc(all, static_cast<std::int64_t>(c));
  });
  const Evaluation evaluation = evaluation_of(sum, all, aurocs);
  if (predictions) *predictions = std::move(all);
  return evaluation;
}

Evaluation RoundDriver::evaluate_own_models(const SampleStore& store,
                                            std::span<const std::int64_t> ids,
                                            const std::atomic<bool>& stop) {
  constexpr std::int64_t kGlobal = -1;  // stands for all clients without a model of their own
  std::vector<std::int64_t> members, stale;
  bool untrained = false;
  for (std::int64_t client = 0; client < static_cast<std::int64_t>(setup_.clients.size());
       ++client) {
    if (setup_.clients[static_cast<std::size_t>(client)].samples.empty()) continue;
    const bool own = states_->version(client) > 0;
    members.push_back(own ? client : kGlobal);
    untrained = untrained || !own;
  }
  if (untrained) stale.push_back(kGlobal);
  for (const auto client : members) {
    if (client != kGlobal) stale.push_back(client);
  }
  std::erase_if(stale, [&](std::int64_t client) {
    const auto known = own_figures_.find({&store, client});
    return known != own_figures_.end() && known->second.version == states_->version(client);
  });
  std::vector<Evaluation> figures(stale.size());
  pool_.run(stale.size(), [&](std::size_t worker, std::size_t i) {
    if (stop) throw Interrupted("stopped in an evaluation");
    load_own_model(*workers_[worker], stale[i]);
    Predictions predictions;
    const Worker::Tally tally = workers_[worker]->evaluate(store, ids, &predictions);
    std::vector<std::optional<double>> aurocs;
    for (std::int64_t c = 0; c < predictions.classes; ++c) aurocs.push_back(auroc(predictions, c));
    figures[i] = evaluation_of(tally, predictions, aurocs);
  });
  for (std::size_t i = 0; i < stale.size(); ++i) {
    own_figures_[{&store, stale[i]}] = {states_->version(stale[i]), figures[i]};
  }
  std::vector<const Evaluation*> own;
  for (const auto client : members) own.push_back(&own_figures_.at({&store, client}).figures);
  return mean_of(own);
}

ClientFigures RoundDriver::evaluate_clients(const SampleStore& store,
                                            std::span<const std::vector<std::int64_t>> clients,
                                            const std::atomic<bool>& stop) {
  ClientFigures figures = figures_of(setup_.own_models ? own_models_on(store, clients, stop)
                                                       : global_model_on(store, clients, stop));
  figures.own_models = setup_.own_models;
  return figures;
}

std::vector<ClientTally> RoundDriver::global_model_on(
    const SampleStore& store, std::span<const std::vector<std::int64_t>> clients,
    const std::atomic<bool>& stop) {
  // All clients' samples in a row, so that batches are full whatever a client has.
  std::vector<std::int64_t> ids;
  for (const auto& client : clients) ids.insert(ids.end(), client.begin(), client.end());
  std::vector<char> right(ids.size(), 0);
  global_model_in_chunks(ids, stop, [&](Worker& worker, std::size_t chunk, auto samples) {
    Predictions predictions;
    worker.evaluate(store, samples, &predictions);
    for (std::size_t i = 0; i < predictions.labels.size(); ++i) {
      right[chunk * kChunk + i] = predictions.predicted[i] == predictions.labels[i];
    }
  });
  std::vector<ClientTally> tallies;
  auto next = right.begin();
  for (const auto& client : clients) {
    const auto end = next + std::ssize(client);
    tallies.push_back({std::count(next, end, 1), std::ssize(client)});
    next = end;
  }
  return tallies;
}

std::vector<ClientTally> RoundDriver::own_models_on(
    const SampleStore& store, std::span<const std::vector<std::int64_t>> clients,
    const std::atomic<bool>& stop) {
  std::vector<ClientTally> tallies(clients.size());
  pool_.run(clients.size(), [&](std::size_t worker, std::size_t k) {
    if (stop) throw Interrupted("stopped in an evaluation");
    if (clients[k].empty()) return;
    load_own_model(*workers_[worker], static_cast<std::int64_t>(k));
    const Worker::Tally tally = workers_[worker]->evaluate(store, clients[k]);
    tallies[k] = {tally.right, tally.samples};
  });
  return tallies;
}

}  // namespace fedvg
