#include "engine/round_driver.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "fedvg/error.h"
#include "toy_federation.h"

namespace fedvg {
namespace {

using testing::part;
using testing::Scripted;
using testing::ToyFederation;
using testing::ToyOptions;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

double weight_sum(const RoundRecord& record) {
  double sum = 0;
  for (const auto& client : record.clients) sum += client.weight;
  return sum;
}

/// How far the model moved from `before`, the same in every number of a scripted round.
double moved(const ToyFederation& federation, const std::vector<double>& before) {
  return federation.model()[0] - before[0];
}

std::vector<Part> all_rules() {
  std::vector<Part> rules;
  for (const auto* info : Catalog::instance().parts("weighting")) {
    if (info->name != "mix") rules.push_back(part(info->name));
  }
  for (const char* norm : {"l2", "linf", "spectral", "delta"}) {
    rules.push_back(part("fedvg", {{"norm", norm}}));
  }
  for (const char* granularity : {"layer", "block"}) {
    rules.push_back(part("fedvg", {{"granularity", granularity}}));
  }
  Table fedvg, size;
  fedvg.set("name", "fedvg");
  size.set("name", "size");
  rules.push_back(part("mix", {{"of", Array{fedvg, size}}}));
  return rules;
}

// U05: clients that return the model they got leave it as it is, whoever takes part.
TEST(RoundDriver, KeepsTheModelWhenClientsReturnIt) {
  for (const auto& rule : all_rules()) {
    ToyOptions options;
    options.sizes.assign(20, 6);
    options.weighting = rule;
    options.optimizer = part("sgd", {{"lr", 0.0}});
    ToyFederation federation(std::move(options));
    const auto before = federation.model();
    std::int64_t index = 0;
    for (const std::int64_t participants : {1, 5, 10, 20, 5}) {
      std::vector<std::int64_t> cohort(static_cast<std::size_t>(participants));
      std::iota(cohort.begin(), cohort.end(), 0);
      const auto record = federation.round(++index, cohort);
      EXPECT_NEAR(weight_sum(record), 1, 1e-12) << rule.name;
    }
    const auto after = federation.model();
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-12);
  }
}

// U02: values 1, 2 and one that is not finite, equal sizes: 1.5, and the third is named.
TEST(RoundDriver, LeavesOutAnUpdateThatIsNotFinite) {
  for (const double bad : {kNan, kInf, -kInf}) {
    for (const auto& rule : all_rules()) {
      ToyOptions options;
      options.sizes = {10, 10, 10};
      options.weighting = rule;
      options.scripted = std::make_unique<Scripted>(
          [bad](std::int64_t, std::int64_t client) { return client == 2 ? bad : client + 1.0; });
      ToyFederation federation(std::move(options));
      const auto before = federation.model();
      const auto record = federation.round(1, {0, 1, 2});
      EXPECT_EQ(record.clients[2].status, "not-finite");
      EXPECT_EQ(record.clients[2].weight, 0);
      EXPECT_EQ(record.rejected, 1);
      EXPECT_NEAR(weight_sum(record), 1, 1e-12);
      if (rule.name == "size" || rule.name == "uniform") {
        EXPECT_NEAR(moved(federation, before), 1.5, 1e-12);
      }
      for (const double value : federation.model()) EXPECT_TRUE(std::isfinite(value));
    }
  }
}

// U02: all three; the round is void, the model bit-identical.
TEST(RoundDriver, DeclaresARoundVoidWhenEverybodyIsRejected) {
  ToyOptions options;
  options.scripted = std::make_unique<Scripted>([](std::int64_t, std::int64_t) { return kNan; });
  ToyFederation federation(std::move(options));
  const auto before = federation.model();
  const auto record = federation.round(1, {0, 1, 2});
  EXPECT_TRUE(record.is_void);
  EXPECT_EQ(record.void_reason, "no update was accepted");
  EXPECT_EQ(record.rejected, 3);
  EXPECT_FALSE(record.weight_min.has_value());
  EXPECT_EQ(federation.model(), before);
}

// U02, U12: a NaN in one buffer only.
TEST(RoundDriver, LeavesOutAnUpdateWithABufferThatIsNotFinite) {
  class BadBuffer final : public Correction {
    void end(LocalContext& context, ClientUpdate& update) const override {
      if (context.client == 1) update.buffers[0].fill_(kNan);
    }
  };
  ToyOptions options;
  options.batch_norm = true;
  options.scripted = std::make_unique<BadBuffer>();
  ToyFederation federation(std::move(options));
  const auto record = federation.round(1, {0, 1, 2});
  EXPECT_EQ(record.clients[1].status, "not-finite");
  for (const auto& buffer : federation.driver->buffers()) {
    EXPECT_FALSE(buffer.isnan().any().item<bool>());
  }
}

// U01: no samples at all.
TEST(RoundDriver, DeclaresARoundOfEmptyClientsVoid) {
  for (const auto& rule : all_rules()) {
    ToyOptions options;
    options.sizes = {0, 0, 5};
    options.weighting = rule;
    ToyFederation federation(std::move(options));
    const auto before = federation.model();
    const auto record = federation.round(1, {0, 1});
    EXPECT_TRUE(record.is_void);
    EXPECT_EQ(record.clients[0].status, "no-steps");
    EXPECT_EQ(record.rejected, 0);
    EXPECT_EQ(federation.model(), before);
  }
}

// U06: round 2 with clients 1 and 2 that return w + 5 and w + 7 gives w + 6, whatever
// client 0 sent in round 1.
TEST(RoundDriver, CountsThisRoundsUpdatesOnly) {
  ToyOptions options;
  options.sizes = {10, 10, 10};
  options.scripted = std::make_unique<Scripted>([](std::int64_t round, std::int64_t client) {
    return round == 1 ? 100.0 * static_cast<double>(client + 1) : client == 1 ? 5.0 : 7.0;
  });
  ToyFederation federation(std::move(options));
  federation.round(1, {0, 2});
  const auto before = federation.model();
  federation.round(2, {1, 2});
  EXPECT_NEAR(moved(federation, before), 6, 1e-12);
}

// U11: nine honest clients near 1 and one at 1e6. By size the step is about 1e5; by FedVG
// the one whose model fits the validation set worst counts less than a tenth.
TEST(RoundDriver, FedVgDistrustsAModelOfLargeRandomWeights) {
  const auto script = [](std::int64_t, std::int64_t client) {
    return client == 9 ? 1e6 : 1 + 0.01 * static_cast<double>(client);
  };
  for (const char* name : {"size", "fedvg"}) {
    ToyOptions options;
    options.sizes.assign(10, 8);
    options.weighting = part(name);
    options.scripted = std::make_unique<Scripted>(script);
    ToyFederation federation(std::move(options));
    const auto before = federation.model();
    const auto record = federation.round(1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    if (std::string(name) == "size") {
      EXPECT_NEAR(moved(federation, before), 1e5, 1e2);
    } else {
      EXPECT_LT(record.clients[9].weight, 0.1);
    }
  }
}

// U11: what the validation loss does not depend on has a zero gradient. Weights that
// overflow softmax into one certain class leave a finite gradient; a network that answers
// the same whatever its parameters does not.
class DeadNetwork final : public Network {
 public:
  DeadNetwork() { linear("head", 4, 3); }
  Output forward(const at::Tensor& images, Mode mode) override {
    Output output = Network::forward(images, mode);
    const bool dead = parameters_[0].tensor.sum().item<double>() > 1e3;
    if (dead) output.logits = output.logits.mul(0);
    return output;
  }
};

TEST(RoundDriver, RejectsADeadNetwork) {
  for (const char* granularity : {"model", "layer", "block"}) {
    ToyOptions options;
    options.weighting = part("fedvg", {{"granularity", granularity}});
    ToyFederation toy(std::move(options));
    DriverSetup setup;
    setup.build_model = [] { return std::make_unique<DeadNetwork>(); };
    setup.build_optimizer = [] { return Registry<LocalOptimizer>::instance().make("sgd"); };
    setup.correction = std::make_unique<Scripted>(
        [](std::int64_t, std::int64_t client) { return client == 0 ? 1e3 : 0.1; });
    setup.weighting =
        Registry<WeightingRule>::instance().make(part("fedvg", {{"granularity", granularity}}));
    setup.server = Registry<ServerOptimizer>::instance().make("sgd");
    for (int k = 0; k < 3; ++k)
      setup.clients.push_back({.store = toy.store.get(), .samples = {0, 1, 2, 3}});
    setup.validation = {toy.store.get(), cut({4, 5, 6, 7, 8}, 3, true), Mode::eval};
    setup.format.dtype = at::kDouble;
    RoundDriver driver(std::move(setup));
    const std::atomic<bool> stop = false;
    const auto record = driver.run_round(1, {0, 1, 2}, stop);
    EXPECT_EQ(record.clients[0].status, "dead") << granularity;
    EXPECT_EQ(record.clients[0].weight, 0);
    EXPECT_NEAR(record.clients[1].weight + record.clients[2].weight, 1, 1e-12);
    EXPECT_EQ(record.rejected, 1);
  }
}

// A floor far above every norm makes all weights equal.
TEST(RoundDriver, AHighScoreFloorLevelsTheWeights) {
  for (const char* granularity : {"model", "layer", "block"}) {
    ToyOptions options;
    options.weighting = part("fedvg", {{"granularity", granularity}, {"score_floor", 1e6}});
    ToyFederation federation(std::move(options));
    const auto record = federation.round(1, {0, 1, 2});
    for (const auto& client : record.clients) EXPECT_NEAR(client.weight, 1.0 / 3, 1e-12);
  }
}

TEST(RoundDriver, ALowScoreFloorChangesNothing) {
  std::vector<std::vector<double>> models;
  for (const double floor : {0.0, 1e-9}) {
    ToyOptions options;
    options.weighting = part("fedvg", {{"score_floor", floor}});
    ToyFederation federation(std::move(options));
    federation.round(1, {0, 1, 2});
    models.push_back(federation.model());
  }
  EXPECT_EQ(models[0], models[1]);
}

// U56: 1, 2, 3 and 8 workers, with clients that finish in another order, and any window.
TEST(RoundDriver, RepeatsBitwiseForAnyNumberOfWorkers) {
  for (const bool batch_norm : {false, true}) {
    std::vector<std::vector<double>> models;
    std::vector<double> norms;
    for (const std::size_t workers : {1, 2, 3, 8, 2}) {
      ToyOptions options;
      options.sizes = {30, 3, 17, 0, 1, 25, 12, 40};
      options.weighting = part("fedvg");
      options.batch_norm = batch_norm;
      options.workers = workers;
      options.window = models.size() % 2 == 0 ? 4 : 1;
      options.dtype = at::kFloat;
      const auto salt = static_cast<std::int64_t>(models.size());
      options.before_training = [salt](std::int64_t client) {
        std::this_thread::sleep_for(std::chrono::milliseconds((client * 7 + salt * 5) % 11));
      };
      ToyFederation federation(std::move(options));
      RoundRecord last;
      for (std::int64_t r = 1; r <= 4; ++r) last = federation.round(r, {7, 0, 4, 2, 1, 5});
      models.push_back(federation.model());
      norms.push_back(last.clients[0].norm.value());
      EXPECT_EQ(models.back(), models.front()) << workers << " workers";
      EXPECT_EQ(norms.back(), norms.front());
    }
  }
}

// The order in which the cohort is listed does not matter.
TEST(RoundDriver, DoesNotDependOnTheOrderOfTheCohort) {
  std::vector<std::vector<double>> models;
  for (const auto& cohort : {std::vector<std::int64_t>{0, 1, 2}, {2, 0, 1}}) {
    ToyOptions options;
    options.weighting = part("fedvg");
    ToyFederation federation(std::move(options));
    federation.round(1, cohort);
    models.push_back(federation.model());
  }
  EXPECT_EQ(models[0], models[1]);
}

// U20: scoring leaves model, buffers and streams alone: a run that scores and then weighs
// uniformly equals one that does not score.
TEST(RoundDriver, ScoringLeavesNoTrace) {
  std::vector<std::vector<double>> models;
  Table uniform, fedvg;
  uniform.set("name", "uniform");
  fedvg.set("name", "fedvg");
  const std::vector<Part> rules = {
      part("uniform"), part("mix", {{"of", Array{uniform, fedvg}}, {"shares", Array{1, 0}}})};
  for (const auto& rule : rules) {
    ToyOptions options;
    options.batch_norm = true;
    options.weighting = rule;
    ToyFederation federation(std::move(options));
    federation.round(1, {0, 1, 2});
    federation.round(2, {0, 1});
    models.push_back(federation.model());
    for (const auto& buffer : federation.driver->buffers()) {
      models.back().push_back(buffer.to(at::kDouble).sum().item<double>());
    }
  }
  EXPECT_EQ(models[0], models[1]);
}

// U20: evaluating twice gives the same and leaves the model as it is.
TEST(RoundDriver, EvaluationIsReadOnly) {
  ToyOptions options;
  options.batch_norm = true;
  ToyFederation federation(std::move(options));
  federation.round(1, {0, 1});
  const auto model = federation.model();
  std::vector<std::int64_t> ids(50);
  std::iota(ids.begin(), ids.end(), 0);
  const auto first = federation.driver->evaluate(*federation.store, ids, federation.stop);
  const auto second = federation.driver->evaluate(*federation.store, ids, federation.stop);
  EXPECT_EQ(first.accuracy, second.accuracy);
  EXPECT_EQ(first.loss, second.loss);
  EXPECT_EQ(federation.model(), model);
}

// U17: with BatchNorm a client of one sample takes no step; others train on all batches of
// two or more. Batch 32: 2 and 33 samples make 1 step an epoch, 65 make 2.
TEST(RoundDriver, SkipsBatchesOfOneUnderBatchNorm) {
  ToyOptions options;
  options.sizes = {1, 2, 33, 65};
  options.batch_norm = true;
  options.batch_size = 32;
  options.epochs = 1;
  ToyFederation federation(std::move(options));
  const auto record = federation.round(1, {0, 1, 2, 3});
  EXPECT_EQ(record.clients[0].status, "no-steps");
  EXPECT_EQ(record.clients[0].weight, 0);
  const std::vector<std::int64_t> steps{0, 1, 1, 2}, samples{1, 2, 33, 65};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(record.clients[k].steps, steps[k]);
    EXPECT_EQ(record.clients[k].samples, samples[k]);
  }
  EXPECT_NEAR(record.clients[1].weight, 0.02, 1e-12);
}

TEST(RoundDriver, TrainsOnABatchOfOneWithoutBatchNorm) {
  ToyOptions options;
  options.sizes = {1, 9};
  options.epochs = 1;
  ToyFederation federation(std::move(options));
  const auto record = federation.round(1, {0, 1});
  EXPECT_EQ(record.clients[0].steps, 1);
  EXPECT_EQ(record.clients[0].status, "ok");
  EXPECT_EQ(record.clients[1].steps, 2);
}

// 20 samples in batches of 8 are 3 batches; 7 steps go round them more than twice.
TEST(RoundDriver, CountsStepsInsteadOfEpochs) {
  ToyOptions options;
  options.steps = 7;
  ToyFederation federation(std::move(options));
  EXPECT_EQ(federation.round(1, {1}).clients[0].steps, 7);
}

TEST(RoundDriver, StopsWithTheModelOfTheRoundBefore) {
  ToyOptions options;
  ToyFederation federation(std::move(options));
  federation.round(1, {0, 1, 2});
  const auto model = federation.model();
  federation.stop = true;
  EXPECT_THROW(federation.round(2, {0, 1, 2}), Interrupted);
  EXPECT_EQ(federation.model(), model);
  federation.stop = false;
  EXPECT_FALSE(federation.round(2, {0, 1, 2}).is_void);
}

TEST(RoundDriver, PassesOnAFaultOfAWorkerAndStaysUsable) {
  ToyOptions options;
  options.sizes.assign(12, 10);
  bool fail = true;
  options.before_training = [&fail](std::int64_t client) {
    if (fail && client == 5) throw std::runtime_error("disk on fire");
  };
  ToyFederation federation(std::move(options));
  const auto model = federation.model();
  const std::vector<std::int64_t> everybody{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_THROW(federation.round(1, everybody), std::runtime_error);
  EXPECT_EQ(federation.model(), model);
  fail = false;
  EXPECT_FALSE(federation.round(1, everybody).is_void);
}

TEST(RoundDriver, RefusesAClientThatDoesNotExist) {
  ToyFederation federation({});
  EXPECT_THROW(federation.round(1, {3}), RunError);
}

// Weights 0.25 and 0.75: entropy -(ln 1/4 / 4 + 3 ln 3/4 / 4) / ln 2 = 0.8112781244591328.
TEST(RoundDriver, ReportsTheSpreadOfTheWeights) {
  ToyOptions options;
  options.sizes = {10, 30};
  ToyFederation federation(std::move(options));
  const auto record = federation.round(1, {0, 1});
  EXPECT_NEAR(*record.weight_min, 0.25, 1e-15);
  EXPECT_NEAR(*record.weight_max, 0.75, 1e-15);
  EXPECT_NEAR(*record.weight_entropy, 0.8112781244591328, 1e-15);
  EXPECT_FALSE(federation.round(2, {0}).weight_entropy.has_value());
}

// base.0 is 5x4 + 5, head 3x5 + 3: 43 numbers of 8 bytes to and from each of 2 clients.
TEST(RoundDriver, CountsTheBytesOfTheModels) {
  ToyFederation federation({});
  const auto record = federation.round(1, {0, 1});
  EXPECT_EQ(record.bytes_down, 2 * 43 * 8);
  EXPECT_EQ(record.bytes_up, 2 * 43 * 8);
}

// A sum of squares that the server's learning rate blows up ends the run, not in NaN.
TEST(RoundDriver, RefusesAServerStepThatIsNotFinite) {
  ToyOptions options;
  options.dtype = at::kFloat;
  options.server = part("sgd", {{"lr", 1e38}});
  options.scripted = std::make_unique<Scripted>([](std::int64_t, std::int64_t) { return 1e3; });
  ToyFederation federation(std::move(options));
  const auto model = federation.model();
  EXPECT_THROW(federation.round(1, {0, 1}), RunError);
  EXPECT_EQ(federation.model(), model);
}

// Pair by pair, which is what the area under the curve is.
double auroc_by_pairs(const Predictions& predictions, std::int64_t of_class) {
  double won = 0, pairs = 0;
  for (std::int64_t p = 0; p < predictions.size(); ++p) {
    if (predictions.labels[static_cast<std::size_t>(p)] != of_class) continue;
    for (std::int64_t n = 0; n < predictions.size(); ++n) {
      if (predictions.labels[static_cast<std::size_t>(n)] == of_class) continue;
      const float a = predictions.probability(p, of_class),
                  b = predictions.probability(n, of_class);
      won += a > b ? 1 : a == b ? 0.5 : 0;
      ++pairs;
    }
  }
  return won / pairs;
}

// 1,300 samples are three pieces of work.
TEST(RoundDriver, EvaluatesAlikeWithAnyNumberOfWorkers) {
  std::vector<Evaluation> evaluations;
  std::vector<Predictions> predictions;
  std::vector<std::int64_t> ids(1300);
  std::iota(ids.rbegin(), ids.rend(), 0);
  for (const std::size_t workers : {1U, 2U, 3U}) {
    ToyOptions options;
    options.sizes = {600, 700};
    options.workers = workers;
    ToyFederation federation(std::move(options));
    evaluations.push_back(federation.driver->evaluate(*federation.store, ids, federation.stop,
                                                      &predictions.emplace_back()));
  }
  const Evaluation& first = evaluations[0];
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(evaluations[i].loss, first.loss);
    EXPECT_EQ(evaluations[i].macro_auroc, first.macro_auroc);
    EXPECT_EQ(evaluations[i].confusion, first.confusion);
    EXPECT_EQ(predictions[i].probabilities, predictions[0].probabilities);
  }
  ASSERT_EQ(predictions[0].size(), 1300);
  double mean = 0;
  for (std::int64_t c = 0; c < 3; ++c) mean += auroc_by_pairs(predictions[0], c) / 3;
  EXPECT_NEAR(first.macro_auroc.value(), mean, 1e-12);
  std::int64_t right = 0;
  for (std::size_t c = 0; c < 3; ++c) right += first.confusion[c][c];
  EXPECT_DOUBLE_EQ(first.accuracy, static_cast<double>(right) / 1300);
}

// Whoever is still at work when another participant fails does not hide why.
TEST(RoundDriver, ThrowsWhatTheFailingParticipantThrew) {
  ToyOptions options;
  options.sizes = {30, 20, 10};
  options.workers = 2;
  options.before_training = [](std::int64_t client) {
    if (client == 1) throw DataError("the disk is gone");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  ToyFederation federation(std::move(options));
  try {
    federation.round(1, {0, 1, 2});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "the disk is gone");
  }
}

}  // namespace
}  // namespace fedvg
