// RoundDriver::save and restore: a federation that stops after round 2 and goes on as another one
// is, to the bit, the federation that never stopped.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "engine/every_method.h"
#include "engine/toy_federation.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;
using testing::every_method;
using testing::part;
using testing::ToyFederation;
using testing::ToyOptions;

/// An empty folder that is gone afterwards, in memory where there is a place for it: states are
/// synced to the disk hundreds of times here.
struct Folder {
  fs::path path;
  Folder() {
    const bool memory = ::access("/dev/shm", W_OK | X_OK) == 0;
    std::string name = (memory ? "/dev/shm/" : ::testing::TempDir()) + "fedvg-driver-XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error(name + " cannot be made");
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

constexpr std::int64_t kRounds = 5, kBreak = 2;

/// Client 0 takes part in the first round, and again only in the last (U41).
std::vector<std::int64_t> cohort(std::int64_t round) {
  const std::vector<std::vector<std::int64_t>> cohorts = {{0, 1}, {1, 2}, {2}, {1, 2}, {2, 0, 1}};
  return cohorts.at(static_cast<std::size_t>(round - 1));
}

struct Case {
  std::string method = "fedavg";
  Part optimizer{"sgd", {}};
  std::optional<Part> weighting = {}, server = {}, combiner = {};
  bool keep = false, batch_norm = false, live_taps = false;
  BufferRule buffers = BufferRule::global;
  ClientFaults faults = {};
  double budget = 0;
  at::ScalarType dtype = at::kFloat;

  /// `memory`: bytes of clients' states that do not wait on disk.
  ToyOptions options(const Folder& folder, std::size_t workers, std::int64_t memory) const;
};

/// 4x4 images to maps of 2x2 and 1x1: most taps of the second and all later kernels are dead.
std::unique_ptr<Model> tiny_maps() {
  auto net = std::make_unique<Network>();
  net->conv2d("conv1", 1, 3, 3, 2, 1, false).batch_norm("bn1", 3).tanh();
  net->conv2d("conv2", 3, 4, 3, 2, 1).tanh();
  net->conv2d("conv3", 4, 5, 3, 1, 1).tanh().flatten().linear("head", 5, 3);
  return net;
}

ToyOptions Case::options(const Folder& folder, std::size_t workers, std::int64_t memory) const {
  ToyOptions result;
  result.use(compose_method(method));
  result.optimizer = optimizer;
  if (weighting) result.weighting = *weighting;
  if (server) result.server = *server;
  result.batch_norm = batch_norm || live_taps;
  result.dtype = dtype;
  result.workers = workers;
  if (budget > 0) {
    result.validation = 40;
    result.validation_batch = 2;
  }
  result.adjust = [memory, self = *this, path = folder.path / "states"](DriverSetup& setup) {
    if (self.combiner) setup.combiner = Registry<Combiner>::instance().make(*self.combiner);
    if (self.live_taps) {
      setup.build_model = tiny_maps;
      setup.live_taps = ModelInput{1, 4, 4, 3};
    }
    setup.rules.keep_optimizer = self.keep;
    setup.rules.buffers = self.buffers;
    setup.faults = self.faults;
    setup.scoring_budget = self.budget;
    setup.own_models = compose_method(self.method).line == Line::local;
    setup.measures_clients = [](std::int64_t round) { return round % 2 == 1; };
    setup.state_memory = memory;
    setup.state_folder = path;
  };
  return result;
}

/// Numbers in words, so that those that differ can be told, by their bits.
struct Told {
  std::vector<std::string> names;
  std::vector<std::uint64_t> bits;

  void add(const std::string& name, double number) {
    names.push_back(name);
    bits.push_back(0);
    std::memcpy(&bits.back(), &number, sizeof number);
  }
  void add(const std::string& name, const std::optional<double>& number) {
    add(name + (number ? "" : " absent"), number.value_or(0));
  }
  void add(const std::string& name, const at::Tensor& tensor) {
    const at::Tensor values = tensor.to(at::kDouble).contiguous().reshape({-1});
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      add(name + " " + std::to_string(i), values.data_ptr<double>()[i]);
    }
  }
};

void tell(Told& told, const RoundRecord& record) {
  const std::string round = "round " + std::to_string(record.round) + " ";
  for (const auto& client : record.clients) {
    const std::string who =
        round + "client " + std::to_string(client.client) + " " + client.status + " ";
    told.add(who + "steps", static_cast<double>(client.steps));
    told.add(who + "weight", client.weight);
    told.add(who + "score", client.score);
    told.add(who + "norm", client.norm);
    told.add(who + "first loss", client.loss_first);
    told.add(who + "last loss", client.loss_last);
    told.add(who + "before", client.accuracy_before);
    told.add(who + "after", client.accuracy_after);
    for (const double norm : client.tensor_norms) told.add(who + "tensor norm", norm);
    for (const double weight : client.tensor_weights) told.add(who + "tensor weight", weight);
  }
  told.add(round + "entropy", record.weight_entropy);
  told.add(round + "images", static_cast<double>(record.scored.value_or(-1)));
  told.add(round + "bytes up", static_cast<double>(record.bytes_up));
  told.add(round + "bytes down", static_cast<double>(record.bytes_down));
}

/// The rounds after the break, and the model after each.
Told rounds_after(ToyFederation& federation) {
  Told told;
  for (std::int64_t round = kBreak + 1; round <= kRounds; ++round) {
    tell(told, federation.round(round, cohort(round)));
    told.add("model", federation.driver->model());
    for (const auto& buffer : federation.driver->buffers()) told.add("buffer", buffer);
  }
  std::vector<std::int64_t> ids(20);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  const Evaluation own =
      federation.driver->evaluate_own_models(*federation.store, ids, federation.stop);
  told.add("own models' loss", own.loss);
  return told;
}

void first_rounds(ToyFederation& federation) {
  for (std::int64_t round = 1; round <= kBreak; ++round) federation.round(round, cohort(round));
}

Told unbroken(const Case& c, std::size_t workers = 2) {
  const Folder folder;
  ToyFederation federation(c.options(folder, workers, 1 << 30));
  first_rounds(federation);
  return rounds_after(federation);
}

/// As a file brings it back: in another order.
FederationState saved_state(const Case& c, const Folder& folder, std::size_t workers,
                            std::int64_t memory) {
  ToyFederation federation(c.options(folder, workers, memory));
  first_rounds(federation);
  FederationState state = federation.driver->save();
  federation.driver->keep_client_states(state.clients);
  std::ranges::reverse(state.arrays);
  return state;
}

struct Machine {
  std::size_t workers = 2;
  std::int64_t memory = 0;
};

Told broken(const Case& c, Machine before = {}, Machine after = {}) {
  const Folder folder;
  const FederationState state = saved_state(c, folder, before.workers, before.memory);
  ToyFederation federation(c.options(folder, after.workers, after.memory));
  federation.driver->keep_client_states(state.clients);
  federation.driver->restore(state);
  return rounds_after(federation);
}

void expect_same(const Told& a, const Told& b) {
  ASSERT_EQ(a.names, b.names);
  for (std::size_t i = 0; i < a.bits.size(); ++i) ASSERT_EQ(a.bits[i], b.bits[i]) << a.names[i];
}

void expect_goes_on(const Case& c) {
  SCOPED_TRACE(c.method + " " + c.optimizer.name);
  expect_same(unbroken(c), broken(c));
}

const Part kMomentum = part("sgd", {{"lr", 0.05}, {"momentum", 0.9}});
const Part kDecay = part("sgd", {{"lr", 0.05}, {"momentum", 0.9}, {"weight_decay", 0.1}});

TEST(DriverState, GoesOnUnderEveryMethod) {
  for (const auto& method : every_method()) {
    expect_goes_on({.method = method, .dtype = at::kDouble});
    expect_goes_on({.method = method, .batch_norm = true});
  }
}

TEST(DriverState, GoesOnWithLocalOptimizersThatAreKept) {
  for (const char* method : {"fedavg", "fedvg", "fedprox", "feddyn", "moon", "local"}) {
    for (const Part& optimizer : {kMomentum, part("adam"), part("adamw")}) {
      expect_goes_on({.method = method, .optimizer = optimizer});
      expect_goes_on({.method = method, .optimizer = optimizer, .keep = true});
    }
  }
}

TEST(DriverState, GoesOnWithBuffersOfClientsAndWithoutAny) {
  for (const BufferRule buffers : {BufferRule::global, BufferRule::local, BufferRule::reset}) {
    for (const char* method : {"fedavg", "scaffold+fedvg", "local"}) {
      for (const auto dtype : {at::kFloat, at::kDouble}) {
        expect_goes_on({.method = method, .batch_norm = true, .buffers = buffers, .dtype = dtype});
      }
    }
  }
}

TEST(DriverState, GoesOnWithEveryServer) {
  for (const Part& server :
       {part("sgd", {{"momentum", 0.9}}), part("sgd", {{"momentum", 0.9}, {"nesterov", true}}),
        part("adam"), part("yogi"), part("adagrad")}) {
    for (const char* method : {"fedavg", "scaffold+fedvg"}) {
      expect_goes_on({.method = method, .server = server});
    }
  }
}

TEST(DriverState, GoesOnWithEveryCombiner) {
  for (const Part& combiner :
       {part("mean"), part("median"), part("trimmed-mean"), part("krum", {{"malicious", 0}})}) {
    SCOPED_TRACE(combiner.name);
    expect_goes_on({.method = "feddyn", .weighting = part("uniform"), .combiner = combiner});
  }
}

TEST(DriverState, GoesOnWithClientsThatDropOutOrAreSlow) {
  expect_goes_on({.method = "scaffold+fedvg", .faults = {.drop_out = 0.4, .stragglers = 0.4}});
}

TEST(DriverState, GoesOnWithDeadTapsThatShrink) {
  for (const char* method : {"fedavg", "scaffold+fedvg", "feddyn", "fedavgm", "local"}) {
    for (const auto dtype : {at::kFloat, at::kDouble}) {
      expect_goes_on({.method = method, .optimizer = kDecay, .live_taps = true, .dtype = dtype});
      expect_goes_on({.method = method, .optimizer = kMomentum, .live_taps = true, .dtype = dtype});
    }
  }
}

// What round 2 told decides how much of D_val round 3 is scored on.
TEST(DriverState, GoesOnWithTheBudgetOfScoring) {
  const Case c{.method = "fedvg", .budget = 0.3};
  expect_goes_on(c);
  const Folder folder;
  FederationState state = saved_state(c, folder, 2, 0);
  std::erase_if(state.arrays,
                [](const NamedArray& array) { return array.name == "budget.spread"; });
  ToyFederation forgetful(c.options(folder, 2, 0));
  forgetful.driver->restore(state);
  EXPECT_EQ(forgetful.round(3, {1, 2}).scored, 40);
  ToyFederation whole(c.options(folder, 2, 0));
  first_rounds(whole);
  EXPECT_LT(whole.round(3, {1, 2}).scored.value(), 40);
}

TEST(DriverState, GoesOnWithAnyNumberOfWorkersAndAnyMemory) {
  for (const char* method : {"scaffold+fedvg", "feddyn", "moon"}) {
    const Case c{.method = method, .batch_norm = true, .buffers = BufferRule::local};
    const Told whole = unbroken(c, 1);
    for (const Machine& before : {Machine{1, 0}, Machine{3, 1 << 30}}) {
      for (const Machine& after : {Machine{1, 1 << 30}, Machine{3, 0}}) {
        expect_same(whole, broken(c, before, after));
      }
    }
  }
}

// U41: client 0 was there in round 1, and comes back in round 5.
TEST(DriverState, AClientThatComesBackHasItsStateStill) {
  for (const Case& c : {Case{.method = "scaffold"}, Case{.method = "feddyn"},
                        Case{.method = "moon"}, Case{.optimizer = kMomentum, .keep = true}}) {
    SCOPED_TRACE(c.method);
    const Folder folder;
    FederationState state = saved_state(c, folder, 2, 1 << 30);
    ASSERT_EQ(state.clients.size(), 3U);
    EXPECT_EQ(state.clients[0].client, 0);
    EXPECT_EQ(state.clients[0].round, 1);
    EXPECT_GT(state.clients[0].bytes, 0);
    ToyFederation federation(c.options(folder, 2, 1 << 30));
    federation.driver->keep_client_states(state.clients);
    federation.driver->restore(state);
    const Told told = rounds_after(federation);
    expect_same(unbroken(c), told);

    // Without it the last round is another one: it was needed.
    state.clients.erase(state.clients.begin());
    ToyFederation without(c.options(folder, 2, 1 << 30));
    without.driver->restore(state);
    EXPECT_NE(rounds_after(without).bits, told.bits);
  }
}

// Each part of a state counts: without it the rounds are others.
TEST(DriverState, IsNoMoreThanIsNeeded) {
  struct Without {
    Case c;
    const char* prefix;
  };
  const std::vector<Without> cases = {
      {{.method = "fedavgm"}, "server."},    {{.method = "fedadam"}, "server."},
      {{.method = "fedyogi"}, "server."},    {{.method = "scaffold"}, "correction."},
      {{.method = "feddyn"}, "correction."},
  };
  for (const auto& [c, prefix] : cases) {
    SCOPED_TRACE(c.method);
    const Folder folder;
    FederationState state = saved_state(c, folder, 2, 0);
    const auto removed = std::erase_if(state.arrays, [prefix = prefix](const NamedArray& array) {
      return array.name.starts_with(prefix);
    });
    EXPECT_GT(removed, 0U);
    ToyFederation federation(c.options(folder, 2, 0));
    federation.driver->restore(state);
    EXPECT_NE(rounds_after(federation).bits, unbroken(c).bits);
  }
}

// Between two rounds; and the federation that was saved goes on as if nothing had been.
TEST(DriverState, SavingChangesNothing) {
  for (const char* method : {"scaffold+fedvg", "feddyn", "moon", "fedavgm"}) {
    const Case c{.method = method};
    const Folder folder;
    ToyFederation federation(c.options(folder, 2, 0));
    first_rounds(federation);
    const FederationState state = federation.driver->save(), again = federation.driver->save();
    EXPECT_EQ(state.arrays, again.arrays);
    EXPECT_EQ(state.clients, again.clients);
    expect_same(unbroken(c), rounds_after(federation));
  }
}

// Ctrl-C: the round in progress is dropped, and what is saved is the state of the one before.
TEST(DriverState, OfAStoppedRoundIsThatOfTheRoundBefore) {
  for (const char* method : {"scaffold+fedvg", "feddyn", "moon", "fedavgm"}) {
    SCOPED_TRACE(method);
    const Case c{.method = method};
    const Folder folder;
    std::atomic<bool>* stop = nullptr;
    ToyOptions options = c.options(folder, 1, 0);
    options.before_training = [&stop](std::int64_t client) {
      if (stop && client == 1) *stop = true;  // after client 2, which has more samples
    };
    auto federation = std::make_unique<ToyFederation>(std::move(options));
    first_rounds(*federation);
    const FederationState before = federation->driver->save();
    stop = &federation->stop;
    EXPECT_THROW(federation->round(3, {1, 2}), Interrupted);
    const FederationState state = federation->driver->save();
    EXPECT_EQ(state.arrays, before.arrays);
    EXPECT_EQ(state.clients, before.clients);
    federation->driver->keep_client_states(state.clients);
    federation.reset();
    ToyFederation resumed(c.options(folder, 2, 0));
    resumed.driver->keep_client_states(state.clients);
    resumed.driver->restore(state);
    expect_same(unbroken(c), rounds_after(resumed));
  }
}

// What a federation did before is forgotten, whatever it was.
TEST(DriverState, TakesTheStateInPlaceOfItsOwn) {
  const Case c{.method = "scaffold+fedvg",
               .server = part("adam"),
               .batch_norm = true,
               .buffers = BufferRule::local};
  const Folder folder;
  const FederationState state = saved_state(c, folder, 2, 0);
  ToyFederation federation(c.options(folder, 2, 0));
  federation.driver->keep_client_states(state.clients);
  for (std::int64_t round = 11; round <= 14; ++round) federation.round(round, {0, 1, 2});
  federation.driver->restore(state);
  expect_same(unbroken(c), rounds_after(federation));
}

std::string refusal_of(const Case& c, const Folder& folder, const FederationState& state,
                       const std::function<void(ToyOptions&)>& change = {}) {
  ToyOptions options = c.options(folder, 2, 0);
  if (change) change(options);
  ToyFederation federation(std::move(options));
  federation.driver->keep_client_states(state.clients);
  try {
    federation.driver->restore(state);
  } catch (const DataError& error) {
    return error.what();
  }
  return "taken";
}

TEST(DriverState, OfAnotherModelIsRefused) {
  const Case plain{.method = "scaffold"}, images{.method = "fedavg", .batch_norm = true};
  const Folder folder, other_folder;
  const FederationState state = saved_state(plain, folder, 2, 0),
                        other = saved_state(images, other_folder, 2, 0);
  const char* size = "the global model in it is not of this model's sizes and precision";
  EXPECT_EQ(refusal_of(plain, folder, state), "taken");
  for (const std::int64_t features : {5, 50}) {  // gaps between tensors hide a small difference
    EXPECT_EQ(refusal_of(plain, folder, state, [=](ToyOptions& o) { o.features = features; }),
              size);
  }
  EXPECT_EQ(refusal_of(plain, folder, state, [](ToyOptions& o) { o.dtype = at::kDouble; }), size);
  EXPECT_EQ(refusal_of(plain, folder, other), size);
  EXPECT_EQ(refusal_of(plain, folder, {}), size);
}

TEST(DriverState, ThatLacksABufferOrHasVectorsOfAnotherSizeIsRefused) {
  const Case c{.method = "scaffold", .server = part("adam"), .batch_norm = true};
  const Folder folder;
  const FederationState state = saved_state(c, folder, 2, 0);
  const auto refusal_with = [&](const std::string& name, const auto& change) {
    FederationState changed = state;
    const auto array = std::ranges::find(changed.arrays, name, &NamedArray::name);
    if (array == changed.arrays.end()) return "no array " + name;
    change(changed.arrays, array);
    return refusal_of(c, folder, changed);
  };
  const auto gone = [](auto& arrays, auto array) { arrays.erase(array); };
  const auto shorter = [](auto&, auto array) {
    array->shape[0] -= 1;
    array->bytes.resize(array->bytes.size() - static_cast<std::size_t>(dtype_size(array->dtype)));
  };
  EXPECT_NE(refusal_with("global", gone).find("global model"), std::string::npos);
  EXPECT_NE(refusal_with("buffer.0", gone).find("buffer bn."), std::string::npos);
  EXPECT_NE(refusal_with("buffer.1", shorter).find("buffer bn."), std::string::npos);
  EXPECT_NE(refusal_with("server.m", shorter).find("m has "), std::string::npos);
  EXPECT_NE(refusal_with("correction.c", shorter).find("c has "), std::string::npos);
}

// The model is the first to be looked at; nothing of it is taken when a client's state is missing.
TEST(DriverState, WithoutAClientsFileIsRefused) {
  const Case c{.method = "scaffold"};
  const Folder folder;
  const FederationState state = saved_state(c, folder, 2, 0);
  fs::remove(folder.path / "states" / "client-0-round-1.safetensors");
  EXPECT_NE(refusal_of(c, folder, state).find("client-0-round-1.safetensors: missing"),
            std::string::npos);
}

}  // namespace
}  // namespace fedvg
