// What a person sees while a run goes on and at its end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "run/round_lines.h"
#include "run/run_summary.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ClientRecord client_of(std::int64_t client, const std::string& status) {
  ClientRecord record;
  record.client = client;
  record.status = status;
  return record;
}

RoundResult round_of(std::int64_t round, double accuracy) {
  RoundResult result;
  result.record.round = round;
  result.record.weight_max = 0.75;
  result.record.weight_min = 1.0 / 3e6;
  result.test = {accuracy, 1.5};
  result.seconds = 2;
  return result;
}

TEST(RoundLines, StandBelowTheirTitles) {
  EXPECT_EQ(round_title(),
            " round  accuracy       loss  max weight  min weight  rejected   seconds       ETA");
  EXPECT_EQ(round_line(round_of(3, 0.6173), 3723),
            "     3    0.6173     1.5000        0.75   3.333e-07         0      2.00   1:02:03");
  RoundResult unmeasured = round_of(12, 0);
  unmeasured.test.reset();
  unmeasured.record.weight_max.reset();
  unmeasured.record.weight_min.reset();
  unmeasured.record.is_void = true;
  EXPECT_EQ(
      round_line(unmeasured, std::nullopt),
      "    12         -          -           -           -         0      2.00         -  void");
}

TEST(RoundLines, DurationsReadLikeAClock) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(59.6), "1:00");
  EXPECT_EQ(duration_text(3599.6), "1:00:00");
}

TEST(RoundLines, WarnOfVoidRoundsAndNameRejectedClients) {
  RoundRecord record;
  record.round = 5;
  record.clients = {client_of(1, "ok"), client_of(17, "not-finite"), client_of(3, "not-finite"),
                    client_of(8, "no-steps")};
  EXPECT_THAT(round_warnings(record), ElementsAre("round 5: client 8 not weighted (no-steps)",
                                                  "round 5: clients 17, 3 rejected (not-finite)"));
  record.clients = {};
  record.is_void = true;
  record.void_reason = "total weight 0";
  EXPECT_THAT(round_warnings(record),
              ElementsAre("round 5 is void: total weight 0; the model stays as it was"));
}

// It is what was asked for, round by round.
TEST(RoundLines, DoNotWarnOfClientsThatDropOut) {
  RoundRecord record;
  record.clients = {client_of(1, "ok"), client_of(2, "dropped")};
  EXPECT_THAT(round_warnings(record), IsEmpty());
}

TEST(RoundLines, LongListsOfClientsAreCut) {
  RoundRecord record;
  for (int i = 0; i < 12; ++i) record.clients.push_back(client_of(i, "dead"));
  EXPECT_THAT(round_warnings(record), ElementsAre(HasSubstr("8, 9 and 2 more rejected (dead)")));
}

// U53: the last is told from the best, and each says of which model and how many images.
TEST(RunSummary, TellsLastFromBest) {
  RunSummary summary;
  summary.add(round_of(1, 0.4));
  summary.add(round_of(2, 0.7));
  summary.add(round_of(3, 0.6));
  EXPECT_EQ(summary.seconds_per_round(), 2);
  EXPECT_THAT(summary.lines("global model", 10000, 0, "images"),
              ElementsAre("finished    3 rounds in 6 s",
                          "last        test accuracy 0.6000, loss 1.5000: global model after round "
                          "3, 10000 test images",
                          "best        test accuracy 0.7000, after round 2"));
}

// U53: what the figures are of, how many clients, after which round; the last that was measured.
TEST(RunSummary, NamesTheFiguresOfClients) {
  RunSummary summary;
  for (std::int64_t round = 48; round <= 51; ++round) {
    RoundResult result = round_of(round, 0.5);
    if (round < 51) {
      result.clients = ClientFigures{
          .clients = round == 50 ? 100 : 1, .mean = 2.0 / 3, .weighted = 0.2, .deviation = 0.4714};
    }
    summary.add(result);
  }
  EXPECT_THAT(
      summary.lines("global model", 10, 0, "images"),
      ::testing::Contains("clients     global model after round 50 on the training data of "
                          "100 clients: accuracy mean 0.6667, by samples 0.2000, worst 10 % "
                          "(10 clients) 0.0000, standard deviation 0.4714"));
  RoundResult own = round_of(52, 0.5);
  own.clients =
      ClientFigures{.clients = 3, .mean = 1, .weighted = 1, .worst = 1, .own_models = true};
  summary.add(own);
  EXPECT_THAT(summary.lines("mean over clients' own models", 10, 0, "images"),
              ::testing::Contains("clients     each client's own model after round 52 on its "
                                  "training data, 3 clients: accuracy mean 1.0000, by samples "
                                  "1.0000, worst 10 % (1 client) 1.0000, standard deviation "
                                  "0.0000"));
}

TEST(RunSummary, CountsAnswersThatNeverCameInOneLine) {
  RunSummary summary;
  for (std::int64_t round = 1; round <= 3; ++round) {
    RoundResult result = round_of(round, 0.5);
    result.record.participants = 10;
    result.record.clients = {client_of(1, "dropped"), client_of(round, "dropped")};
    summary.add(result);
  }
  const auto lines = summary.lines("global model", 10, 0, "images");
  EXPECT_EQ(lines.size(), 4u);  // finished, last, best, dropped
  EXPECT_EQ(lines.back(), "dropped     6 of 30 answers never came (train.drop_out)");
}

TEST(RunSummary, RepeatsNotesAndWarnings) {
  RunSummary summary;
  summary.add_note("3 of 10 clients are empty and never take part");
  for (std::int64_t round = 1; round <= 12; ++round) {
    RoundResult result = round_of(round, 0.5);
    result.record.clients = {client_of(17, "dead")};
    result.record.is_void = round == 4;
    result.record.void_reason = "all rejected";
    result.validation = {0.25, 2};
    summary.add(result);
  }
  const auto lines = summary.lines("global model", 100, 50, "samples");
  EXPECT_THAT(lines, ::testing::IsSupersetOf(
                         {"D_val       accuracy 0.2500, loss 2.0000: global model after round 12, "
                          "50 validation samples",
                          "note        3 of 10 clients are empty and never take part",
                          "warning     1 of 12 rounds void (all rejected): round 4",
                          "warning     client 17 rejected (dead) in rounds 1, 2, 3, 4, 5, 6, 7, 8, "
                          "9, 10 and 2 more"}));
  EXPECT_FALSE(summary.all_void());
}

TEST(RoundLines, WarnOfALossThatIsNotFinite) {
  Evaluation evaluation{.accuracy = 0.5, .loss = 2};
  evaluation.confusion = {{2, 0, 1}, {0, 1, 2}};
  EXPECT_EQ(loss_warning(evaluation, "global model", "D_val"), "");
  for (const double loss : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    evaluation.loss = loss;
    EXPECT_THAT(loss_warning(evaluation, "global model", "D_val"),
                ::testing::AllOf(HasSubstr("the loss on D_val is not finite (global model): "),
                                 HasSubstr("3 of 6 samples have no prediction")));
  }
  EXPECT_EQ(figure_text(-std::nan("")), "nan");
  EXPECT_EQ(figure_text(12345), "1.234e+04");
}

// The best model is one that computes something, however often class 0 is right.
TEST(RunSummary, TheBestRoundHasAFiniteLoss) {
  RunSummary summary;
  RoundResult broken = round_of(1, 0.9);
  broken.test->loss = -std::nan("");
  broken.validation = broken.test;
  summary.add(broken);
  auto lines = summary.lines("global model", 100, 50, "images");
  EXPECT_THAT(lines, ::testing::IsSupersetOf(
                         {"last        test accuracy 0.9000, loss nan: global model after round 1, "
                          "100 test images",
                          "best        none: no test loss was finite",
                          "warning     loss on D_val not finite (global model): round 1",
                          "warning     loss on the test set not finite (global model): round 1"}));
  summary.add(round_of(2, 0.4));
  lines = summary.lines("global model", 100, 50, "images");
  EXPECT_THAT(lines, ::testing::Contains("best        test accuracy 0.4000, after round 2"));
}

TEST(RunSummary, KnowsWhenEveryRoundWasVoid) {
  RunSummary summary;
  EXPECT_FALSE(summary.all_void());
  RoundResult result = round_of(1, 0.1);
  result.record.is_void = true;
  summary.add(result);
  EXPECT_TRUE(summary.all_void());
}

}  // namespace
}  // namespace fedvg
