// What clients keep between their rounds, as runs see it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "fedvg/error.h"
#include "toy_federation.h"

namespace fedvg {
namespace {

using testing::part;
using testing::ToyFederation;
using testing::ToyOptions;

/// Methods and settings with something to keep.
struct Keeper {
  const char* name;
  Part correction, optimizer;
  bool keep_optimizer = false;
  BufferRule buffers = BufferRule::global;
};

std::vector<Keeper> keepers() {
  const Part sgd = part("sgd", {{"lr", 0.05}});
  const Part momentum = part("sgd", {{"lr", 0.05}, {"momentum", 0.9}});
  return {{"scaffold", part("scaffold"), sgd},
          {"feddyn", part("feddyn"), sgd},
          {"moon", part("moon"), sgd},
          {"momentum", part("none"), momentum, true},
          {"adam", part("feddyn"), part("adam", {{"lr", 0.01}}), true},
          {"local buffers", part("moon"), sgd, false, BufferRule::local}};
}

ToyOptions options_of(const Keeper& keeper, std::int64_t clients) {
  ToyOptions options;
  options.sizes.assign(static_cast<std::size_t>(clients), 9);
  options.correction = keeper.correction;
  options.optimizer = keeper.optimizer;
  options.batch_norm = true;
  options.dtype = at::kFloat;
  options.adjust = [keeper](DriverSetup& setup) {
    setup.rules.keep_optimizer = keeper.keep_optimizer;
    setup.rules.buffers = keeper.buffers;
  };
  return options;
}

/// Client 3 takes part in rounds 1 and 5.
const std::vector<std::vector<std::int64_t>> kCohorts = {{3, 7}, {1, 2}, {7, 9}, {1, 4}, {3, 1}};

std::vector<double> run(ToyOptions options) {
  ToyFederation federation(std::move(options));
  std::int64_t index = 0;
  for (const auto& cohort : kCohorts) {
    const auto record = federation.round(++index, cohort);
    EXPECT_FALSE(record.is_void);
  }
  return federation.everything();
}

// U41: the state follows the client, not the worker.
TEST(ClientMemory, FollowsTheClientWhateverTheWorkers) {
  for (const auto& keeper : keepers()) {
    std::vector<std::vector<double>> ends;
    for (const std::size_t workers : {1, 4}) {
      ToyOptions options = options_of(keeper, 10);
      options.workers = workers;
      ends.push_back(run(std::move(options)));
    }
    EXPECT_EQ(ends[0], ends[1]) << keeper.name;
  }
}

// On disk the bytes are the same, and no file is left.
TEST(ClientMemory, IsTheSameOnDisk) {
  std::string name = (std::filesystem::temp_directory_path() / "fedvg-test-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  for (const auto& keeper : keepers()) {
    std::vector<std::vector<double>> ends;
    for (const bool disk : {false, true}) {
      ToyOptions options = options_of(keeper, 10);
      const auto adjust = options.adjust;
      options.adjust = [=](DriverSetup& setup) {
        adjust(setup);
        if (!disk) return;
        setup.state_memory = 0;
        setup.state_folder = folder / "states";
      };
      if (disk) {
        options.before_training = [&folder](std::int64_t client) {
          if (client == 9) {
            EXPECT_TRUE(std::filesystem::exists(folder / "states"));
          }
        };
      }
      ends.push_back(run(std::move(options)));
    }
    EXPECT_EQ(ends[0], ends[1]) << keeper.name;
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << keeper.name;
  }
  std::filesystem::remove_all(folder);
}

// What `fedvg check` reckons with.
TEST(ClientMemory, IsCountedByTheCorrection) {
  for (const char* name : {"none", "fedprox", "scaffold", "feddyn", "moon", "elastic", "alone"}) {
    std::int64_t found = -1;
    ToyOptions options;
    options.sizes = {20};
    options.correction = part(name);
    options.batch_norm = true;
    options.after_end = [&found](LocalContext& context, ClientUpdate&) {
      found = std::ranges::count_if(context.next_state, [&](const auto& entry) {
        return entry.second.numel() == context.parameters.numel();
      });
    };
    ToyFederation federation(std::move(options));
    federation.round(1, {0});
    EXPECT_EQ(Registry<Correction>::instance().make(part(name))->vectors_kept(), found) << name;
  }
}

/// Keeps the number of the client's rounds that counted, and writes down what it found.
class Remembering final : public Correction {
 public:
  using Seen = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;
  Remembering(Seen& seen, std::function<void(LocalContext&, ClientUpdate&)> then)
      : seen_(seen), then_(std::move(then)) {}

  void end(LocalContext& context, ClientUpdate& update) const override {
    const auto last = context.state->find("rounds");
    const std::int64_t rounds =
        last == context.state->end() ? 0 : last->second.item<std::int64_t>();
    {
      const std::lock_guard lock(mutex_);
      seen_[{context.round, context.client}] = rounds;
    }
    context.next_state["rounds"] = at::full({}, rounds + 1, at::kLong);
    then_(context, update);
  }

 private:
  Seen& seen_;
  std::function<void(LocalContext&, ClientUpdate&)> then_;
  mutable std::mutex mutex_;
};

// Client 1's update of round 2 is rejected, round 3 is void, round 4 fails: of these nothing
// is kept.
TEST(ClientMemory, OnlyKeepsWhatTheServerAccepted) {
  Remembering::Seen seen;
  bool fail = false;
  ToyOptions options;
  options.sizes = {10, 10, 10};
  options.scripted =
      std::make_unique<Remembering>(seen, [](LocalContext& context, ClientUpdate& u) {
        const bool bad = (context.round == 2 && context.client == 1) || context.round == 3;
        if (bad) u.delta.fill_(std::numeric_limits<double>::quiet_NaN());
      });
  options.before_training = [&fail](std::int64_t client) {
    if (fail && client == 2) throw std::runtime_error("out of paper");
  };
  ToyFederation federation(std::move(options));
  federation.round(1, {0, 1, 2});
  EXPECT_EQ(federation.round(2, {0, 1, 2}).rejected, 1);
  EXPECT_TRUE(federation.round(3, {0, 1, 2}).is_void);
  fail = true;
  EXPECT_THROW(federation.round(4, {0, 1, 2}), std::runtime_error);
  fail = false;
  federation.round(4, {0, 1, 2});
  federation.round(5, {0, 1, 2});
  for (const std::int64_t client : {0, 1, 2}) {
    const std::int64_t lost = client == 1 ? 1 : 0;
    EXPECT_EQ((seen[{1, client}]), 0);
    EXPECT_EQ((seen[{2, client}]), 1);
    EXPECT_EQ((seen[{3, client}]), 2 - lost);
    EXPECT_EQ((seen[{4, client}]), 2 - lost);
    EXPECT_EQ((seen[{5, client}]), 3 - lost);
  }
}

// U41: the client of rounds 1 and 5 finds in round 5 what it left in round 1.
TEST(ClientMemory, IsFoundAgainAfterRoundsWithout) {
  Remembering::Seen seen;
  ToyOptions options;
  options.sizes.assign(10, 5);
  options.scripted = std::make_unique<Remembering>(seen, [](LocalContext&, ClientUpdate&) {});
  ToyFederation federation(std::move(options));
  std::int64_t index = 0;
  for (const auto& cohort : kCohorts) federation.round(++index, cohort);
  EXPECT_EQ((seen[{5, 3}]), 1);
  EXPECT_EQ((seen[{5, 1}]), 2);
}

// A participant without a step keeps the state that it had.
TEST(ClientMemory, IsUnchangedByARoundWithoutSteps) {
  Remembering::Seen seen;
  ToyOptions options;
  options.sizes = {1, 10};
  options.batch_norm = true;
  options.scripted = std::make_unique<Remembering>(seen, [](LocalContext&, ClientUpdate&) {});
  ToyFederation federation(std::move(options));
  EXPECT_EQ(federation.round(1, {0, 1}).clients[0].status, "no-steps");
  federation.round(2, {0, 1});
  EXPECT_EQ((seen[{2, 1}]), 1);
  EXPECT_FALSE(seen.contains({2, 0}));
}

/// The only client, one step a round on all its data.
ToyOptions one_step(Part optimizer, bool keep, std::int64_t steps) {
  ToyOptions options;
  options.sizes = {12};
  options.batch_size = 12;
  options.steps = steps;
  options.optimizer = std::move(optimizer);
  options.adjust = [keep](DriverSetup& setup) {
    setup.rules.keep_optimizer = keep;
    setup.rules.shuffle = false;
  };
  return options;
}

// U50: with its state kept, three rounds of one step are one round of three; anew each round
// they are not.
TEST(ClientMemory, OfTheOptimizerIsKeptWhenTold) {
  for (const Part& optimizer : {part("sgd", {{"lr", 0.1}, {"momentum", 0.9}}),
                                part("adam", {{"lr", 0.05}}), part("adamw", {{"lr", 0.05}})}) {
    ToyFederation whole(one_step(optimizer, false, 3));
    whole.round(1, {0});
    const auto wanted = whole.model();
    for (const bool keep : {true, false}) {
      ToyFederation parts(one_step(optimizer, keep, 1));
      for (std::int64_t r = 1; r <= 3; ++r) parts.round(r, {0});
      double apart = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        apart = std::max(apart, std::abs(parts.model()[i] - wanted[i]));
      }
      if (keep) {
        EXPECT_LT(apart, 1e-12) << optimizer.name;
      } else {
        EXPECT_GT(apart, 1e-3) << optimizer.name;
      }
    }
  }
}

// With local buffers a client of rounds 1 and 3 goes on counting its own batches: 2 + 2 of
// them, whatever the model's counter says meanwhile.
TEST(ClientMemory, OfBuffersIsKeptWhenTold) {
  std::vector<std::int64_t> counts;
  ToyOptions options;
  options.sizes = {16, 16, 16};
  options.batch_norm = true;
  options.epochs = 1;
  options.after_end = [&counts](LocalContext& context, ClientUpdate& update) {
    if (context.client == 0) counts.push_back(update.buffers[2].item<std::int64_t>());
  };
  options.adjust = [](DriverSetup& setup) { setup.rules.buffers = BufferRule::local; };
  ToyFederation federation(std::move(options));
  federation.round(1, {0, 1});
  federation.round(2, {1, 2});
  federation.round(3, {0, 1});
  EXPECT_EQ(counts, (std::vector<std::int64_t>{2, 4}));
  // Of D_val's 12 samples in batches of 4 the model has seen 3.
  EXPECT_EQ(federation.driver->buffers()[2].item<std::int64_t>(), 3);
}

}  // namespace
}  // namespace fedvg
