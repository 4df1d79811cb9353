// What must hold for every method of the table, and each with the weights of FedVG, on random
// small problems.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "engine/every_method.h"
#include "toy_federation.h"

namespace fedvg {
namespace {

using testing::every_method;
using testing::part;
using testing::ToyFederation;
using testing::ToyOptions;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// One random small problem; the same for every method.
struct Problem {
  std::uint64_t seed;
  bool batch_norm;

  ToyOptions options() const {
    Random random(seed, "invariants");
    ToyOptions result;
    result.seed = seed;
    result.batch_norm = batch_norm;
    result.sizes.clear();
    const std::uint64_t clients = 3 + random.below(3);
    for (std::uint64_t k = 0; k < clients; ++k) {
      result.sizes.push_back(4 + static_cast<std::int64_t>(random.below(14)));
    }
    result.features = 3 + static_cast<std::int64_t>(random.below(4));
    result.classes = 2 + static_cast<std::int64_t>(random.below(3));
    result.validation = 6 + static_cast<std::int64_t>(random.below(8));
    result.validation_batch = 3 + static_cast<std::int64_t>(random.below(3));
    result.batch_size = 4 + static_cast<std::int64_t>(random.below(4));
    result.epochs = 1 + static_cast<std::int64_t>(random.below(2));
    result.optimizer = part("sgd", {{"lr", 0.02 + 0.2 * random.uniform()}});
    return result;
  }
  ToyOptions options(const std::string& method) const {
    ToyOptions result = options();
    result.use(compose_method(method));
    return result;
  }
};

std::vector<Problem> problems() {
  std::vector<Problem> list;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    for (const bool batch_norm : {false, true}) list.push_back({seed, batch_norm});
  }
  return list;
}

/// Runs `check(method, problem)` for all of them; a failure says which.
template <class Check>
void for_all(Check check) {
  for (const auto& problem : problems()) {
    for (const auto& method : every_method()) {
      SCOPED_TRACE(method + (problem.batch_norm ? " with BatchNorm" : "") + ", seed " +
                   std::to_string(problem.seed));
      check(method, problem);
    }
  }
}

std::vector<std::int64_t> everybody(const ToyOptions& options) {
  std::vector<std::int64_t> cohort(options.sizes.size());
  std::iota(cohort.begin(), cohort.end(), 0);
  return cohort;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

// U05: from fresh states, clients that return the model leave it as it is, whoever takes part.
TEST(Invariant, ReturnedModelsLeaveTheModelAsItIs) {
  for_all([](const std::string& method, const Problem& problem) {
    ToyOptions options = problem.options(method);
    options.optimizer = part("sgd", {{"lr", 0.0}});
    const auto all = everybody(options);
    ToyFederation federation(std::move(options));
    const auto before = federation.model();
    std::int64_t index = 0;
    for (const auto& cohort : {all, {0}, {2, 1}, all}) {
      EXPECT_FALSE(federation.round(++index, cohort).is_void);
    }
    expect_near(federation.model(), before, 1e-12);
  });
}

TEST(Invariant, ColumnsOfTheWeightsSumToOne) {
  for_all([](const std::string& method, const Problem& problem) {
    ToyOptions options = problem.options(method);
    const auto all = everybody(options);
    ToyFederation federation(std::move(options));
    std::int64_t index = 0;
    for (const auto& cohort : {all, {1}, {2, 0}}) {
      const auto record = federation.round(++index, cohort);
      for (std::size_t l = 0; l < federation.driver->layout().tensors(); ++l) {
        double sum = 0;
        for (const auto& client : record.clients) {
          EXPECT_GE(client.tensor_weights.at(l), 0);
          sum += client.tensor_weights[l];
        }
        EXPECT_NEAR(sum, 1, 1e-12);
      }
    }
  });
}

// A single participant has all the weight; where nothing on the server adds to its update,
// its model becomes the model.
TEST(Invariant, OneParticipantDecidesAlone) {
  for_all([](const std::string& method, const Problem& problem) {
    ToyOptions options = problem.options(method);
    const std::string correction = options.correction.name;
    const bool plain_server = options.server.name == "sgd" && options.server.options.empty();
    at::Tensor sent;
    options.after_end = [&sent](LocalContext& context, ClientUpdate&) {
      sent = context.parameters.clone();
    };
    ToyFederation federation(std::move(options));
    for (std::int64_t r = 1; r <= 3; ++r) {
      const auto record = federation.round(r, {1});
      EXPECT_EQ(record.clients[0].weight, 1);
      ASSERT_FALSE(record.is_void);
      for (const double value : federation.everything()) ASSERT_TRUE(std::isfinite(value));
      if (!plain_server || correction == "feddyn" || correction == "elastic") continue;
      EXPECT_LT(federation.driver->global().sub(sent).abs().max().item<double>(), 1e-14);
    }
  });
}

TEST(Invariant, TheOrderOfTheClientsDoesNotMatter) {
  for_all([](const std::string& method, const Problem& problem) {
    std::vector<std::vector<double>> ends;
    for (const bool reversed : {false, true}) {
      ToyOptions options = problem.options(method);
      auto cohort = everybody(options);
      if (reversed) std::reverse(cohort.begin(), cohort.end());
      ToyFederation federation(std::move(options));
      for (std::int64_t r = 1; r <= 3; ++r) federation.round(r, cohort);
      ends.push_back(federation.everything());
    }
    EXPECT_EQ(ends[0], ends[1]);
  });
}

TEST(Invariant, TheNumberOfWorkersDoesNotMatter) {
  for_all([](const std::string& method, const Problem& problem) {
    std::vector<std::vector<double>> ends;
    for (const std::size_t workers : {1, 3}) {
      ToyOptions options = problem.options(method);
      options.workers = workers;
      options.dtype = at::kFloat;
      const auto all = everybody(options);
      ToyFederation federation(std::move(options));
      std::int64_t index = 0;
      for (const auto& cohort : {all, {2, 0}, {1}, all}) federation.round(++index, cohort);
      ends.push_back(federation.everything());
    }
    EXPECT_EQ(ends[0], ends[1]);
  });
}

// channels_last weights lie otherwise in the flat vector: the numbers are the same but for
// rounding, for every method, norm and granularity.
TEST(Invariant, TheMemoryFormatDoesNotMatter) {
  const auto end_of = [](ToyOptions options, bool channels_last) {
    options.batch_norm = true;
    options.adjust = [channels_last](DriverSetup& setup) {
      setup.format.channels_last = channels_last;
      setup.build_model = [] {
        auto network = std::make_unique<Network>();
        network->conv2d("stem", 1, 3, 2).batch_norm("bn", 3).relu();
        network->conv2d("late", 3, 4, 2).relu().global_avg_pool().linear("head", 4, 2);
        return network;
      };
    };
    options.classes = 2;
    const auto all = everybody(options);
    ToyFederation federation(std::move(options));
    for (std::int64_t r = 1; r <= 3; ++r) federation.round(r, all);
    std::vector<double> numbers;
    const Layout& layout = federation.driver->layout();
    for (std::size_t l = 0; l < layout.tensors(); ++l) {
      const at::Tensor tensor = layout.view(federation.driver->global(), l).contiguous();
      const auto* from = tensor.data_ptr<double>();
      numbers.insert(numbers.end(), from, from + tensor.numel());
    }
    return numbers;
  };
  const Problem problem{4, true};
  for (const auto& method : every_method()) {
    SCOPED_TRACE(method);
    expect_near(end_of(problem.options(method), true), end_of(problem.options(method), false),
                1e-10);
  }
  for (const char* norm : {"l1", "l2", "linf", "spectral", "delta"}) {
    for (const char* granularity : {"model", "layer", "block"}) {
      SCOPED_TRACE(std::string(norm) + " " + granularity);
      ToyOptions options = problem.options();
      options.weighting = part("fedvg", {{"norm", norm}, {"granularity", granularity}});
      ToyOptions other = problem.options();
      other.weighting = options.weighting;
      expect_near(end_of(std::move(options), true), end_of(std::move(other), false), 1e-10);
    }
  }
}

// Two clients with the same samples train alike and weigh alike, round after round.
TEST(Invariant, EqualClientsWeighAlike) {
  for_all([](const std::string& method, const Problem& problem) {
    ToyOptions options = problem.options(method);
    auto cohort = everybody(options);
    cohort.push_back(static_cast<std::int64_t>(cohort.size()));
    if (options.correction.name == "elastic") {
      options.correction.options.set("sample_ratio", 0.0);  // each client draws its own probe
    }
    options.adjust = [](DriverSetup& setup) {
      setup.rules.shuffle = false;
      setup.clients.push_back(setup.clients[1]);
    };
    ToyFederation federation(std::move(options));
    for (std::int64_t r = 1; r <= 3; ++r) {
      const auto record = federation.round(r, cohort);
      const ClientRecord &one = record.clients[1], &other = record.clients.back();
      ASSERT_EQ(one.weight, other.weight);
      EXPECT_EQ(one.tensor_weights, other.tensor_weights);
      EXPECT_EQ(one.norm, other.norm);
      EXPECT_EQ(one.loss_last, other.loss_last);
    }
  });
}

// U02: whatever number of one client's update is broken, the round goes as if it had not
// taken part: its state, the sums and the model are those of the others.
TEST(Invariant, ABrokenClientLeavesNoTrace) {
  for_all([](const std::string& method, const Problem& problem) {
    const auto spoil = [&](std::int64_t round, ClientUpdate& update) {
      const double bad = round == 2 ? kInf : kNan;
      if (round == 1 || update.buffers.empty()) update.delta[1].fill_(bad);
      if (round == 2 && !update.buffers.empty()) update.buffers[1][0].fill_(bad);
      if (round == 3) update.loss_last = bad;
    };
    std::vector<std::vector<double>> ends;
    for (const bool broken : {true, false}) {
      ToyOptions options = problem.options(method);
      options.after_end = [&spoil](LocalContext& context, ClientUpdate& update) {
        if (context.client == 1 && context.round <= 3) spoil(context.round, update);
      };
      auto cohort = everybody(options);
      if (!broken) cohort.erase(cohort.begin() + 1);
      ToyFederation federation(std::move(options));
      for (std::int64_t r = 1; r <= 3; ++r) {
        const auto record = federation.round(r, cohort);
        EXPECT_EQ(record.rejected, broken ? 1 : 0);
        if (broken) {
          EXPECT_EQ(record.clients[1].status, "not-finite");
        }
      }
      federation.round(4, everybody(problem.options()));  // and comes back
      ends.push_back(federation.everything());
    }
    for (const double value : ends[0]) ASSERT_TRUE(std::isfinite(value));
    EXPECT_EQ(ends[0], ends[1]);
  });
}

// U02: NaN in the samples themselves.
TEST(Invariant, BrokenSamplesLeaveNoTrace) {
  for_all([](const std::string& method, const Problem& problem) {
    ToyOptions options = problem.options(method);
    std::unique_ptr<TensorStore> broken;
    options.adjust = [&broken](DriverSetup& setup) {
      LocalData& client = setup.clients[1];
      BatchBuffer buffer;
      const Batch whole = client.store->assemble(client.samples, buffer);
      at::Tensor images = whole.images.clone();
      images.view({-1})[0].fill_(kNan);
      broken = std::make_unique<TensorStore>(images, whole.labels.clone());
      client.store = broken.get();
      std::iota(client.samples.begin(), client.samples.end(), 0);
    };
    const auto all = everybody(options);
    ToyFederation federation(std::move(options));
    for (std::int64_t r = 1; r <= 2; ++r) {
      const auto record = federation.round(r, all);
      EXPECT_EQ(record.clients[1].status, "not-finite");
      EXPECT_EQ(record.rejected, 1);
    }
    for (const double value : federation.everything()) ASSERT_TRUE(std::isfinite(value));
  });
}

Part fedvg_with_equal_scores() { return part("fedvg", {{"score_floor", 1e9}}); }

Value as_table(const Part& part) {
  Table table = part.options;
  table.set("name", part.name);
  return table;
}

// X+fedvg in a round in which everybody's norm is lifted to the same floor is X with uniform
// weights; fedavg+fedvg is then the mean of uniform and size.
TEST(Invariant, EqualScoresAreUniformWeights) {
  for_all([](const std::string& method, const Problem& problem) {
    if (method.find("fedvg") == std::string::npos) return;
    std::vector<std::vector<double>> ends;
    for (const Part& rule : {fedvg_with_equal_scores(), part("uniform")}) {
      ToyOptions options = problem.options(method);
      const bool mixed = options.weighting.name == "mix";
      options.weighting =
          mixed ? part("mix", {{"of", Array{as_table(rule), as_table(part("size"))}}}) : rule;
      const auto all = everybody(options);
      ToyFederation federation(std::move(options));
      for (std::int64_t r = 1; r <= 3; ++r) federation.round(r, all);
      ends.push_back(federation.model());  // counters half way round either way
    }
    expect_near(ends[0], ends[1], 1e-11);
  });
}

// fedavg+fedvg: W = (W_fedvg + W_size) / 2, in the first round, where all three train alike.
TEST(Invariant, FedAvgWithFedVgIsTheMeanOfBoth) {
  for (const auto& problem : problems()) {
    std::vector<std::vector<double>> models, weights;
    for (const char* method : {"fedavg", "fedvg", "fedavg+fedvg"}) {
      ToyOptions options = problem.options(method);
      const auto all = everybody(options);
      ToyFederation federation(std::move(options));
      const auto record = federation.round(1, all);
      models.push_back(federation.model());
      auto& row = weights.emplace_back();
      for (const auto& client : record.clients) row.push_back(client.weight);
    }
    for (std::size_t k = 0; k < weights[0].size(); ++k) {
      EXPECT_NEAR(weights[2][k], (weights[0][k] + weights[1][k]) / 2, 1e-14);
    }
    for (std::size_t i = 0; i < models[0].size(); ++i) {
      ASSERT_NEAR(models[2][i], (models[0][i] + models[1][i]) / 2, 1e-14);
    }
  }
}

// U56: no random stream depends on the method: all start from one model and train client 0 on
// the same batches in the same order; only corrections that act in round 1 change its loss.
TEST(Invariant, MethodsShareTheirRandomStreams) {
  for (const auto& problem : problems()) {
    std::vector<double> first_model;
    std::optional<double> first_loss;
    for (const auto& method : every_method()) {
      ToyOptions options = problem.options(method);
      const std::string correction = options.correction.name;
      ToyFederation federation(std::move(options));
      if (first_model.empty()) first_model = federation.model();
      EXPECT_EQ(federation.model(), first_model) << method;
      const auto record = federation.round(1, {0, 1});
      const bool plain =
          correction == "none" || correction == "scaffold" || correction == "fednova";
      if (!plain) continue;
      if (!first_loss) first_loss = record.clients[0].loss_last;
      EXPECT_EQ(record.clients[0].loss_last, *first_loss) << method;
    }
  }
}

}  // namespace
}  // namespace fedvg
