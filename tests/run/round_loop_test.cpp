#include "run/round_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "fedvg/error.h"
#include "run/csv.h"
#include "run/simulation.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kConfiguration = R"(
[data]
name = "random"
training = 400
test = 60
[partition]
scheme = "iid"
clients = 8
[validation]
size = 40
[model]
name = "mlp"
hidden = [8]
[train]
participants = 4
epochs = 1
[evaluate]
every = 3
[engine]
workers = 2
[method]
name = "scaffold+fedvg"
)";

/// Sets a stop at the instant in which `mark` has been written.
class StopAt final : public std::stringbuf {
 public:
  StopAt(std::string mark, std::atomic<bool>& stop) : mark_(std::move(mark)), stop_(stop) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const auto written = std::stringbuf::xsputn(text, size);
    look();
    return written;
  }
  int sync() override {
    look();
    return std::stringbuf::sync();
  }

 private:
  void look() {
    if (!mark_.empty() && str().find(mark_) != std::string::npos) stop_ = true;
  }
  std::string mark_;
  std::atomic<bool>& stop_;
};

class RoundLoopTest : public ::testing::Test {
 protected:
  /// What it says when it is stopped or fails; empty: it has ended. `stop_after`: the round whose
  /// training is over when the stop comes; 0: none comes.
  std::string run(const std::string& name, std::int64_t rounds, std::int64_t stop_after = 0,
                  std::vector<std::string> sets = {}) {
    sets.push_back("train.rounds=" + std::to_string(rounds));
    RunRequest request{.configuration = configuration_with(sets, kConfiguration)};
    request.folder = folder(name);
    request.resume = true;
    std::atomic<bool> stop = false;
    StopAt watch(stop_after > 0 ? "round " + std::to_string(stop_after) +
                                      " [##############################] 4/4"
                                : "",
                 stop);
    std::ostringstream results;
    std::ostream messages(&watch);
    try {
      Console console(results, messages, {.bar = true});
      run_simulation(std::move(request), console, stop);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::filesystem::path folder(const std::string& name) const { return above_.path() / name; }
  bool has(const std::string& name, const char* file) const {
    return std::filesystem::exists(folder(name) / file);
  }
  CsvTable rounds(const std::string& name) const { return read_csv(folder(name) / "rounds.csv"); }
  std::string accuracy(const std::string& name, std::size_t round) const {
    const CsvTable table = rounds(name);
    return table.rows.at(round - 1).at(table.column("test_accuracy").value());
  }
  RunProgress saved(const std::string& name, std::int64_t round) const {
    return progress_from(CheckpointFolder(folder(name) / "checkpoints", 2).read(round).progress);
  }

  TestFolder above_;
};

TEST_F(RoundLoopTest, AStopInAnEvaluationIsMadeUpFor) {
  ASSERT_THAT(run("whole", 4), IsEmpty());
  EXPECT_THAT(run("parts", 4, 4),
              HasSubstr("interrupted after 4 of 4 rounds, the last not evaluated yet"));
  EXPECT_EQ(rounds("parts").rows.size(), 3U);
  EXPECT_TRUE(saved("parts", 4).unevaluated);
  EXPECT_FALSE(has("parts", "confusion.csv")) << "that of round 3 is not of the model";
  EXPECT_FALSE(has("parts", "run.json"));

  ASSERT_THAT(run("parts", 4), IsEmpty());
  EXPECT_FALSE(saved("parts", 4).unevaluated) << "a run that goes on has its figures";
  for (const char* file : {"confusion.csv", "classes.csv", "layers.csv", "run.json"}) {
    EXPECT_EQ(content_of(folder("parts") / file), content_of(folder("whole") / file)) << file;
  }
  EXPECT_EQ(accuracy("parts", 4), accuracy("whole", 4));
  EXPECT_THAT(accuracy("parts", 4), Not(IsEmpty()));

  // Round 4 was evaluated for being the last one, and stays so.
  ASSERT_THAT(run("parts", 6), IsEmpty());
  ASSERT_THAT(run("whole", 6), IsEmpty());
  EXPECT_THAT(accuracy("parts", 4), Not(IsEmpty()));
  EXPECT_THAT(accuracy("parts", 5), IsEmpty());
  for (std::size_t round = 1; round <= 6; ++round) {
    EXPECT_EQ(accuracy("parts", round), accuracy("whole", round)) << round;
  }
  for (const char* file : {"confusion.csv", "model.safetensors", "best.safetensors"}) {
    EXPECT_EQ(content_of(folder("parts") / file), content_of(folder("whole") / file)) << file;
  }
}

TEST_F(RoundLoopTest, TheConfusionIsThatOfTheModelOrNotThere) {
  ASSERT_THAT(run("r", 3), IsEmpty());
  EXPECT_TRUE(has("r", "confusion.csv"));
  EXPECT_THAT(run("r", 9, 5), HasSubstr("interrupted after 5 of 9 rounds;"));
  EXPECT_THAT(accuracy("r", 5), IsEmpty());
  EXPECT_FALSE(has("r", "confusion.csv"));
  ASSERT_THAT(run("r", 9), IsEmpty());
  EXPECT_TRUE(has("r", "confusion.csv"));
}

// Two rounds with too few participants, then one whose step no number holds.
TEST_F(RoundLoopTest, AFaultInARoundKeepsTheRoundsBeforeIt) {
  const auto cohorts = above_.file("cohorts.json", "[[0, 1], [2, 3], [0, 1, 2, 3]]");
  const std::vector<std::string> sets = {"train.cohorts=" + cohorts.string(),
                                         "train.min_participants=3", "checkpoint.every=0",
                                         "method.name=fedavg", "method.server.lr=1e200"};
  const std::string message = run("r", 3, 0, sets);
  EXPECT_THAT(message, HasSubstr("diverged in round 3"));
  EXPECT_THAT(message, HasSubstr("model.safetensors"));
  EXPECT_EQ(rounds("r").rows.size(), 2U);
  EXPECT_EQ(saved("r", 2).summary.finished, 2);
  EXPECT_EQ(run("r", 3, 0, sets), message) << "it goes on behind round 2, to the same end";
}

}  // namespace
}  // namespace fedvg
