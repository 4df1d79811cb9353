#include "run/comparison/run_metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/comparison/made_up_runs.h"

namespace fedvg {
namespace {

using ::testing::HasSubstr;

class Metric : public MadeUpRuns {
 protected:
  Metric() { folder = run("a", {.accuracies = {"0", "0", "0", "0"}}); }

  Measured measured(const std::string& metric, const std::string& at = "final") const {
    return measure(read_run_history(folder), parse_metric(metric), parse_at(at));
  }
  std::string fault(const std::string& metric, const std::string& at = "final") const {
    return message_of<DataError>([&] { measured(metric, at); });
  }

  std::filesystem::path folder;
};

constexpr const char* kRounds =
    "round,test_accuracy,val_accuracy,val_loss,bytes_down,bytes_up\n"
    "1,0.2,0.3,2.0,10,1\n"
    "2,0.8,0.7,1.0,10,2\n"
    "3,0.6,0.7,0.5,10,3\n"
    "4,0.7,,0.9,10,4\n";

TEST_F(Metric, AColumnCountsInTheFinalTheBestOrTheLastRounds) {
  rounds("a", kRounds);
  EXPECT_EQ(measured("test_accuracy").value, 0.7);
  EXPECT_EQ(measured("test_accuracy", "best").value, 0.8);  // the first of two with 0.7
  EXPECT_DOUBLE_EQ(measured("test_accuracy", "last:2").value, 0.65);
  EXPECT_DOUBLE_EQ(measured("test_accuracy", "last:99").value, 0.575);
  EXPECT_DOUBLE_EQ(measured("val_accuracy", "last:2").value, 0.7);  // not measured is no zero
}

TEST_F(Metric, TheRunSaysWhichColumnDecidesItsBestRound) {
  folder =
      run("b", {.accuracies = {"0", "0", "0", "0"}, .more = "[checkpoint]\nbest = \"val_loss\"\n"});
  rounds("b", kRounds);
  EXPECT_EQ(best_criterion(read_run_history(folder)), "val_loss");
  EXPECT_EQ(measured("test_accuracy", "best").value, 0.6);  // the smallest loss
}

TEST_F(Metric, ARoundWithoutANumberIsNeverTheBest) {
  rounds("a", "round,test_accuracy,val_accuracy\n1,0.2,nan\n2,0.3,0.1\n3,0.4,nan\n4,0.5,\n");
  EXPECT_EQ(measured("test_accuracy", "best").value, 0.3);
}

// The run itself (BestRound) never calls such a round best, and keeps another model.
TEST_F(Metric, ARoundWhoseLossIsNoNumberIsNeverTheBest) {
  rounds("a",
         "round,test_accuracy,val_accuracy,val_loss\n1,0.2,0.9,nan\n2,0.3,0.4,inf\n3,0.4,0.3,2\n"
         "4,0.5,0.8,\n");
  EXPECT_EQ(measured("test_accuracy", "best").value, 0.4);
}

TEST_F(Metric, RoundsAndBytesToATarget) {
  rounds("a", kRounds);
  EXPECT_EQ(measured("rounds-to:0.8").value, 2);
  EXPECT_EQ(measured("rounds-to:0.6").value, 2);
  EXPECT_EQ(measured("rounds-to:val_loss:0.9").value, 3);  // of a loss the first that is below
  EXPECT_EQ(measured("bytes").value, 50);
  EXPECT_EQ(measured("bytes-to:0.8").value, 23);
  EXPECT_EQ(measured("bytes-to:val_loss:0.5").value, 36);
}

TEST_F(Metric, ATargetThatIsNeverReachedHasTheLimit) {
  rounds("a", kRounds);
  EXPECT_FALSE(measured("rounds-to:0.81").reached());
  EXPECT_EQ(measured("rounds-to:0.81").limit, 4);
  EXPECT_EQ(measured("bytes-to:0.81").limit, 50);
  EXPECT_TRUE(measured("rounds-to:0.8").reached());
}

TEST_F(Metric, WhatCannotBeMeasuredIsSaid) {
  rounds("a",
         "round,test_accuracy,val_accuracy,bytes_down,bytes_up\n1,nan,,1,1\n2,,,1,1\n3,nan,,"
         ",1\n4,,,1,1\n");
  EXPECT_THAT(fault("test_loss"), HasSubstr("its rounds.csv has no column 'test_loss'"));
  EXPECT_THAT(fault("test_accuracy"), HasSubstr("did not measure test_accuracy in its last round"));
  EXPECT_THAT(fault("test_accuracy", "last:2"), HasSubstr("not finite in its last rounds"));
  EXPECT_THAT(fault("test_accuracy", "last:1"), HasSubstr("did not measure test_accuracy"));
  EXPECT_THAT(fault("test_accuracy", "best"),
              HasSubstr("it has no round with a finite val_accuracy, which says"));
  EXPECT_THAT(fault("bytes"), HasSubstr("did not measure bytes_down in its round 3"));
  folder = run("b", {.accuracies = {"0.1"}, .more = "[checkpoint]\nbest = \"weight_max\"\n"});
  EXPECT_THAT(fault("test_accuracy", "best"), HasSubstr("checkpoint.best = \"weight_max\""));
}

TEST(MetricNames, AreReadAndRefused) {
  EXPECT_EQ(parse_metric("rounds-to:val_accuracy:0.5").column, "val_accuracy");
  EXPECT_EQ(parse_metric("bytes-to:0.5").target, 0.5);
  EXPECT_EQ(parse_metric("test_loss").kind, RunMetric::Kind::column);
  for (const char* wrong : {"rounds-to:", "rounds-to", "rounds-to:high", "rounds-to:0.8x",
                            "rounds-to::0.8", "rounds-to:nan", "rounds-to:test_loss:"}) {
    EXPECT_THAT(message_of<OptionError>([&] { parse_metric(wrong); }),
                HasSubstr("wanted rounds-to:NUMBER or rounds-to:COLUMN:NUMBER"))
        << wrong;
  }
  EXPECT_THAT(message_of<OptionError>([&] { parse_metric("bytes-to:weight_max:1"); }),
              HasSubstr("no target for column 'weight_max'"));
  EXPECT_THAT(message_of<OptionError>([&] { parse_metric("rounds-to:seconds:1"); }),
              HasSubstr("no target for column 'seconds'"));
  EXPECT_EQ(parse_metric("rounds-to:clients_accuracy_worst:0.5").column, "clients_accuracy_worst");
  EXPECT_THAT(message_of<OptionError>([&] { parse_metric("round-to:0.8"); }),
              HasSubstr("did you mean 'rounds-to:'?"));
}

TEST(MetricNames, AtIsReadAndRefused) {
  EXPECT_EQ(parse_at("final").kind, MetricAt::Kind::final);
  EXPECT_EQ(parse_at("best").kind, MetricAt::Kind::best);
  EXPECT_EQ(parse_at("last:12").last, 12);
  for (const char* wrong : {"last:0", "last:", "last:-1", "last:2.5"}) {
    EXPECT_THAT(message_of<OptionError>([&] { parse_at(wrong); }), HasSubstr("wanted last:N"));
  }
  EXPECT_THAT(message_of<OptionError>([&] { parse_at("bets"); }), HasSubstr("did you mean 'best'"));
}

TEST(MetricNames, EachHasItsBetterEnd) {
  EXPECT_EQ(better_end("test_macro_auroc"), Better::higher);
  EXPECT_EQ(better_end("val_loss"), Better::lower);
  EXPECT_EQ(better_end("seconds_train"), Better::lower);
  EXPECT_EQ(better_end("weight_max"), Better::neither);
  EXPECT_EQ(better_end("clients_accuracy_worst"), Better::higher);
  EXPECT_EQ(better_end("clients_accuracy_std"), Better::lower);
  EXPECT_EQ(better_end("clients_evaluated"), Better::neither);
  EXPECT_EQ(parse_metric("rounds-to:0.8").better(), Better::lower);
  EXPECT_EQ(parse_metric("bytes").better(), Better::lower);
}

}  // namespace
}  // namespace fedvg
