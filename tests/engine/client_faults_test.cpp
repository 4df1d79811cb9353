#include "engine/client_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "engine/every_method.h"
#include "engine/example_data.h"
#include "toy_federation.h"

namespace fedvg {
namespace {

using testing::every_method;
using testing::part;
using testing::refusal;
using testing::Scripted;
using testing::ToyFederation;
using testing::ToyOptions;
using Clients = std::vector<std::int64_t>;

Clients first(std::int64_t number) {
  Clients clients(static_cast<std::size_t>(number));
  std::iota(clients.begin(), clients.end(), 0);
  return clients;
}

// 0.145 of 100 is 14.499999999999998 in floating point, and meant as 14.5.
TEST(ClientFaults, RoundSharesToTheNearest) {
  EXPECT_EQ(nearest_share(0, 7), 0);
  EXPECT_EQ(nearest_share(1, 7), 7);
  EXPECT_EQ(nearest_share(0.24, 10), 2);
  EXPECT_EQ(nearest_share(0.25, 10), 3);
  EXPECT_EQ(nearest_share(0.1, 5), 1);
  EXPECT_EQ(nearest_share(0.09, 5), 0);
  EXPECT_EQ(nearest_share(0.145, 100), 15);
  EXPECT_EQ(nearest_share(0.5, 1), 1);
}

TEST(ClientFaults, LeaveEverybodyAloneWithoutShares) {
  EXPECT_EQ(ClientFaults{}.passes(1, 1, first(4), 5), (Clients{5, 5, 5, 5}));
  EXPECT_EQ(ClientFaults{}.passes(1, 1, first(2), 1), (Clients{1, 1}));
}

// Of 10: 3 never answer, 4 of the other 7 do 1 to 4 of 5 passes.
TEST(ClientFaults, HaveTheirSharesInEveryRound) {
  const ClientFaults faults{.drop_out = 0.3, .stragglers = 0.4};
  for (std::int64_t round = 1; round <= 50; ++round) {
    const Clients passes = faults.passes(1, round, first(10), 5);
    EXPECT_EQ(std::ranges::count(passes, 0), 3);
    EXPECT_EQ(std::ranges::count(passes, 5), 3);
    for (const auto number : passes) EXPECT_TRUE(number >= 0 && number <= 5);
  }
}

TEST(ClientFaults, MakeAllWhoAnswerStragglersWhenTheyAreFewer) {
  const Clients passes =
      ClientFaults{.drop_out = 0.5, .stragglers = 0.8}.passes(1, 1, first(10), 3);
  EXPECT_EQ(std::ranges::count(passes, 0), 5);
  EXPECT_EQ(std::ranges::count(passes, 3), 0);
}

TEST(ClientFaults, DependOnSeedRoundAndTheSetOfParticipants) {
  const ClientFaults faults{.drop_out = 0.3, .stragglers = 0.3};
  const Clients cohort = {3, 14, 15, 92, 65, 35, 89, 79, 32, 38};
  const Clients passes = faults.passes(1, 4, cohort, 9);
  EXPECT_EQ(faults.passes(1, 4, cohort, 9), passes);
  EXPECT_NE(faults.passes(1, 5, cohort, 9), passes);
  EXPECT_NE(faults.passes(2, 4, cohort, 9), passes);
  const Clients backwards(cohort.rbegin(), cohort.rend());
  Clients again = faults.passes(1, 4, backwards, 9);
  std::reverse(again.begin(), again.end());
  EXPECT_EQ(again, passes);
}

// Two runs that differ in one of the shares differ in nothing else.
TEST(ClientFaults, WhoDropsOutDoesNotDependOnStragglers) {
  for (std::int64_t round = 1; round <= 20; ++round) {
    const Clients alone = ClientFaults{.drop_out = 0.4}.passes(1, round, first(10), 5);
    const Clients both =
        ClientFaults{.drop_out = 0.4, .stragglers = 0.6}.passes(1, round, first(10), 5);
    for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(alone[k] == 0, both[k] == 0);
  }
}

// 3 of 10 drop out and 3 straggle, 20,000 rounds: each client 6000 times (deviation 65), and
// of the 60,000 stragglers 15,000 with each of 1 to 4 passes (deviation 106).
TEST(ClientFaults, MeetEverybodyAlike) {
  const ClientFaults faults{.drop_out = 0.3, .stragglers = 0.3};
  std::vector<int> dropped(10), slow(10), passes_done(5);
  for (std::int64_t round = 1; round <= 20'000; ++round) {
    const Clients passes = faults.passes(1, round, first(10), 5);
    for (std::size_t k = 0; k < 10; ++k) {
      if (passes[k] == 0) ++dropped[k];
      if (passes[k] == 0 || passes[k] == 5) continue;
      ++slow[k];
      ++passes_done[static_cast<std::size_t>(passes[k])];
    }
  }
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_NEAR(dropped[k], 6000, 350);
    EXPECT_NEAR(slow[k], 6000, 350);
  }
  for (std::size_t number = 1; number < 5; ++number) EXPECT_NEAR(passes_done[number], 15000, 560);
}

TrainOptions training(std::int64_t min_participants, double drop_out, double stragglers) {
  TrainOptions train;
  train.min_participants = min_participants;
  train.drop_out = drop_out;
  train.stragglers = stragglers;
  return train;
}

std::string said_of(const TrainOptions& train, std::int64_t participants,
                    const char* method = "fedavg") {
  return refusal([&] { check_client_faults(train, compose_method(method), participants); });
}

TEST(ClientFaults, RefuseStragglersThatCanDoNoLess) {
  TrainOptions train = training(1, 0, 0.5);
  EXPECT_EQ(said_of(train, 10), "");
  train.epochs = 1;
  EXPECT_EQ(said_of(train, 10),
            "train.stragglers: a straggler does fewer epochs than train.epochs = 1, and there are "
            "none; set train.epochs to at least 2, or leave stragglers out");
  train.steps = 2;
  EXPECT_EQ(said_of(train, 10), "");
  train.steps = 1;
  train.epochs = 5;
  testing::expect_says(said_of(train, 10), {"train.steps = 1", "at least 2"});
}

TEST(ClientFaults, RefuseMoreUpdatesThanARoundCanHave) {
  EXPECT_EQ(said_of(training(10, 0, 0), 10), "");
  EXPECT_EQ(said_of(training(11, 0, 0), 10),
            "train.min_participants = 11: a round has 10 participants, so that every round would "
            "be void; set it to at most 10, or let more take part");
  EXPECT_EQ(said_of(training(7, 0.3, 0), 10), "");
  EXPECT_EQ(said_of(training(8, 0.3, 0), 10),
            "train.min_participants = 8: a round has 10 participants, of which 3 never answer "
            "(train.drop_out = 0.3), so that every round would be void; set it to at most 7, or "
            "let more take part");
  for (const std::int64_t needed : {1, 3}) {
    EXPECT_EQ(said_of(training(needed, 1, 0), 10),
              "train.drop_out = 1.0: of 10 participants nobody answers, so that every round would "
              "be void; take a smaller share");
  }
  EXPECT_EQ(said_of(training(99, 1, 0), 0), "");  // not known
}

TEST(ClientFaults, RefuseFaultsWhereThereIsOneClient) {
  testing::expect_says(said_of(training(1, 0.1, 0), 1, "centralized"),
                       {"train.drop_out", "method.name = \"centralized\"", "leave it out"});
  testing::expect_says(said_of(training(1, 0, 0.1), 1, "centralized"), {"train.stragglers"});
  testing::expect_says(said_of(training(2, 0, 0), 1, "centralized"),
                       {"train.min_participants = 2: a round has 1 participant,"});
  EXPECT_EQ(said_of(training(1, 0, 0), 1, "centralized"), "");
  EXPECT_EQ(said_of(training(1, 0.5, 0.5), 10, "local"), "");
}

TEST(ClientFaults, SayWhichShareIsNobody) {
  EXPECT_EQ(idle_client_faults(training(1, 0.04, 0.1), 5),
            (std::vector<std::string>{
                "train.drop_out = 0.04 has no effect: of 5 participants that is nobody"}));
  EXPECT_TRUE(idle_client_faults(training(1, 0.04, 0.04), 0).empty());
  EXPECT_TRUE(idle_client_faults(training(1, 0, 0), 5).empty());
}

// What a round makes of them.

ToyOptions faulty(double drop_out, double stragglers, std::int64_t min_participants = 1) {
  ToyOptions options;
  options.sizes = {30, 3, 17, 9, 12, 25};
  options.epochs = 4;
  options.adjust = [=](DriverSetup& setup) {
    setup.faults = {drop_out, stragglers};
    setup.min_participants = min_participants;
  };
  return options;
}

/// All numbers of the models, and of the clients' own under `local`.
std::vector<double> numbers(ToyFederation& federation, const std::string& method) {
  std::vector<double> numbers = federation.everything();
  if (method == "local") {
    const auto own =
        federation.driver->evaluate_own_models(*federation.store, first(40), federation.stop);
    numbers.push_back(own.loss);
  }
  return numbers;
}

TEST(FaultyRound, WhoDropsOutCostsNothingAndIsNamed) {
  ToyOptions options = faulty(0.5, 0);
  std::mutex mutex;
  std::set<std::int64_t> trained;
  options.before_training = [&](std::int64_t client) {
    const std::lock_guard lock(mutex);
    trained.insert(client);
  };
  ToyFederation federation(std::move(options));
  const RoundRecord record = federation.round(1, first(6));
  const Clients passes = ClientFaults{.drop_out = 0.5}.passes(7, 1, first(6), 4);
  EXPECT_EQ(trained.size(), 3u);
  EXPECT_EQ(record.participants, 6);
  EXPECT_EQ(record.rejected, 0);
  EXPECT_EQ(record.bytes_down, 6 * 43 * 8);
  EXPECT_EQ(record.bytes_up, 3 * 43 * 8);
  double weights = 0;
  for (std::size_t k = 0; k < 6; ++k) {
    const ClientRecord& client = record.clients[k];
    weights += client.weight;
    EXPECT_EQ(client.status, passes[k] == 0 ? "dropped" : "ok");
    EXPECT_EQ(trained.count(client.client), passes[k] == 0 ? 0u : 1u);
    if (passes[k] > 0) continue;
    EXPECT_EQ(client.samples, 0);
    EXPECT_EQ(client.steps, 0);
    EXPECT_EQ(client.weight, 0);
    EXPECT_TRUE(std::isnan(client.loss_first));
    EXPECT_TRUE(std::isnan(client.loss_last));
    EXPECT_TRUE(client.tensor_weights.empty());
  }
  EXPECT_NEAR(weights, 1, 1e-12);
}

// Batches of 8: 30, 3, 17, 9, 12 and 25 samples are 4, 1, 3, 2, 2 and 4 steps a pass.
TEST(FaultyRound, StragglersDoFewerEpochsOrSteps) {
  const Clients batches = {4, 1, 3, 2, 2, 4};
  for (const std::int64_t steps : {0, 7}) {
    ToyOptions options = faulty(0, 0.5);
    options.steps = steps;
    ToyFederation federation(std::move(options));
    const RoundRecord record = federation.round(1, first(6));
    const std::int64_t all = steps > 0 ? steps : 4;
    const Clients passes = ClientFaults{.stragglers = 0.5}.passes(7, 1, first(6), all);
    ASSERT_EQ(std::ranges::count(passes, all), 3);
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_EQ(record.clients[k].steps, passes[k] * (steps > 0 ? 1 : batches[k])) << k;
      EXPECT_EQ(record.clients[k].status, "ok");
    }
  }
}

// Who does one of two epochs does what it would do if there were one: a_k, control variates and
// all that depends on steps are those of the steps that were done.
TEST(FaultyRound, AStragglerCountsTheStepsItDid) {
  for (const auto& method : every_method()) {
    std::vector<std::vector<double>> models;
    std::vector<double> losses;
    for (const bool straggling : {true, false}) {
      ToyOptions options = faulty(0, straggling ? 1 : 0);
      options.use(compose_method(method));
      options.epochs = straggling ? 2 : 1;
      ToyFederation federation(std::move(options));
      RoundRecord last;
      for (std::int64_t r = 1; r <= 3; ++r) last = federation.round(r, {0, 2, 4, r});
      models.push_back(numbers(federation, method));
      losses.push_back(last.clients[0].loss_last);
    }
    EXPECT_EQ(models[0], models[1]) << method;
    EXPECT_EQ(losses[0], losses[1]) << method;
  }
}

// A run in which clients drop out is the run without those participants: nothing of them, and
// nothing of what they keep, is touched.
TEST(FaultyRound, WhoDropsOutMightAsWellNotTakePart) {
  for (const auto& method : every_method()) {
    for (const bool batch_norm : {false, true}) {
      ToyOptions options = faulty(0.4, 0), plain = faulty(0, 0);
      for (ToyOptions* some : {&options, &plain}) {
        some->use(compose_method(method));
        some->epochs = 2;
        some->batch_norm = batch_norm;
      }
      ToyFederation federation(std::move(options)), other(std::move(plain));
      for (std::int64_t r = 1; r <= 3; ++r) {
        const Clients passes = ClientFaults{.drop_out = 0.4}.passes(7, r, first(6), 2);
        Clients answering;
        for (const auto client : first(6)) {
          if (passes[static_cast<std::size_t>(client)] > 0) answering.push_back(client);
        }
        ASSERT_EQ(answering.size(), 4u);
        federation.round(r, first(6));
        other.round(r, answering);
      }
      EXPECT_EQ(numbers(federation, method), numbers(other, method)) << method << batch_norm;
    }
  }
}

// U56, with faults: any number of workers, clients that finish in another order.
TEST(FaultyRound, RepeatsBitwiseForAnyNumberOfWorkers) {
  for (const auto& method : every_method()) {
    std::vector<std::vector<double>> models;
    for (const std::size_t workers : {1, 2, 8}) {
      ToyOptions options = faulty(0.35, 0.35);
      options.use(compose_method(method));
      options.dtype = at::kFloat;
      options.workers = workers;
      options.window = workers == 2 ? 1 : 4;
      options.before_training = [workers](std::int64_t client) {
        const auto wait = (client * 7 + static_cast<std::int64_t>(workers) * 5) % 4;
        std::this_thread::sleep_for(std::chrono::milliseconds(wait));
      };
      ToyFederation federation(std::move(options));
      for (std::int64_t r = 1; r <= 3; ++r) {
        const RoundRecord record = federation.round(r, first(6));
        EXPECT_EQ(std::ranges::count(record.clients, "dropped", &ClientRecord::status), 2);
      }
      models.push_back(numbers(federation, method));
      for (const double number : models.back()) EXPECT_TRUE(std::isfinite(number)) << method;
      EXPECT_EQ(models.back(), models.front()) << method << ", " << workers << " workers";
    }
  }
}

TEST(FaultyRound, IsVoidWhenNobodyAnswers) {
  ToyFederation federation(faulty(1, 0));
  const auto before = federation.everything();
  const RoundRecord record = federation.round(1, first(6));
  EXPECT_TRUE(record.is_void);
  EXPECT_EQ(record.void_reason, "no client answered (train.drop_out)");
  EXPECT_EQ(record.bytes_up, 0);
  EXPECT_EQ(record.rejected, 0);
  EXPECT_EQ(federation.everything(), before);
}

// Two of three updates are finite: enough for 2, too few for 3.
TEST(FaultyRound, NeedsMinParticipantsThatWereAccepted) {
  for (const std::int64_t needed : {2, 3}) {
    ToyOptions options = faulty(0, 0, needed);
    options.scripted = std::make_unique<Scripted>(
        [](std::int64_t, std::int64_t client) { return client == 1 ? std::nan("") : 1.0; });
    ToyFederation federation(std::move(options));
    const auto before = federation.model();
    const RoundRecord record = federation.round(1, {0, 1, 2});
    EXPECT_EQ(record.is_void, needed == 3);
    if (!record.is_void) continue;
    EXPECT_EQ(record.void_reason, "2 accepted updates, train.min_participants is 3");
    EXPECT_EQ(federation.model(), before);
    EXPECT_FALSE(record.weight_max.has_value());
    for (const auto& client : record.clients) EXPECT_EQ(client.weight, 0);
  }
}

// The rounds after one that was void go on as if it had never been: server, correction and
// clients keep the states of before.
TEST(FaultyRound, LeavesAllStatesAsTheyWereWhenItIsVoid) {
  for (const auto& method : every_method()) {
    std::vector<std::vector<double>> models;
    for (const bool with_void : {true, false}) {
      ToyOptions options = faulty(0, 0, 3);
      options.use(compose_method(method));
      options.epochs = 2;
      ToyFederation federation(std::move(options));
      EXPECT_FALSE(federation.round(1, first(6)).is_void);
      if (with_void) {
        const RoundRecord record = federation.round(2, {0, 2});
        EXPECT_EQ(record.void_reason, "2 accepted updates, train.min_participants is 3");
      }
      EXPECT_FALSE(federation.round(3, {0, 2, 4, 5}).is_void);
      models.push_back(numbers(federation, method));
    }
    EXPECT_EQ(models[0], models[1]) << method;
  }
}

}  // namespace
}  // namespace fedvg
