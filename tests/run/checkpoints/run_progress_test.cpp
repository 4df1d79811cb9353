#include "run/checkpoints/run_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Evaluation evaluation(double accuracy) {
  return {.accuracy = accuracy,
          .loss = 1.0 / 3,
          .balanced_accuracy = accuracy / 3,
          .macro_f1 = std::nullopt,
          .macro_auroc = 0.1 + 0.2,
          .confusion = {{3, 1, 0}, {0, 7, 2}}};
}

RoundResult whole_round() {
  RoundResult result;
  RoundRecord& record = result.record;
  record.round = 12;
  record.is_void = true;
  record.void_reason = "total weight 0";
  record.participants = 3;
  record.rejected = 2;
  record.weight_min = 1.0 / 7;
  record.weight_max = 6.0 / 7;
  record.weight_entropy = std::nullopt;
  record.scored = 48;
  record.bytes_down = std::int64_t{1} << 60;
  record.bytes_up = 5;
  record.learning_rate = 0.1;
  record.seconds = 1.5;
  record.seconds_train = 1e-9;
  record.seconds_score = 0.25;
  record.seconds_combine = 0.125;
  ClientRecord good;
  good.client = 4;
  good.samples = 33;
  good.steps = 2;
  good.weight = 2.0 / 3;
  good.score = 1e-300;
  good.norm = kInfinity;
  good.loss_first = 2.5;
  good.loss_last = 1.5;
  good.status = "ok";
  good.seconds_train = 0.75;
  good.seconds_score = 0.5;
  good.corrupted = true;
  good.tensor_norms = {8, 0.1, 5e-324};
  good.tensor_weights = {1, 0};
  good.accuracy_before = 0.1;
  good.accuracy_after = 0.9;
  ClientRecord bad;
  bad.loss_first = bad.loss_last = std::nan("");
  bad.status = "not-finite";
  bad.corrupted = false;
  record.clients = {good, bad};
  result.test = evaluation(0.5);
  result.clients = ClientFigures{.clients = 3,
                                 .mean = 0.1,
                                 .weighted = 0.2,
                                 .worst = 0.3,
                                 .deviation = 0.4,
                                 .own_models = true};
  result.seconds = 2.5;
  result.seconds_evaluate = 0.0625;
  return result;
}

RunProgress whole_progress() {
  RunProgress progress;
  progress.tables.rounds.add("round\n1\n");
  progress.tables.clients = {.size = 2, .hash = ~std::uint64_t{0}};
  progress.tables.classes = {.size = std::int64_t{1} << 40, .hash = 4};
  progress.unevaluated = whole_round();
  RunSummary::State& summary = progress.summary;
  summary.finished = 11;
  summary.seconds = 12.345678901234567;
  summary.last = RunSummary::Measured{11, evaluation(0.6)};
  summary.best = RunSummary::Measured{7, evaluation(0.7)};
  summary.last_clients = {10, ClientFigures{.clients = 9, .mean = 0.5}};
  summary.participants = 33;
  summary.dropped = 4;
  summary.not_finite = {{"D_val", {3, 4}}, {"the test set", {}}};
  summary.void_rounds = {{2, "total weight 0"}, {5, "all rejected"}};
  summary.left_out = {{{"dead", 3}, {1, 2, 3}}, {{"not-finite", 0}, {9}}};
  progress.best = {.round = 7, .value = 0.1 + 0.7, .not_bettered = 4};
  progress.last_test = evaluation(0.25);
  progress.model_round = 12;
  progress.learning_rate = 0.025;
  progress.warned_of_loss = {"D_val", "the test set"};
  progress.kernels = "avx2";
  progress.memory_format = "channels_last";
  progress.libtorch = "2.9.0";
  progress.device = "cuda:0";
  progress.processor = "A processor";
  return progress;
}

TEST(RunProgress, ComesBackWhole) {
  const RunProgress progress = whole_progress();
  const std::string text = text_of(progress);
  const RunProgress back = progress_from(text);
  EXPECT_EQ(text_of(back), text);

  EXPECT_EQ(back.tables.rounds, progress.tables.rounds);
  EXPECT_EQ(back.tables.clients.hash, ~std::uint64_t{0});
  EXPECT_EQ(back.tables.layers, FileBegin());
  EXPECT_EQ(back.tables.classes, (FileBegin{std::int64_t{1} << 40, 4}));
  const RoundResult& result = back.unevaluated.value();
  EXPECT_EQ(rounds_line(result), rounds_line(whole_round()));
  EXPECT_EQ(clients_lines(result.record), clients_lines(whole_round().record));
  const std::vector<TensorInfo> tensors = {{"a", "a", {}}, {"b", "a", {}}, {"c", "a", {}}};
  EXPECT_EQ(layers_lines(result.record, tensors), layers_lines(whole_round().record, tensors));
  EXPECT_EQ(classes_lines(result, {"x", "y"}), classes_lines(whole_round(), {"x", "y"}));
  EXPECT_TRUE(result.record.is_void);
  EXPECT_EQ(result.record.void_reason, "total weight 0");
  EXPECT_EQ(result.record.learning_rate, 0.1);
  EXPECT_EQ(result.record.seconds, 1.5);
  EXPECT_EQ(result.record.clients[0].norm, kInfinity);
  EXPECT_TRUE(std::isnan(result.record.clients[1].loss_first));
  EXPECT_TRUE(result.clients->own_models);
  EXPECT_FALSE(result.validation);

  EXPECT_EQ(back.summary.finished, 11);
  EXPECT_EQ(back.summary.seconds, 12.345678901234567);
  EXPECT_EQ(back.summary.best->round, 7);
  EXPECT_EQ(back.summary.best->evaluation.confusion, (Confusion{{3, 1, 0}, {0, 7, 2}}));
  EXPECT_FALSE(back.summary.last_validation);
  EXPECT_EQ(back.summary.last_clients->first, 10);
  EXPECT_EQ(back.summary.not_finite, progress.summary.not_finite);
  EXPECT_EQ(back.summary.void_rounds, progress.summary.void_rounds);
  EXPECT_EQ(back.summary.left_out, progress.summary.left_out);
  EXPECT_EQ(back.best.value, 0.1 + 0.7);
  EXPECT_EQ(back.best.not_bettered, 4);
  EXPECT_EQ(back.last_test->macro_auroc, 0.1 + 0.2);
  EXPECT_EQ(back.warned_of_loss, progress.warned_of_loss);
  EXPECT_EQ(back.kernels, "avx2");
}

// A summary that was stopped in between tells what one that was not does.
TEST(RunProgress, TheSummaryGoesOn) {
  const auto round = [](std::int64_t number) {
    RoundResult result = whole_round();
    result.record.round = number;
    result.record.is_void = number % 3 == 0;
    result.record.clients[1].client = number % 2;
    result.validation = evaluation(0.125);
    if (number == 2) result.validation->loss = std::nan("");
    return result;
  };
  RunSummary whole, before, after;
  for (std::int64_t number = 1; number <= 6; ++number) {
    whole.add(round(number));
    if (number <= 3) before.add(round(number));
  }
  RunProgress progress;
  progress.summary = before.state();
  after.restore(progress_from(text_of(progress)).summary);
  EXPECT_NE(after.lines("global model", 10, 5, "images"),
            whole.lines("global model", 10, 5, "images"));
  for (std::int64_t number = 4; number <= 6; ++number) after.add(round(number));
  EXPECT_EQ(after.lines("global model", 10, 5, "images"),
            whole.lines("global model", 10, 5, "images"));
  EXPECT_EQ(after.finished(), 6);
}

TEST(RunProgress, AnEmptyOneComesBackEmpty) {
  const RunProgress back = progress_from(text_of(RunProgress()));
  EXPECT_FALSE(back.unevaluated);
  EXPECT_FALSE(back.best.value);
  EXPECT_FALSE(back.last_test);
  EXPECT_TRUE(back.summary.left_out.empty());
  EXPECT_EQ(text_of(back), text_of(RunProgress()));
}

TEST(RunProgress, WhatIsNoneIsRefused) {
  const std::string text = text_of(whole_progress());
  for (const std::string& wrong :
       {std::string(), std::string("{}"), std::string("[]"), std::string("null"),
        text.substr(0, text.size() / 2), text + "}"}) {
    EXPECT_THAT(message_of<DataError>([&] { progress_from(wrong); }),
                ::testing::StartsWith("not a run's progress: "))
        << wrong.substr(0, 40);
  }
  // Each member is needed, and of its type.
  const auto whole = nlohmann::json::parse(text);
  for (const auto& [name, value] : whole.items()) {
    auto without = whole, other = whole;
    without.erase(name);
    other[name] = nlohmann::json::array({nlohmann::json::array()});
    EXPECT_THROW(progress_from(without.dump()), DataError) << name;
    EXPECT_THROW(progress_from(other.dump()), DataError) << name;
  }
}

}  // namespace
}  // namespace fedvg
