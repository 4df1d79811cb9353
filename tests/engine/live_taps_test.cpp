// engine.live_taps: a federation of cropped models against one of whole models.

#include "engine/live_taps.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/every_method.h"
#include "engine/example_data.h"
#include "engine/named_arrays.h"
#include "fedvg/error.h"
#include "toy_federation.h"

namespace fedvg {
namespace {

using testing::every_method;
using testing::part;
using testing::ToyFederation;
using testing::ToyOptions;

constexpr ModelInput kInput{1, 4, 4, 3};

/// 4x4 images to maps of 2x2, 1x1 and 1x1: 4 of 9 taps of conv2 are live, 1 of 9 of conv3. No bias
/// before BatchNorm, whose gradient would be rounding alone, which Adam and 1 / norm make large.
std::unique_ptr<Model> tiny_maps() {
  auto net = std::make_unique<Network>();
  net->conv2d("conv1", 1, 3, 3, 2, 1, false).batch_norm("bn1", 3).tanh();
  net->conv2d("conv2", 3, 4, 3, 2, 1, false).batch_norm("bn2", 4).tanh();
  net->conv2d("conv3", 4, 5, 3, 1, 1).tanh().flatten().linear("head", 5, 3);
  return net;
}

struct Case {
  std::string name;
  std::string method = "fedavg";
  Part optimizer{"sgd", {}};
  std::optional<Part> weighting = {}, server = {}, combiner = {};
  bool keep = false;
  double clip = 0, factor = 1;
  bool load_between = false;
  at::ScalarType dtype = at::kDouble;
  std::size_t workers = 2;

  ToyOptions options(bool live_taps) const {
    ToyOptions result;
    result.sizes = {10, 14, 8, 12, 9};
    result.batch_norm = true;
    result.use(compose_method(method));
    result.optimizer = optimizer;
    if (weighting) result.weighting = *weighting;
    if (server) result.server = *server;
    result.dtype = dtype;
    result.workers = workers;
    result.adjust = [self = *this, live_taps](DriverSetup& setup) {
      setup.build_model = tiny_maps;
      if (live_taps) setup.live_taps = kInput;
      if (self.combiner) setup.combiner = Registry<Combiner>::instance().make(*self.combiner);
      setup.rules.keep_optimizer = self.keep;
      setup.rules.clip = self.clip;
      setup.corrupted = {false, true, false, false, false};
      setup.corrupted_update_factor = self.factor;
    };
    return result;
  }
  /// As Federation decides; "" or why dead taps are kept.
  std::string against() const {
    FederationSetup names;
    names.method = compose_method(method);
    names.train.optimizer = optimizer;
    std::string reason;
    ToyOptions with = options(false);
    const auto adjust = with.adjust;
    with.adjust = [&](DriverSetup& setup) {
      adjust(setup);
      if (!setup.combiner) setup.combiner = Registry<Combiner>::instance().make("mean");
      reason = against_live_taps(names, setup);
    };
    ToyFederation made(std::move(with));
    return reason;
  }
};

/// What a run says and leaves, round by round.
struct Told {
  std::vector<std::string> names;
  std::vector<double> numbers;
  void add(const std::string& name, double number) {
    names.push_back(name);
    numbers.push_back(number);
  }
};

void tell(Told& told, const RoundRecord& record, const RoundDriver& driver) {
  for (const auto& client : record.clients) {
    const std::string who = "client " + std::to_string(client.client) + " ";
    told.add(who + "weight", client.weight);
    told.add(who + "loss", client.loss_last);
    told.add(who + "score", client.score.value_or(-1));
    told.add(who + "norm", client.norm.value_or(-1));
    for (const double norm : client.tensor_norms) told.add(who + "tensor norm", norm);
    for (const double weight : client.tensor_weights) told.add(who + "tensor weight", weight);
    told.add(who + client.status, 0);
  }
  told.add("bytes up", static_cast<double>(record.bytes_up));
  told.add("bytes down", static_cast<double>(record.bytes_down));
  const at::Tensor w = driver.model().to(at::kDouble);
  for (std::size_t l = 0; l < driver.model_layout().tensors(); ++l) {
    const at::Tensor own = driver.model_layout().segment(w, l);
    for (std::int64_t i = 0; i < own.numel(); ++i) {
      told.add(driver.model_layout().slots()[l].name, own[i].item<double>());
    }
  }
  for (const auto& buffer : driver.buffers()) told.add("buffers", buffer.sum().item<double>());
}

/// Norm of the whole model's dead taps of conv3.
double dead_norm(const RoundDriver& driver) {
  const Layout& layout = driver.model_layout();
  for (std::size_t l = 0; l < layout.tensors(); ++l) {
    if (layout.slots()[l].name != "conv3.weight") continue;
    at::Tensor w = layout.view(driver.model(), l).clone();
    w.narrow(2, 1, 1).narrow(3, 1, 1).zero_();
    return w.norm().item<double>();
  }
  return -1;
}

/// Another model, dead taps too; the same for both federations.
void load_another(RoundDriver& driver) {
  at::Tensor w = driver.model().clone();
  Random random(11, "test");
  for (std::size_t l = 0; l < driver.model_layout().tensors(); ++l) {
    const at::Tensor own = driver.model_layout().segment(w, l);
    for (std::int64_t i = 0; i < own.numel(); ++i) own[i].add_(0.1 * random.normal());
  }
  const Tensors buffers = driver.buffers();
  driver.set_global(w, buffers);
}

Told run(const Case& c, bool live_taps, double* moved = nullptr) {
  constexpr std::int64_t kRounds = 4;
  ToyFederation federation(c.options(live_taps));
  Told told;
  const double before = dead_norm(*federation.driver);
  for (std::int64_t r = 1; r <= kRounds; ++r) {
    if (c.load_between && r == 3) load_another(*federation.driver);
    // Not the same participants each round, so that clients' states are of different rounds.
    std::vector<std::int64_t> cohort = {0, 1, 2, 3, 4};
    if (!c.combiner && r % 2 == 0) cohort = {1, 2, 4};
    tell(told, federation.round(r, cohort), *federation.driver);
  }
  if (moved) *moved = std::abs(dead_norm(*federation.driver) - before);
  return told;
}

void expect_alike(const Told& a, const Told& b, double tolerance) {
  ASSERT_EQ(a.names, b.names);
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    if (std::isnan(a.numbers[i]) && std::isnan(b.numbers[i])) continue;
    ASSERT_NEAR(a.numbers[i], b.numbers[i], tolerance * std::max(1.0, std::abs(a.numbers[i])))
        << a.names[i] << " at " << i;
  }
}

/// Equal, and with weight decay dead taps have moved, but for `local`, which moves no global model.
void expect_live_taps_equal(const Case& c) {
  SCOPED_TRACE(c.name + " " + c.method);
  ASSERT_EQ(c.against(), "");
  double moved = 0;
  const Told whole = run(c, false, &moved), live = run(c, true);
  expect_alike(whole, live, 1e-10);
  if (c.optimizer.options.find("weight_decay") && c.method != "local") {
    EXPECT_GT(moved, 1e-6);
  }
}

Part sgd(double momentum, bool nesterov, double decay) {
  Part result = part("sgd", {{"lr", 0.05}});
  if (momentum > 0) result.options.set("momentum", momentum);
  if (nesterov) result.options.set("nesterov", true);
  if (decay > 0) result.options.set("weight_decay", decay);
  return result;
}

const Part kDecay = sgd(0, false, 0.1);

TEST(LiveTaps, ChangeNothingUnderAnyMethodWithPlainSgd) {
  for (const auto& method : every_method()) {
    expect_live_taps_equal({.name = "sgd", .method = method, .optimizer = sgd(0, false, 0)});
  }
}

TEST(LiveTaps, ChangeNothingUnderAnyMethodWithMomentumAndDecay) {
  int compared = 0;
  for (const auto& method : every_method()) {
    const Case c{.name = "momentum", .method = method, .optimizer = sgd(0.9, false, 0.1)};
    if (!c.against().empty()) continue;  // adaptive servers: WhoDecides
    expect_live_taps_equal(c);
    ++compared;
  }
  EXPECT_GE(compared, 14);
}

TEST(LiveTaps, ChangeNothingWithAnyLocalOptimizer) {
  for (const char* method : {"fedavg", "fedvg", "moon", "elastic"}) {
    const auto adamw = part("adamw", {{"lr", 0.01}, {"weight_decay", 0.5}});
    expect_live_taps_equal({.name = "adamw", .method = method, .optimizer = adamw});
    expect_live_taps_equal({.name = "adam", .method = method, .optimizer = part("adam")});
    expect_live_taps_equal(
        {.name = "nesterov", .method = method, .optimizer = sgd(0.5, true, 0.1)});
    expect_live_taps_equal({.name = "decay", .method = method, .optimizer = kDecay});
    expect_live_taps_equal(
        {.name = "keep adamw", .method = method, .optimizer = adamw, .keep = true});
    expect_live_taps_equal({.name = "keep momentum",
                            .method = method,
                            .optimizer = sgd(0.9, false, 0.1),
                            .keep = true});
  }
}

TEST(LiveTaps, ChangeNothingWithAnyServer) {
  for (const char* name : {"adam", "yogi", "adagrad"}) {
    expect_live_taps_equal(
        {.name = name, .optimizer = sgd(0.9, false, 0), .server = part(name, {{"lr", 0.01}})});
  }
  for (const bool nesterov : {false, true}) {
    expect_live_taps_equal(
        {.name = "momentum",
         .optimizer = kDecay,
         .server = part("sgd", {{"lr", 0.7}, {"momentum", 0.9}, {"nesterov", nesterov}})});
  }
}

TEST(LiveTaps, ChangeNoWeights) {
  std::vector<Part> rules = {part("size"), part("uniform"), part("accuracy")};
  for (const char* norm : {"l1", "l2", "linf", "spectral"}) {
    for (const char* granularity : {"model", "layer", "block"}) {
      rules.push_back(part("fedvg", {{"norm", norm}, {"granularity", granularity}}));
    }
  }
  for (const auto& rule : rules) {
    expect_live_taps_equal({.name = rule.name, .optimizer = kDecay, .weighting = rule});
  }
  expect_live_taps_equal({.name = "delta at rest",
                          .optimizer = sgd(0.9, false, 0),
                          .weighting = part("fedvg", {{"norm", "delta"}})});
}

TEST(LiveTaps, ChangeNoCombinerClippingOrCorruption) {
  for (const auto& combiner : {part("mean"), part("median"), part("trimmed-mean", {{"trim", 0.2}}),
                               part("krum", {{"malicious", 1}})}) {
    for (const char* method : {"fedavg", "fedprox", "feddyn", "scaffold"}) {
      expect_live_taps_equal({.name = combiner.name,
                              .method = method,
                              .optimizer = kDecay,
                              .weighting = part("uniform"),
                              .combiner = combiner,
                              .factor = -3});
    }
  }
  for (const char* method : {"fedavg", "fedprox", "feddyn", "scaffold"}) {
    expect_live_taps_equal(
        {.name = "clip", .method = method, .optimizer = sgd(0.9, false, 0.1), .clip = 0.05});
  }
}

TEST(LiveTaps, ChangeNothingAfterAnotherModelWasLoaded) {
  for (const char* method :
       {"fedavg", "fedprox", "scaffold", "feddyn", "moon", "local", "fedavgm"}) {
    expect_live_taps_equal({.name = "load",
                            .method = method,
                            .optimizer = sgd(0.9, false, 0.1),
                            .keep = std::strcmp(method, "scaffold") != 0,
                            .clip = 0.5,
                            .load_between = true});
    expect_live_taps_equal({.name = "load, at rest",
                            .method = method,
                            .optimizer = sgd(0.9, false, 0),
                            .load_between = true});
  }
}

TEST(LiveTaps, RefuseAnotherModelWhereItWouldNotFitWhatIsKept) {
  const Case c{.name = "median",
               .method = "feddyn",
               .optimizer = kDecay,
               .weighting = part("uniform"),
               .combiner = part("median")};
  ToyFederation federation(c.options(true));
  load_another(*federation.driver);  // nothing is kept yet
  federation.round(1, {0, 1, 2, 3, 4});
  const at::Tensor before = federation.driver->model().clone();
  const Tensors buffers = federation.driver->buffers();
  federation.driver->set_global(before, buffers);  // the same direction
  try {
    load_another(*federation.driver);
    FAIL() << "taken";
  } catch (const RunError& problem) {
    testing::expect_says(problem.what(), {"conv", "engine.live_taps = false"});
  }
  EXPECT_TRUE(federation.driver->model().equal(before));
}

TEST(LiveTaps, KeepScoresInSinglePrecision) {
  const Case c{.name = "float32",
               .method = "fedvg",
               .optimizer = sgd(0.9, false, 0.01),
               .dtype = at::kFloat};
  expect_alike(run(c, false), run(c, true), 1e-4);
}

TEST(LiveTaps, RepeatBitwiseWithAnyNumberOfWorkers) {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    Case c{.name = "repeat", .method = "scaffold+fedvg", .optimizer = kDecay, .dtype = dtype};
    const Told first = run(c, true);
    EXPECT_EQ(first.numbers, run(c, true).numbers);
    c.workers = 1;
    EXPECT_EQ(first.numbers, run(c, true).numbers);
    c.workers = 3;
    EXPECT_EQ(first.numbers, run(c, true).numbers);
  }
}

TEST(LiveTaps, MakeVectorsSmallerAndModelsNot) {
  const Case c{.name = "sizes", .optimizer = kDecay};
  ToyFederation whole(c.options(false)), live(c.options(true));
  const std::int64_t dead = 3 * 4 * 5 + 4 * 5 * 8;
  EXPECT_EQ(live.driver->layout().parameters(), whole.driver->layout().parameters() - dead);
  EXPECT_EQ(live.driver->model_layout().parameters(), whole.driver->layout().parameters());
  EXPECT_TRUE(live.driver->model().equal(whole.driver->model()));  // drawn alike, to the bit
}

TEST(LiveTaps, WhoDecides) {
  const auto against = [](const Case& c) { return c.against(); };
  const Part l2{part("adam", {{"weight_decay", 0.1}})};
  const Part adamw{part("adamw")};
  const auto says = [&](const Case& c, const char* part_of_it) {
    const std::string reason = against(c);
    EXPECT_NE(reason.find(part_of_it), std::string::npos) << reason;
  };
  says({.name = "", .optimizer = l2}, "train.optimizer adam");
  says({.name = "", .method = "fedprox", .optimizer = adamw}, "train.optimizer adamw");
  says({.name = "", .method = "fedadam", .optimizer = kDecay}, "method.server adam");
  says({.name = "", .method = "fedyogi", .optimizer = adamw}, "method.server yogi");
  says({.name = "", .optimizer = kDecay, .weighting = part("fedvg", {{"norm", "delta"}})},
       "method.weighting");
  EXPECT_EQ(against({.name = "", .method = "fedadagrad"}), "");
  EXPECT_EQ(against({.name = "", .optimizer = adamw}), "");
  EXPECT_EQ(against({.name = "", .method = "fedprox", .optimizer = kDecay}), "");
}

// The exceptions are needed: taken all the same, results differ.
TEST(LiveTaps, DoNotHoldWhereTheyAreRefused) {
  const std::vector<Case> cases = {
      {.name = "adam", .optimizer = part("adam", {{"lr", 0.01}, {"weight_decay", 0.1}})},
      {.name = "adamw", .method = "fedprox", .optimizer = part("adamw", {{"lr", 0.01}})},
      {.name = "fedadam", .method = "fedadam", .optimizer = kDecay},
      {.name = "delta", .optimizer = kDecay, .weighting = part("fedvg", {{"norm", "delta"}})}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_NE(c.against(), "");
    const Told whole = run(c, false), live = run(c, true);
    ASSERT_EQ(whole.numbers.size(), live.numbers.size());
    double apart = 0;
    for (std::size_t i = 0; i < whole.numbers.size(); ++i) {
      if (std::isnan(whole.numbers[i])) continue;
      apart = std::max(apart, std::abs(whole.numbers[i] - live.numbers[i]));
    }
    EXPECT_GT(apart, 1e-8);
  }
}

// What crop() has left behind, for a federation that goes on.

struct Cropping {
  Layout whole;
  DeadTaps dead;

  explicit Cropping(bool moving, std::unique_ptr<Model> model = tiny_maps()) {
    whole = layout_of(*model, false);
    const auto live = model->crop_to_live_taps(kInput);
    dead = DeadTaps(whole, layout_of(*model, false, live, tail_of(moving, true)), live);
  }
  at::Tensor random(std::uint64_t seed) const {
    Random random(seed, "test");
    at::Tensor w = at::zeros({whole.size()}, at::kDouble);
    for (std::size_t l = 0; l < whole.tensors(); ++l) {
      at::Tensor own = whole.segment(w, l);
      for (std::int64_t i = 0; i < own.numel(); ++i) own[i].fill_(random.normal());
    }
    return w;
  }
};

/// As a file brings it back.
TensorMap written_and_read(const TensorMap& state) {
  TensorMap read;
  for (const auto& [name, tensor] : state) read[name] = to_tensor(to_array(name, tensor));
  return read;
}

TEST(DeadTaps, GoOnFromTheirState) {
  for (const bool moving : {false, true}) {
    Cropping one(moving), other(moving);
    one.dead.crop(one.random(1), true);
    at::Tensor cropped = one.dead.crop(one.random(2), !moving);
    if (moving) cropped.mul_(0.75);  // weight decay
    other.dead.crop(other.random(9), true);
    other.dead.set_state(written_and_read(one.dead.state()));
    EXPECT_TRUE(other.dead.restore(cropped).equal(one.dead.restore(cropped)));
    // The directions so far count for a model that is loaded later, too.
    const at::Tensor next = one.random(3);
    const at::Tensor a = one.dead.crop(next, false), b = other.dead.crop(next, false);
    EXPECT_TRUE(a.equal(b));
    EXPECT_TRUE(other.dead.restore(b).equal(next));
    EXPECT_TRUE(other.dead.restore(b.mul(0.5)).equal(one.dead.restore(a.mul(0.5))));
    EXPECT_EQ(written_and_read(one.dead.state()).size(), other.dead.state().size());
  }
}

// Without it the whole model is another one: dead taps are in no vector.
TEST(DeadTaps, AreNotInTheCroppedModel) {
  Cropping one(true), other(true);
  const at::Tensor cropped = one.dead.crop(one.random(1), true);
  other.dead.crop(other.random(9), true);
  EXPECT_FALSE(other.dead.restore(cropped).equal(one.dead.restore(cropped)));
}

TEST(DeadTaps, OfAnotherModelAreRefused) {
  Cropping tiny(true);
  tiny.dead.crop(tiny.random(1), true);
  const TensorMap state = tiny.dead.state();
  const auto refused = [&](const TensorMap& given, bool moving = true) {
    Cropping other(moving);
    other.dead.crop(other.random(1), true);
    try {
      other.dead.set_state(given);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused(state), "taken");
  EXPECT_EQ(refused({}), "live taps of another model");
  EXPECT_EQ(refused(state, false), "live taps of another model");  // no tails
  std::size_t tried = 0;
  for (const auto& [name, tensor] : state) {
    if (name.ends_with("direction.0")) continue;  // that there may be fewer of
    TensorMap without = state;
    without.erase(name);
    EXPECT_EQ(refused(without), "live taps of another model") << name;
    ++tried;
  }
  EXPECT_EQ(tried, 6U);  // of two kernels the dead taps, their lengths, and one direction's
}

// A whole federation of a network that is registered.

struct Small {
  FederatedData data;
  FederationSetup setup;

  Small() {
    data.dataset.name = "example";
    data.dataset.classes = {"a", "b", "c"};
    data.dataset.training = images(24, "training");
    data.dataset.test = images(6, "test");
    for (std::int64_t k = 0; k < 2; ++k) {
      auto& client = data.clients.emplace_back();
      for (std::int64_t i = 0; i < 8; ++i) client.push_back(k * 8 + i);
    }
    for (std::int64_t i = 16; i < 24; ++i) data.validation.push_back(i);
    for (std::int64_t i = 0; i < 6; ++i) data.test.push_back(i);
    setup.model = {"resnet18", {}};
    setup.method = compose_method("fedvg");
    setup.train.epochs = 1;
    setup.train.batch_size = 4;
    setup.engine.workers = 1;
  }
  static Samples images(std::int64_t count, const char* purpose) {
    constexpr std::int64_t kSide = 8;
    Samples result{.channels = 1, .height = kSide, .width = kSide};
    Random random(1, purpose);
    for (std::int64_t i = 0; i < count; ++i) {
      result.labels.push_back(i % 3);
      for (std::int64_t p = 0; p < kSide * kSide; ++p) {
        result.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
      }
    }
    return result;
  }
};

bool same_bytes(const std::vector<NamedArray>& a, const std::vector<NamedArray>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || a[i].shape != b[i].shape || a[i].bytes != b[i].bytes) {
      return false;
    }
  }
  return true;
}

bool has_note(const FederationInfo& info, const std::string& text) {
  return std::ranges::any_of(
      info.notes, [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

TEST(LiveTapsOfAFederation, ShowTheWholeModelOutside) {
  const std::atomic<bool> go_on = false;
  Small small;
  Federation live(small.data, small.setup);
  small.setup.engine.live_taps = false;
  Federation whole(small.data, small.setup);
  EXPECT_LT(live.info().live, live.info().parameters / 2);
  EXPECT_EQ(whole.info().live, whole.info().parameters);
  EXPECT_EQ(live.info().parameters, whole.info().parameters);
  ASSERT_EQ(live.info().tensors.size(), whole.info().tensors.size());
  for (std::size_t i = 0; i < live.info().tensors.size(); ++i) {
    EXPECT_EQ(live.info().tensors[i].shape, whole.info().tensors[i].shape);
  }
  EXPECT_TRUE(same_bytes(live.model(), whole.model()));
  const RoundRecord a = live.run_round(1, {0, 1}, go_on), b = whole.run_round(1, {0, 1}, go_on);
  EXPECT_EQ(a.bytes_up, b.bytes_up);
  EXPECT_EQ(a.bytes_down, b.bytes_down);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(*a.clients[k].score, *b.clients[k].score, 1e-3 * *b.clients[k].score);
  }
  const auto saved = live.model();
  whole.load_model(saved);
  EXPECT_TRUE(same_bytes(whole.model(), saved));
  live.load_model(saved);
  EXPECT_TRUE(same_bytes(live.model(), saved));
}

TEST(LiveTapsOfAFederation, AreOffForFedDynWithoutWLocalAndItIsSaid) {
  Small small;
  small.setup.method = compose_method("feddyn");
  small.setup.method.correction.options.set("proximal", false);
  const Federation off(small.data, small.setup);
  EXPECT_EQ(off.info().live, off.info().parameters);
  EXPECT_TRUE(has_note(off.info(), "engine.live_taps: off"));
}

}  // namespace
}  // namespace fedvg
