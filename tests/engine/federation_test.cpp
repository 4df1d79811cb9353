#include "engine/federation.h"

#include <gtest/gtest.h>

#include <ATen/Context.h>

#include <cmath>
#include <cstring>

#include "engine/autocast.h"
#include "engine/cores.h"
#include "engine/example_data.h"
#include "engine/model_input.h"
#include "fedvg/error.h"
#include "fedvg/random.h"
#include "kernels/instruction_set.h"
#include "models/model_memory.h"

namespace fedvg {
namespace {

const std::atomic<bool> kGoOn = false;

Table table(std::initializer_list<std::pair<const char*, Value>> entries) {
  Table result;
  for (const auto& [key, value] : entries) result.set(key, value);
  return result;
}

Samples samples(std::int64_t count, const char* purpose) {
  Samples result{.channels = 1, .height = 3, .width = 3};
  Random random(1, purpose);
  for (std::int64_t i = 0; i < count; ++i) {
    result.labels.push_back(i % 3);
    for (int p = 0; p < 9; ++p) {
      result.pixels.push_back(static_cast<std::uint8_t>(random.below(200) + (p == i % 3 ? 50 : 0)));
    }
  }
  return result;
}

/// 60 images of 3x3 in 3 classes: 5 clients of 10, and 10 for D_val.
struct Example {
  FederatedData data;
  FederationSetup setup;

  Example() {
    data.dataset.name = "example";
    data.dataset.classes = {"a", "b", "c"};
    data.dataset.training = samples(60, "training");
    data.dataset.test = samples(12, "test");
    testing::divide_sixty(data);
    setup.model = {"mlp", table({{"hidden", Array{4}}})};
    setup.method = compose_method("fedavg");
    setup.train.epochs = 1;
    setup.train.batch_size = 5;
    setup.train.optimizer = {"sgd", table({{"lr", 0.1}})};
    setup.engine.workers = 2;
  }
  Federation federation() const { return Federation(data, setup); }
  /// What the refusal says; "" when there is none.
  std::string refusal() const {
    try {
      Federation made(data, setup);
    } catch (const OptionError& problem) {
      return problem.what();
    }
    return "";
  }
};

std::vector<std::byte> bytes(const Federation& federation) {
  std::vector<std::byte> all;
  for (const auto& array : federation.model()) {
    all.insert(all.end(), array.bytes.begin(), array.bytes.end());
  }
  return all;
}

/// The model after two rounds.
std::vector<std::byte> trained(const Example& example) {
  Federation federation = example.federation();
  for (std::int64_t round = 1; round <= 2; ++round) federation.run_round(round, {0, 1}, kGoOn);
  return bytes(federation);
}

void expect_says(const std::string& text, std::initializer_list<const char*> words) {
  EXPECT_FALSE(text.empty());
  for (const char* word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << ": " << text;
}

TEST(Federation, Learns) {
  Example example;
  example.setup.method = compose_method("fedvg");
  Federation federation = example.federation();
  const double before = federation.evaluate_test().loss;
  for (std::int64_t r = 1; r <= 20; ++r) {
    EXPECT_FALSE(federation.run_round(r, {0, 1, 2, 3, 4}, kGoOn).is_void);
  }
  EXPECT_LT(federation.evaluate_test().loss, before);
}

TEST(Federation, DescribesItself) {
  const Example example;
  const Federation federation = example.federation();
  const auto& info = federation.info();
  EXPECT_EQ(info.parameters, 9 * 4 + 4 + 4 * 3 + 3);
  ASSERT_EQ(info.tensors.size(), 4U);
  EXPECT_EQ(info.tensors[0].name, "fc1.weight");
  EXPECT_EQ(info.tensors[0].block, "fc1");
  EXPECT_EQ(info.tensors[2].shape, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(info.workers, 2);
  EXPECT_EQ(info.device, "cpu");
}

// PyTorch's default: uniform in +-1/sqrt(fan_in), 1/3 and 1/2; the same whatever the method.
TEST(Federation, StartsFromTheSeedAlone) {
  Example example;
  const auto first = bytes(example.federation());
  for (const char* method : {"fedvg", "scaffold", "feddyn+fedvg", "fedadam"}) {
    example.setup.method = compose_method(method);
    EXPECT_EQ(bytes(example.federation()), first) << method;
  }
  example.setup.seed = 2;
  EXPECT_NE(bytes(example.federation()), first);
  for (const auto& array : example.federation().model()) {
    std::vector<float> values(array.bytes.size() / sizeof(float));
    std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
    const float bound = array.name.rfind("fc1", 0) == 0 ? 1.0F / 3 : 0.5F;
    for (const float value : values) EXPECT_LE(std::abs(value), bound) << array.name;
  }
}

// --- devices and workers

TEST(Federation, RefusesAGpuThatIsNotThere) {
  if (at::hasCUDA()) GTEST_SKIP() << "there is a GPU";
  Example example;
  for (const char* device : {"cuda", "cuda:0", "cuda:7"}) {
    example.setup.device = device;
    try {
      example.federation();
      FAIL() << device;
    } catch (const RunError& problem) {
      expect_says(problem.what(), {device, "CUDA", "cpu"});
    }
  }
}

TEST(Federation, RefusesADeviceOfAnotherName) {
  Example example;
  for (const char* device : {"gpu", "CPU", "", "cuda:", "cuda:x", "cuda:-1", "cuda7", "cuda:0 ",
                             "cpu:0", "cuda:99999"}) {
    example.setup.device = device;
    expect_says(example.refusal(), {"device", device, "cpu", "cuda:N"});
  }
}

// U61
TEST(Federation, SaysThatWorkersAreCapped) {
  Example example;
  example.setup.engine.workers = 4;
  example.setup.largest_cohort = 2;
  const Federation capped = example.federation();
  EXPECT_EQ(capped.info().workers, 2);
  std::string notes;
  for (const auto& note : capped.info().notes) notes += note + "\n";
  expect_says(notes, {"4", "2", "workers"});

  example.setup.largest_cohort = 0;
  const auto cores = static_cast<std::int64_t>(allowed_cores().size());
  example.setup.engine.workers = cores + 1;
  const Federation crowded = example.federation();
  EXPECT_EQ(crowded.info().workers, cores + 1);
  ASSERT_EQ(crowded.info().notes.size(), 1U);
  expect_says(crowded.info().notes[0], {"slower", "core"});

  example.setup.engine.workers = 0;
  EXPECT_EQ(example.federation().info().workers, cores);
  EXPECT_TRUE(example.federation().info().notes.empty());
}

TEST(Federation, TheNumberOfWorkersDoesNotMatter) {
  std::vector<std::vector<std::byte>> ends;
  for (const std::int64_t workers : {1, 2, 5}) {
    Example example;
    example.setup.method = compose_method("fedvg");
    example.setup.engine.workers = workers;
    Federation federation = example.federation();
    for (std::int64_t r = 1; r <= 3; ++r) federation.run_round(r, {0, 3, 1}, kGoOn);
    ends.push_back(bytes(federation));
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(ends[0], ends[2]);
}

// --- parts that cannot go together

// U28
TEST(Federation, RefusesRulesThatNeedAValidationSetWithoutOne) {
  Example example;
  example.data.validation.clear();
  EXPECT_EQ(example.refusal(), "");
  for (const char* method : {"fedvg", "fedavg+fedvg", "scaffold+fedvg"}) {
    example.setup.method = compose_method(method);
    expect_says(example.refusal(), {method, "D_val", "validation.source", "fedavg"});
  }
  example.setup.method = compose_method("fedavg");
  example.setup.method.weighting = {"accuracy", {}};
  expect_says(example.refusal(), {"D_val"});
  example.setup.method.weighting = {"fedvg", table({{"norm", "delta"}})};
  EXPECT_EQ(example.refusal(), "");
  Federation federation = example.federation();
  EXPECT_FALSE(federation.run_round(1, {0, 1}, kGoOn).is_void);
  EXPECT_FALSE(federation.evaluate_validation().has_value());
}

// U28: a validation set of one sample, and one that lacks a class.
TEST(Federation, WeighsOnATinyValidationSet) {
  for (const IndexList& validation : {IndexList{50}, IndexList{50, 53}}) {
    Example example;
    example.data.validation = validation;
    example.setup.method = compose_method("fedvg");
    Federation federation = example.federation();
    const auto record = federation.run_round(1, {0, 1, 2}, kGoOn);
    double sum = 0;
    for (const auto& client : record.clients) sum += client.weight;
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Federation, RefusesAScoringBudgetForRulesWithoutASpread) {
  const Array fedvg_and_accuracy{table({{"name", "fedvg"}}), table({{"name", "accuracy"}})};
  for (const Part& weighting :
       {Part{"size", {}}, Part{"accuracy", {}}, Part{"fedvg", table({{"norm", "delta"}})},
        Part{"fedvg", table({{"norm", "spectral"}})},
        Part{"mix", table({{"of", fedvg_and_accuracy}})}}) {
    Example example;
    example.setup.method.weighting = weighting;
    EXPECT_EQ(example.refusal(), "");
    example.setup.scoring.budget = 0.1;
    expect_says(example.refusal(), {"scoring.budget", weighting.name.c_str(), "l1, l2 or linf"});
  }
  for (const char* method : {"fedvg", "fedavg+fedvg", "scaffold+fedvg"}) {
    Example example;
    example.setup.method = compose_method(method);
    example.setup.scoring.budget = 0.1;
    EXPECT_EQ(example.refusal(), "") << method;
  }
}

// 10 images: five batches of two are too few for a part of them; ten of one are enough.
TEST(Federation, SaysWhenAScoringBudgetHasNoEffect) {
  Example example;
  example.setup.method = compose_method("fedvg");
  const auto notes_about_budget = [&] {
    const Federation federation = example.federation();
    return std::ranges::count_if(federation.info().notes, [](const std::string& note) {
      return note.starts_with("scoring.budget");
    });
  };
  example.setup.scoring.batch_size = 2;
  EXPECT_EQ(notes_about_budget(), 0);
  const auto full = trained(example);
  example.setup.scoring.budget = 0.1;
  EXPECT_EQ(notes_about_budget(), 1);
  EXPECT_EQ(trained(example), full);
  example.setup.scoring.batch_size = 1;
  EXPECT_EQ(notes_about_budget(), 0);
}

TEST(Federation, RefusesLocalStatisticsWithoutAValidationSet) {
  for (const char* buffers : {"local", "reset"}) {
    Example example;
    example.setup.train.buffers = buffers;
    EXPECT_EQ(example.refusal(), "");
    example.data.validation.clear();
    expect_says(example.refusal(), {"train.buffers", buffers, "D_val"});
  }
}

TEST(Federation, RefusesWeightsWithACombinerThatTakesNone) {
  for (const char* combiner : {"median", "trimmed-mean", "krum"}) {
    for (const char* method : {"fedvg", "fedavg+fedvg", "elastic", "fednova"}) {
      Example example;
      example.setup.method = compose_method(method);
      example.setup.method.combiner = {combiner, {}};
      expect_says(example.refusal(), {combiner, "mean"});
    }
    for (const char* method : {"fedavg", "scaffold", "feddyn", "moon", "fedprox", "fedadam"}) {
      Example example;
      example.setup.method = compose_method(method);
      example.setup.method.combiner = {combiner, {}};
      EXPECT_EQ(example.refusal(), "") << method;
    }
  }
}

// U11: K >= 2 f + 3; a trim that trims nobody.
TEST(Federation, RefusesRobustRulesWithoutAGuarantee) {
  Example example;
  example.setup.largest_cohort = 5;
  example.setup.method.combiner = {"krum", table({{"malicious", 1}})};
  EXPECT_EQ(example.refusal(), "");
  example.setup.method.combiner = {"krum", table({{"malicious", 2}})};
  expect_says(example.refusal(), {"krum", "2 malicious", "7", "5"});
  example.setup.method.combiner = {"trimmed-mean", table({{"trim", 0.1}})};
  expect_says(example.refusal(), {"trimmed-mean", "0.1", "5"});
  example.setup.method.combiner = {"trimmed-mean", table({{"trim", 0.2}})};
  EXPECT_EQ(example.refusal(), "");
}

// U64: hidden 20000 makes a model of 1 MB; ten of them do not fit into 5 MB.
TEST(Federation, RefusesUpdatesThatDoNotFitIntoMemory) {
  Example example;
  example.setup.model = {"mlp", table({{"hidden", Array{20000}}})};
  example.setup.method.combiner = {"median", {}};
  example.setup.largest_cohort = 10;
  example.setup.engine.memory = 5;
  expect_says(example.refusal(), {"median", "10", "engine.memory", "5 MB"});
  example.setup.engine.memory = 50;
  EXPECT_EQ(example.refusal(), "");
}

TEST(Federation, RefusesBatchesOfOneWithBatchNorm) {
  Example example;
  for (Samples* part : {&example.data.dataset.training, &example.data.dataset.test}) {
    part->height = part->width = 16;
    part->pixels.assign(part->labels.size() * 256, 7);
  }
  example.setup.train.batch_size = 1;
  example.setup.model = {"resnet18", table({{"channels", 1}})};
  expect_says(example.refusal(), {"train.batch_size", "at least 2", "model.norm = \"group\""});
  example.setup.model = {"cnn", table({{"norm", "batch"}})};
  expect_says(example.refusal(), {"train.batch_size", "model cnn", "model.norm = \"none\""});
  example.setup.model = {"cnn", {}};
  EXPECT_EQ(example.refusal(), "");
  example.setup.model = {"cnn", table({{"norm", "batch"}})};
  example.setup.train.batch_size = 2;
  EXPECT_EQ(example.refusal(), "");
}

TEST(Federation, NamesTheOptionsOfAModelThatIsTooLarge) {
  Example example;
  for (const std::int64_t units : {std::int64_t{2'000'000'000'000}, INT64_MAX}) {
    example.setup.model = {"mlp", table({{"hidden", Array{units}}})};
    expect_says(example.refusal(), {"model.hidden: fc1.weight of [", "this machine has"});
  }
  EXPECT_EQ(testing::refusal([] { check_copies(1e6, 2, 1, "mlp"); }), "");
  const double bytes = machine_memory() / 6.5;  // 1 + 2 x 2 + 2 x 1 = 7 of them
  expect_says(testing::refusal([&] { check_copies(bytes, 2, 1, "mlp"); }),
              {"model.hidden: ", "with 2 workers", "engine.workers"});
  EXPECT_EQ(testing::refusal([&] { check_copies(bytes, 1, 1, "mlp"); }), "");
  EXPECT_EQ(workers_that_fit(1e6, 4, 1), 4);
  // 1 + 2 * 2 + 2 copies of a model are half of the memory with two workers.
  EXPECT_EQ(workers_that_fit(machine_memory() / 14.5, 4, 1), 2);
  EXPECT_EQ(workers_that_fit(machine_memory(), 4, 1), 1);
}

TEST(Federation, SaysWhichOptionsHaveNoEffect) {
  Example example;
  const auto notes = [&] {
    std::string all;
    const Federation federation = example.federation();
    for (const auto& note : federation.info().notes) all += note + "\n";
    return all;
  };
  example.setup.train.buffers = "local";
  example.setup.scoring.mode = "eval";
  example.setup.engine.memory = 500;
  example.setup.engine.state_memory = 7;
  expect_says(notes(), {"train.buffers = \"local\" has no effect: model mlp has no BatchNorm",
                        "scoring.mode = \"eval\" has no effect: model mlp has no BatchNorm",
                        "engine.memory = 500 has no effect: method.combiner mean keeps no updates",
                        "engine.state_memory = 7 has no effect: clients keep no state"});
  example.setup.train.buffers = "global";
  example.setup.scoring.mode = "train";
  example.setup.method = compose_method("scaffold");
  example.setup.method.combiner = {"median", {}};
  EXPECT_EQ(notes(), "");
}

TEST(Federation, RefusesLocalStepsOfUnknownLength) {
  for (const char* method : {"scaffold", "fednova", "scaffold+fedvg"}) {
    Example example;
    example.setup.method = compose_method(method);
    example.setup.train.optimizer = {"adam", {}};
    expect_says(example.refusal(), {"train.optimizer", "sgd"});
    example.setup.train.optimizer = {"sgd", table({{"momentum", 0.9}})};
    EXPECT_EQ(example.refusal(), "");
    example.setup.train.optimizer_state = "keep";
    expect_says(example.refusal(), {"train.optimizer_state", "reset"});
  }
}

TEST(Federation, RefusesUnknownPartsAndOptions) {
  Example example;
  example.setup.method.server = {"adamm", {}};
  expect_says(example.refusal(), {"adamm", "adam"});
  example = Example();
  example.setup.train.optimizer = {"sgd", table({{"momentun", 0.9}})};
  expect_says(example.refusal(), {"momentun", "momentum"});
  example = Example();
  example.setup.train.schedule = {"cosinus", {}};
  expect_says(example.refusal(), {"cosinus", "cosine"});
  example = Example();
  example.setup.model = {"mpl", {}};
  expect_says(example.refusal(), {"mpl", "mlp"});
}

// --- data

// U30: 3 outputs, one label 3, one label -1, in either part.
TEST(Federation, RefusesLabelsThatTheModelDoesNotHave) {
  for (const std::int64_t label : {3, -1}) {
    for (const bool test : {false, true}) {
      Example example;
      (test ? example.data.dataset.test : example.data.dataset.training).labels[7] = label;
      try {
        example.federation();
        FAIL();
      } catch (const DataError& problem) {
        expect_says(problem.what(), {std::to_string(label).c_str(), "position 7", "3 outputs",
                                     test ? "test" : "training"});
      }
    }
  }
}

TEST(Federation, WorksInEitherPrecision) {
  std::vector<double> losses;
  for (const char* precision : {"float32", "float64"}) {
    Example example;
    example.setup.engine.precision = precision;
    example.setup.method = compose_method("feddyn+fedvg");
    Federation federation = example.federation();
    for (std::int64_t r = 1; r <= 3; ++r) federation.run_round(r, {0, 1, 2}, kGoOn);
    for (const auto& array : federation.model()) {
      EXPECT_EQ(array.dtype, std::string(precision) == "float32" ? "F32" : "F64");
    }
    losses.push_back(federation.evaluate_test().loss);
  }
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_NEAR(losses[0], losses[1], 1e-4);
}

// bfloat16 has 8 bits: products are off by about 1/256, parameters stay float32.
TEST(Federation, TrainsAndScoresInBfloat16) {
  std::vector<Evaluation> ends;
  std::vector<double> norms;
  for (const char* precision : {"float32", "bf16"}) {
    Example example;
    example.setup.engine.precision = precision;
    example.setup.engine.kernels = "aten";
    example.setup.method = compose_method("fedvg");
    if (!processor_has_bf16() && std::string(precision) == "bf16") {
      testing::expect_says(testing::refusal([&] { example.federation(); }),
                           {"engine.precision", "bf16", "float32"});
      GTEST_SKIP() << "this processor has no bfloat16 arithmetic";
    }
    Federation federation = example.federation();
    const auto record = federation.run_round(1, {0, 1, 2}, kGoOn);
    for (const auto& client : record.clients) norms.push_back(client.norm.value());
    for (const auto& array : federation.model()) EXPECT_EQ(array.dtype, "F32");
    ends.push_back(federation.evaluate_test());
  }
  EXPECT_NE(ends[0].loss, ends[1].loss);
  EXPECT_NEAR(ends[0].loss, ends[1].loss, 0.05 * ends[0].loss);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(norms[i], norms[i + 3], 0.1 * norms[i]);
}

TEST(Federation, HasNoLoopsOfItsOwnBesideOneThreadOfFloat32) {
  for (const auto& set : kernels::instruction_sets()) {
    Example example;
    example.setup.engine.kernels = set;
    EXPECT_EQ(example.federation().info().kernels, set);
    example.setup.engine.threads = 2;
    if (set == "aten") continue;
    testing::expect_says(testing::refusal([&] { example.federation(); }),
                         {"engine.kernels", "engine.threads"});
    example.setup.engine.threads = 1;
    example.setup.engine.precision = "float64";
    testing::expect_says(testing::refusal([&] { example.federation(); }),
                         {"engine.kernels", "float64"});
  }
  Example example;
  EXPECT_EQ(example.federation().info().kernels, kernels::instruction_sets().back());
  example.setup.engine.threads = 2;
  EXPECT_EQ(example.federation().info().kernels, "aten");
  example.setup.engine.threads = 1;
  example.setup.engine.precision = "float64";
  EXPECT_EQ(example.federation().info().kernels, "aten");
}

TEST(Federation, GivesCoresToThreadsBeforeWorkers) {
  const auto cores = static_cast<std::int64_t>(allowed_cores().size());
  Example example;
  example.setup.engine.workers = 0;
  example.setup.engine.threads = cores;
  EXPECT_EQ(example.federation().info().workers, 1);
  example.setup.engine.workers = 2;
  const Federation federation = example.federation();
  EXPECT_EQ(federation.info().workers, 2);
  std::string notes;
  for (const auto& note : federation.info().notes) notes += note + "\n";
  expect_says(notes, {"2 workers", "slower"});
}

// Standardised images are another input than bytes / 255.
TEST(Federation, StandardisesImagesWhenTold) {
  Example example;
  const double plain = example.federation().evaluate_test().loss;
  example.setup.normalize = {"dataset", {}};
  EXPECT_NE(example.federation().evaluate_test().loss, plain);
}

// --- rounds

// U50
TEST(Federation, FollowsTheSchedule) {
  Example example;
  example.setup.train.rounds = 6;
  example.setup.train.schedule = {"step", table({{"every", 2}, {"factor", 0.5}})};
  Federation federation = example.federation();
  const std::vector<double> wanted{0.1, 0.1, 0.05, 0.05, 0.025, 0.025};
  for (std::int64_t r = 1; r <= 6; ++r) {
    const auto record = federation.run_round(r, {r % 5, (r + 2) % 5}, kGoOn);
    EXPECT_DOUBLE_EQ(record.learning_rate, wanted[static_cast<std::size_t>(r - 1)]);
  }
}

// U20
TEST(Federation, EvaluatesWithoutTouchingTheModel) {
  Example example;
  Federation federation = example.federation();
  federation.run_round(1, {0, 1}, kGoOn);
  const auto before = bytes(federation);
  const Evaluation test = federation.evaluate_test();
  EXPECT_EQ(federation.evaluate_test().loss, test.loss);
  EXPECT_NE(federation.evaluate_validation()->loss, test.loss);
  EXPECT_EQ(bytes(federation), before);
  EXPECT_GE(test.accuracy, 0);
  EXPECT_LE(test.accuracy, 1);
}

TEST(Federation, EvaluatesAnyPartAndSaysWhatTheModelSays) {
  Example example;
  example.data.clients[1].push_back(0);  // client 0 has it too
  Federation federation = example.federation();
  Predictions predictions;
  const auto test = federation.evaluate(DataPart::test, predictions);
  EXPECT_EQ(test->loss, federation.evaluate_test().loss);
  EXPECT_EQ(federation.part_samples(DataPart::test), example.data.test);
  ASSERT_EQ(predictions.size(), 12);
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < 12; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(predictions.labels[at], example.data.dataset.test.labels[at]);
    right += predictions.labels[at] == predictions.predicted[at];
    float sum = 0;
    for (std::int64_t c = 0; c < 3; ++c) {
      sum += predictions.probability(i, c);
      EXPECT_LE(predictions.probability(i, c),
                predictions.probability(i, predictions.predicted[at]));
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
  EXPECT_DOUBLE_EQ(test->accuracy, static_cast<double>(right) / 12);
  EXPECT_EQ(federation.evaluate(DataPart::validation, predictions)->macro_auroc,
            federation.evaluate_validation()->macro_auroc);
  federation.evaluate(DataPart::training, predictions);
  EXPECT_EQ(predictions.size(), 50);
  example.data.validation.clear();
  EXPECT_FALSE(example.federation().evaluate(DataPart::validation, predictions));
}

TEST(Federation, NamesTheClassesThatASetLacks) {
  Example example;
  EXPECT_TRUE(example.federation().info().notes.empty());
  for (auto& label : example.data.dataset.test.labels) label = 1;
  const Federation federation = example.federation();
  ASSERT_EQ(federation.info().notes.size(), 1U);
  expect_says(federation.info().notes[0], {"the test set has no sample of 2 of 3 classes (a, c)"});
}

TEST(Federation, LoadsAModelThatItSaved) {
  Example example;
  const auto saved = example.federation().model();
  example.setup.seed = 2;
  Federation other = example.federation();
  const auto before = bytes(other);
  auto broken = saved;
  broken.pop_back();
  EXPECT_THROW(other.load_model(broken), DataError);
  EXPECT_EQ(bytes(other), before);
  other.load_model(saved);
  EXPECT_EQ(other.model(), saved);
}

// 16 samples of each class: every weight is 1, to the last bit. 10, 10, 28 are not even.
TEST(Federation, BalancesClassesByTheLabelsOfAllClients) {
  const auto trained = [](const char* weights, bool even) {
    Example example;
    example.data.clients[4].resize(8);
    for (std::int64_t i = 0; i < 18 && !even; ++i) {
      auto& label = example.data.dataset.training.labels[static_cast<std::size_t>(i)];
      if (label != 2) label = 2;
    }
    example.setup.train.class_weights = weights;
    Federation federation = example.federation();
    federation.run_round(1, {0, 1, 2, 3, 4}, kGoOn);
    std::vector<float> numbers;
    for (const auto& array : federation.model()) {
      const auto old = numbers.size();
      numbers.resize(old + array.bytes.size() / sizeof(float));
      std::memcpy(numbers.data() + old, array.bytes.data(), array.bytes.size());
    }
    return numbers;
  };
  const auto difference = [&](bool even) {
    const auto plain = trained("none", even), balanced = trained("balanced", even);
    float most = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      most = std::max(most, std::abs(plain[i] - balanced[i]));
    }
    return most;
  };
  EXPECT_LT(difference(true), 1e-6);
  EXPECT_GT(difference(false), 1e-4);
}

TEST(Federation, TellsProgressToTheEnd) {
  const Example example;
  Federation federation = example.federation();
  std::int64_t calls = 0, last = 0;
  federation.run_round(1, {0, 1, 2}, kGoOn, [&](Federation::Progress progress) {
    ++calls;
    EXPECT_EQ(progress.total, 3);
    EXPECT_EQ(progress.done, ++last);
  });
  EXPECT_EQ(calls, 3);
}

TEST(Federation, StopsWhenTold) {
  const Example example;
  Federation federation = example.federation();
  const auto before = bytes(federation);
  const std::atomic<bool> stop = true;
  EXPECT_THROW(federation.run_round(1, {0, 1, 2}, stop), Interrupted);
  EXPECT_EQ(bytes(federation), before);
}

// U22: an empty client that a caller draws all the same is not weighted.
TEST(Federation, DoesNotWeighAnEmptyClient) {
  Example example;
  example.data.clients[4].clear();
  Federation federation = example.federation();
  const auto record = federation.run_round(1, {0, 4}, kGoOn);
  EXPECT_EQ(record.clients[1].status, "no-steps");
  EXPECT_EQ(record.clients[1].weight, 0);
  EXPECT_EQ(record.clients[0].weight, 1);
}

}  // namespace
}  // namespace fedvg
