#include "config/overrides.h"

#include <gtest/gtest.h>

#include "config/resolve.h"
#include "config/testing.h"
#include "config/toml_file.h"
#include "fedvg/error.h"

namespace fedvg::config {
namespace {

using Messages = std::vector<std::string>;

// The notes of overriding `toml`.
Messages notes(const std::string& toml, const Messages& set) {
  Table document = read_toml(toml, "a.toml");
  return apply_overrides(set, sections(), document);
}

std::string value_text(const std::string& assignment) {
  return read_override(assignment).value.text();
}

}  // namespace

TEST(ReadOverride, TakesTomlElseAString) {
  EXPECT_EQ(value_text("a=3"), "3");
  EXPECT_EQ(value_text("a=3.0"), "3.0");
  EXPECT_EQ(value_text("a=true"), "true");
  EXPECT_EQ(value_text("a=[1, 2]"), "[1, 2]");
  EXPECT_EQ(value_text("a={name = \"sgd\"}"), "{name = \"sgd\"}");
  EXPECT_EQ(value_text("a=\"3\""), "\"3\"");
  EXPECT_EQ(value_text("a=fedvg"), "\"fedvg\"");
  EXPECT_EQ(value_text("a=x=y"), "\"x=y\"");
  EXPECT_EQ(value_text("a="), "\"\"");
  EXPECT_EQ(value_text("a = fedvg "), "\"fedvg\"");
  EXPECT_EQ(value_text("a=2024-01-02"), "\"2024-01-02\"");
  EXPECT_EQ(value_text("a=runs/a#b"), "\"runs/a#b\"");
  EXPECT_EQ(value_text("a=True"), "\"True\"");
  EXPECT_EQ(read_override(" a . b =1").path, (Messages{"a", "b"}));
  EXPECT_EQ(read_override("a=[{b = 1}]").value.source.text(), "--set");
}

TEST(ReadOverride, RefusesWhatIsNoAssignment) {
  EXPECT_EQ(problems("", {"train.rounds", "=3", "a..b=1", "a=\xff", "."}),
            (Messages{"--set train.rounds: needs the form KEY=VALUE",
                      "--set =3: a key, or a part of it, is empty",
                      "--set a..b=1: a key, or a part of it, is empty", "--set a=\xff: not UTF-8",
                      "--set .: needs the form KEY=VALUE"}));
}

TEST(ReadOverride, AnIntegerThatIsTooLargeIsNoString) {
  EXPECT_EQ(value_text("a=9223372036854775807"), "9223372036854775807");
  for (const std::string integer : {"9223372036854775808", "99999999999999999999"}) {
    const std::string reason =
        ": " + integer + " is too large, the largest integer is 9223372036854775807; ";
    for (const std::string& set :
         {"seed=" + integer, "seed=[1, " + integer + "]", "seed={b = " + integer + "}"}) {
      const Messages messages = problems("", {set});
      ASSERT_EQ(messages.size(), 1U) << set;
      EXPECT_EQ(messages[0].find("--set " + set + reason), 0U) << messages[0];
    }
    EXPECT_EQ(value_text("a=\"" + integer + "\""), "\"" + integer + "\"");
    EXPECT_EQ(value_text("a=" + integer + "-run"), "\"" + integer + "-run\"");
  }
  EXPECT_EQ(value_text("a=99999999999999999999.0"), "1e+20");
}

TEST(ApplyOverrides, ReplaceWhatTheFileSays) {
  const Table table = resolved("seed = 1\n[train]\nrounds = 5\n",
                               {"seed=3", "train.rounds=7", "partition.clients=2", "seed=4"});
  EXPECT_EQ(at(table, "seed"), "4");
  EXPECT_EQ(at(table, "train.rounds"), "7");
  EXPECT_EQ(at(table, "partition.clients"), "2");
}

TEST(ApplyOverrides, ReachIntoParts) {
  EXPECT_EQ(at(resolved("[train]\noptimizer = \"adam\"\n", {"train.optimizer.lr=0.1"}),
               "train.optimizer.lr"),
            "0.1");
  EXPECT_EQ(at(resolved("", {"train.optimizer.lr=0.1"}), "train.optimizer.lr"), "0.1");
  EXPECT_EQ(at(resolved("[method]\nname = \"fedvg\"\n", {"method.weighting.norm=l2"}),
               "method.weighting.norm"),
            "\"l2\"");
  EXPECT_EQ(at(resolved("[train]\noptimizer = {name = \"lookahead\", inner = \"adam\"}\n",
                        {"train.optimizer.inner.lr=0.2"}),
               "train.optimizer.inner"),
            R"({name = "adam", lr = 0.2, betas = [0.9, 0.999]})");
}

TEST(ApplyOverrides, OptionsBesideTheirPartHaveEitherKey) {
  for (const char* set : {"partition.alpha=3", "partition.scheme.alpha=3",
                          "partition.scheme={alpha=3}", "partition={alpha=3}"}) {
    for (const char* toml :
         {"", "[partition]\nalpha = 2\n", "[partition]\nscheme = {alpha = 2}\n"}) {
      EXPECT_EQ(at(resolved(toml, {set}), "partition.scheme.alpha"), "3.0") << toml << set;
    }
  }
}

TEST(ApplyOverrides, ATableIsMerged) {
  EXPECT_EQ(at(resolved("[train]\noptimizer = {name = \"sgd\", momentum = 0.9}\n",
                        {"train.optimizer={lr = 0.5}"}),
               "train.optimizer"),
            R"({name = "sgd", lr = 0.5, momentum = 0.9})");
  EXPECT_EQ(at(resolved("[train]\nrounds = 3\n", {"train={shuffle = false}"}), "train.rounds"),
            "3");
}

TEST(ApplyOverrides, TyposAreRefusedWithTheNearestName) {
  EXPECT_EQ(problems("", {"train.optimizer.lrr=0.1"}),
            Messages{"--set: unknown option 'lrr' of optimizer sgd; did you mean 'lr'? known: lr, "
                     "momentum"});
  EXPECT_EQ(problems("", {"trian.rounds=1"})[0].substr(0, 56),
            "--set: unknown section 'trian'; did you mean 'train'? kn");
  EXPECT_EQ(problems("", {"train.cohorts=2024"}),
            Messages{"--set: train.cohorts: wanted a string, got integer 2024; write '\"2024\"'"});
}

TEST(ApplyOverrides, RefuseAPathThroughWhatIsNoTable) {
  EXPECT_EQ(problems("[train]\nrounds = 5\nbuffers = \"local\"\nwidths = [1]\n",
                     {"train.rounds.x=1", "train.buffers.x=1", "train.widths.0=3", "train=3"}),
            (Messages{"--set train.rounds.x=1: train.rounds is integer 5, which has no options",
                      "--set train.buffers.x=1: train.buffers is string \"local\", which has no "
                      "options",
                      "--set train.widths.0=3: train.widths is list [1], which has no options",
                      "--set train=3: train is a section; set one of its options"}));
}

TEST(Replacing, DropsTheFilesOptionsOfTheReplacedPartAndSaysSo) {
  const std::string file = "[partition]\nalpha = 0.5\noverlap = true\nclients = 7\n";
  for (const char* set :
       {"partition.scheme=iid", "partition.scheme.name=iid", "partition.scheme={name = \"iid\"}"}) {
    EXPECT_EQ(notes(file, {set}), Messages{"--set " + std::string(set) +
                                           ": dropped alpha, overlap of partition dirichlet"});
    EXPECT_EQ(at(resolved(file, {set}), "partition"), R"({scheme = {name = "iid"}, clients = 7})");
  }
}

TEST(Replacing, WorksForPartsInTables) {
  const std::string file = "[train]\noptimizer = {name = \"sgd\", lr = 0.5, momentum = 0.9}\n";
  for (const char* set : {"train.optimizer=adam", "train.optimizer.name=adam",
                          "train.optimizer={name = \"adam\"}", "train.optimizer={name=\"adam\"}"}) {
    EXPECT_EQ(notes(file, {set}),
              Messages{"--set " + std::string(set) + ": dropped lr, momentum of optimizer sgd"});
    EXPECT_EQ(at(resolved(file, {set}), "train.optimizer.lr"), "0.001");
  }
  const std::string nested =
      "[train]\noptimizer = {name = \"lookahead\", inner = {momentum = 0.9}}\n";
  EXPECT_EQ(notes(nested, {"train.optimizer.inner.name=adam"}),
            Messages{"--set train.optimizer.inner.name=adam: dropped momentum of optimizer sgd"});
  EXPECT_EQ(problems(nested, {"train.optimizer.inner.name=adam"}), Messages{});
}

TEST(Replacing, FollowsDefaultsThatAMethodChanges) {
  const std::string file = "[method]\nname = \"fedvg\"\nweighting = {norm = \"l2\"}\n";
  EXPECT_EQ(notes(file, {"method.name=fedprox"}),
            Messages{"--set method.name=fedprox: dropped norm of weighting fedvg"});
  EXPECT_EQ(at(resolved(file, {"method.name=fedprox"}), "method.weighting"), R"({name = "size"})");
  const std::string named = "[method]\nname = \"fedvg\"\nweighting = {name = \"fedvg\", eps = 1}\n";
  EXPECT_EQ(notes(named, {"method.name=fedprox"}), Messages{});
  EXPECT_EQ(at(resolved(named, {"method.name=fedprox"}), "method.weighting.eps"), "1.0");
}

TEST(Replacing, NeverDropsWhatAnOverrideSet) {
  const std::string file = "[partition]\noverlap = true\n";
  const Messages set = {"partition.alpha=0.5", "partition.scheme=iid"};
  EXPECT_EQ(notes(file, set),
            Messages{"--set partition.scheme=iid: dropped overlap of partition dirichlet"});
  EXPECT_EQ(
      problems(file, set),
      Messages{"--set: partition.alpha: alpha belongs to partition dirichlet, which is not in "
               "use (scheme is iid)"});
  for (const Messages& order : {Messages{"train.optimizer.lr=0.5", "train.optimizer=adam"},
                                Messages{"train.optimizer=adam", "train.optimizer.lr=0.5"}}) {
    EXPECT_EQ(at(resolved("[train]\noptimizer = {momentum = 0.9}\n", order), "train.optimizer"),
              R"({name = "adam", lr = 0.5, betas = [0.9, 0.999]})");
  }
}

TEST(Replacing, TheSamePartKeepsItsOptions) {
  const std::string file =
      "[train]\noptimizer = {name = \"sgd\", lr = 0.5}\n[partition]\nalpha = 2\n";
  const Messages set = {"train.optimizer=sgd", "partition.scheme=dirichlet"};
  EXPECT_EQ(notes(file, set), Messages{});
  EXPECT_EQ(at(resolved(file, set), "train.optimizer.lr"), "0.5");
  EXPECT_EQ(at(resolved(file, set), "partition.scheme.alpha"), "2.0");
}

TEST(Replacing, ThereAndBackKeepsEverything) {
  EXPECT_EQ(
      notes("[partition]\nalpha = 2\n", {"partition.scheme=iid", "partition.scheme=dirichlet"}),
      Messages{});
}

TEST(Replacing, LeavesMistakesOfTheFileToBeRefused) {
  EXPECT_EQ(problems("[partition]\nalpha = 2\nalhpa = 3\n", {"partition.scheme=iid"}).size(), 1U);
  EXPECT_EQ(
      problems("[partition]\nalpha = 2\n", {"partition.scheme=iidd"}),
      Messages{"--set: partition.scheme: unknown partition 'iidd'; did you mean 'iid'? known: "
               "dirichlet, file, iid"});
}

TEST(MakeOverride, KeepsTheSourceOfASweepFile) {
  Value value = 0;
  value.source = {"sweep.toml", 4};
  Table document;
  apply_overrides(std::vector{make_override("partition.clients", value)}, sections(), document);
  Problems found;
  resolve(sections(), document, found);
  EXPECT_EQ(found.messages(), Messages{"sweep.toml:4: partition.clients: must be >= 1, got 0"});
  EXPECT_THROW(make_override("a..b", 1), OptionError);
}

}  // namespace fedvg::config
