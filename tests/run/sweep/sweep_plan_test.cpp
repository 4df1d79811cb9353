#include "run/sweep/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fedvg/error.h"
#include "run/configuration.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kBase = "[train]\nrounds = 7\n[method]\nname = \"fedvg\"\n";

class SweepPlanTest : public ::testing::Test {
 protected:
  SweepPlan plan(const std::string& text, const std::vector<std::string>& sets = {},
                 const std::string& base = kBase) {
    folder_.file("a.toml", base);
    std::vector<config::Override> changes;
    for (const auto& set : sets) changes.push_back(config::read_override(set));
    return plan_sweep(read_sweep_file(folder_.file("s.toml", "base = \"a.toml\"\n" + text)),
                      changes);
  }
  std::vector<std::string> problems_of(const std::string& text,
                                       const std::vector<std::string>& sets = {},
                                       const std::string& base = kBase) {
    try {
      plan(text, sets, base);
    } catch (const OptionError& error) {
      return error.problems();
    }
    return {};
  }
  std::string place(const std::string& file, int line) const {
    return (folder_.path() / file).string() + ":" + std::to_string(line) + ": ";
  }

  TestFolder folder_;
};

std::vector<std::string> names_of(const SweepPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedRun& run : plan.runs) names.push_back(run.name);
  return names;
}

TEST_F(SweepPlanTest, GridThenRowsOfZipThenSeeds) {
  const SweepPlan plan = this->plan(
      "seeds = [1, 2]\n[grid]\n\"partition.alpha\" = [0.1, 1]\n\"method.name\" = [\"fedvg\"]\n"
      "[zip]\n\"train.epochs\" = [3, 4]\n\"train.batch_size\" = [8, 16]\n");
  EXPECT_THAT(names_of(plan), ElementsAre("fedvg-alpha0.1-epochs3-s1", "fedvg-alpha0.1-epochs3-s2",
                                          "fedvg-alpha0.1-epochs4-s1", "fedvg-alpha0.1-epochs4-s2",
                                          "fedvg-alpha1-epochs3-s1", "fedvg-alpha1-epochs3-s2",
                                          "fedvg-alpha1-epochs4-s1", "fedvg-alpha1-epochs4-s2"));
  EXPECT_EQ(settings_text(plan.runs[2].settings),
            "partition.alpha = 0.1, method.name = \"fedvg\", train.epochs = 4, "
            "train.batch_size = 16, seed = 1");
  EXPECT_EQ(plan.runs[2].rounds, 7);
}

TEST_F(SweepPlanTest, TheLastKeyOfTheGridChangesFastest) {
  EXPECT_THAT(
      names_of(plan("[grid]\n\"train.epochs\" = [3, 4]\n\"partition.alpha\" = [0.1, 1]\n")),
      ElementsAre("epochs3-alpha0.1", "epochs3-alpha1", "epochs4-alpha0.1", "epochs4-alpha1"));
}

TEST_F(SweepPlanTest, OfZipAsManyKeysAsTellItsRowsApart) {
  EXPECT_THAT(names_of(plan("[zip]\n\"train.epochs\" = [3, 3]\n\"train.batch_size\" = [8, 16]\n"
                            "\"train.rounds\" = [1, 2]\n")),
              ElementsAre("epochs3-batch_size8", "epochs3-batch_size16"));
}

// What `fedvg run` reads is the configuration that was checked.
TEST_F(SweepPlanTest, TheDocumentOfARunIsItsConfiguration) {
  const SweepPlan plan =
      this->plan("seeds = [5]\n[grid]\n\"method.weighting\" = [{norm = \"l2\"}, \"size\"]\n",
                 {"partition.scheme=iid", "train.rounds=9"},
                 std::string(kBase) + "[partition]\nalpha = 0.3\n");
  ASSERT_THAT(plan.runs, SizeIs(2));
  EXPECT_EQ(plan.runs[0].rounds, 9);
  for (const PlannedRun& run : plan.runs) {
    const auto configuration = load_configuration_text(run_document(plan, run), "document");
    EXPECT_EQ(configuration.text(), run.config);
    EXPECT_EQ(configuration.seed, 5U);
    EXPECT_EQ(configuration.partition.scheme.name, "iid");
  }
  EXPECT_THAT(plan.runs[0].config, HasSubstr("norm = \"l2\""));
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("dropped alpha of partition dirichlet")));
}

// sweep.toml and base.toml in a folder of their own are the same sweep.
TEST_F(SweepPlanTest, ItsDocumentsAreTheSameSweep) {
  const SweepPlan plan = this->plan(
      "out = \"here\"\nseeds = [1, 2]\n[grid]\n\"partition.alpha\" = [0.1, 1]\n"
      "[zip]\n\"method.weighting\" = [{norm = \"l2\"}, \"size\"]\n",
      {"train.rounds=9"});
  folder_.file("out/base.toml", base_document(plan));
  const SweepPlan again =
      plan_sweep(read_sweep_file(folder_.file("out/sweep.toml", sweep_document(plan))), {});
  EXPECT_EQ(names_of(again), names_of(plan));
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    EXPECT_EQ(again.runs[i].config, plan.runs[i].config);
  }
  EXPECT_EQ(again.file.out, std::filesystem::absolute("here"));
  EXPECT_EQ(sweep_document(again), sweep_document(plan));
  EXPECT_EQ(base_document(again), base_document(plan));
}

// For as long as it lives.
class CurrentFolder {
 public:
  explicit CurrentFolder(const std::filesystem::path& path)
      : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~CurrentFolder() { std::filesystem::current_path(before_); }
  CurrentFolder(const CurrentFolder&) = delete;
  CurrentFolder& operator=(const CurrentFolder&) = delete;

 private:
  std::filesystem::path before_;
};

// Relative paths, in the base, in --set and among the values, count from where the sweep was
// started first.
TEST_F(SweepPlanTest, ItsDocumentsAreTheSameSweepFromAnyFolder) {
  const std::string started = (folder_.path() / "started").string();
  std::filesystem::create_directories(started);
  std::vector<PlannedRun> runs;
  std::string base, sweep, first;
  {
    const CurrentFolder inside(started);
    const SweepPlan plan = this->plan(
        "out = \"here\"\n[grid]\n\"partition.file\" = [\"a.json\", \"../b.json\"]\n"
        "[zip]\n\"model.name\" = [\"cnn\", {name = \"torchscript\", file = \"net.ts\"}]\n",
        {"train.cohorts=who.json"},
        std::string(kBase) +
            "[data]\npath = \"sets/fashion\"\n[partition]\nscheme = \"file\"\n"
            "[model]\ninit = \"first.safetensors\"\n[validation]\nsource = \"file\"\n"
            "path = \"foreign\"\nmapping = \"map.csv\"\n");
    runs = plan.runs;
    base = base_document(plan);
    sweep = sweep_document(plan);
    first = run_document(plan, runs[0]);
  }
  const CurrentFolder elsewhere(folder_.path());
  folder_.file("out/base.toml", base);
  const SweepPlan again = plan_sweep(read_sweep_file(folder_.file("out/sweep.toml", sweep)), {});
  ASSERT_THAT(again.runs, SizeIs(4));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(again.runs[i].name, runs[i].name);
    EXPECT_EQ(again.runs[i].config, runs[i].config);
  }
  EXPECT_EQ(load_configuration_text(first, "document").text(), runs[0].config);
  for (const char* file : {"sets/fashion", "who.json", "first.safetensors", "foreign", "map.csv"}) {
    EXPECT_THAT(base, HasSubstr("\"" + started + "/" + file + "\""));
  }
  for (const std::string& file :
       {started + "/a.json", (folder_.path() / "b.json").string(), started + "/net.ts"}) {
    EXPECT_THAT(sweep, HasSubstr("\"" + file + "\""));
  }
}

TEST_F(SweepPlanTest, RunsAsJson) {
  const SweepPlan plan = this->plan(
      "seeds = [2]\n[grid]\n\"partition.alpha\" = [0.1]\n"
      "\"method.weighting\" = [{norm = \"l2\"}]\n\"train.shuffle\" = [false]\n");
  const auto json = nlohmann::json::parse(runs_document(plan));
  EXPECT_EQ(json, nlohmann::json::parse(
                      R"([{"folder": "alpha0.1-weighting_norm_l2-shuffle_false-s2", "settings": {
                        "partition.alpha": 0.1, "method.weighting": {"norm": "l2"},
                        "train.shuffle": false, "seed": 2}}])"));
}

TEST_F(SweepPlanTest, MistakesOfAllRunsEachOnce) {
  EXPECT_THAT(
      problems_of("seeds = [1, 2, 3]\n[grid]\n\"partition.alpha\" = [0.1, -1]\n"
                  "\"method.nam\" = [\"fedavg\", \"fedvg\"]\n\"train.epochs\" = [0]\n",
                  {}, "[train]\n\nlrr = 3\n"),
      ElementsAre(
          StartsWith(place("a.toml", 3) + "unknown option 'lrr' in [train]"),
          AllOf(StartsWith(place("s.toml", 5) + "unknown option 'nam' in [method]"),
                HasSubstr("did you mean 'name'?")),
          place("s.toml", 6) + "train.epochs: must be >= 1, got 0",
          AllOf(StartsWith(place("s.toml", 4) + "partition.alpha: must be in "),
                EndsWith("got -1 (6 of 12 runs, the first alpha-1-nam_fedavg-epochs0-s1)"))));
}

TEST_F(SweepPlanTest, MistakesThatDependOnOtherKeysNameTheirRuns) {
  EXPECT_THAT(problems_of("seeds = [1, 2]\n[grid]\n\"method.name\" = [\"fedavg\", \"fedvg\"]\n"
                          "\"method.weighting.norm\" = [\"l2\"]\n"),
              ElementsAre(AllOf(StartsWith(place("s.toml", 5)), HasSubstr("norm belongs to"),
                                EndsWith("(2 of 4 runs, the first fedavg-norm_l2-s1)"))));
  EXPECT_THAT(problems_of("[grid]\n\"method.name\" = [\"fedavg\", \"fedvg\"]\n"
                          "\"method.weighting.norm\" = [\"l2\"]\n"),
              ElementsAre(EndsWith("(run fedavg-norm_l2)")));
}

TEST_F(SweepPlanTest, AMessageWithoutAFileGetsTheSweeps) {
  EXPECT_THAT(problems_of("[grid]\n\"train.rounds.x\" = [1]\n"),
              ElementsAre(StartsWith((folder_.path() / "s.toml").string() + ": ")));
}

TEST_F(SweepPlanTest, RunsThatWouldBeTheSame) {
  EXPECT_THAT(problems_of("[grid]\n\"partition.alpha\" = [1, 1.0]\n"),
              ElementsAre(AllOf(HasSubstr("two runs would be the same"), HasSubstr("alpha1-"))));
}

TEST_F(SweepPlanTest, AChangeOfWhatVariesIsRefused) {
  const std::string text = "seeds = [1, 2]\n[grid]\n\"method.weighting.norm\" = [\"l1\", \"l2\"]\n";
  EXPECT_THAT(
      problems_of(text, {"seed=3", "method.weighting=size", "train.rounds=3"}),
      ElementsAre(AllOf(StartsWith("--set seed=3: the sweep varies seed"), HasSubstr("s.toml:2")),
                  AllOf(StartsWith("--set method.weighting=size"),
                        HasSubstr("varies method.weighting.norm"))));
  EXPECT_EQ(plan(text, {"train.rounds=3"}).runs[0].rounds, 3);
}

TEST_F(SweepPlanTest, ABaseThatIsNotThere) {
  folder_.file("s.toml", "base = \"none.toml\"\nseeds = [1]\n");
  EXPECT_THAT(
      message_of<OptionError>([&] { plan_sweep(read_sweep_file(folder_.path() / "s.toml"), {}); }),
      AllOf(HasSubstr("s.toml: base: "), HasSubstr("none.toml: cannot be read")));
}

}  // namespace
}  // namespace fedvg
