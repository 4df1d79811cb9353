#include "run/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/listing.h"
#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ConfigurationTest : public ::testing::Test {
 protected:
  Configuration load(const std::string& text, const std::vector<std::string>& sets = {}) {
    return configuration_with(sets, text);
  }
  std::vector<std::string> problems_of(const std::string& text,
                                       const std::vector<std::string>& sets = {}) {
    try {
      load(text, sets);
    } catch (const OptionError& error) {
      return error.problems();
    }
    return {};
  }
};

TEST_F(ConfigurationTest, AnEmptyFileIsFedAvgOnFashionMnist) {
  const auto configuration = load("");
  EXPECT_EQ(configuration.seed, 1U);
  EXPECT_EQ(configuration.data.name.name, "fashion-mnist");
  EXPECT_EQ(configuration.partition.scheme.name, "dirichlet");
  EXPECT_EQ(configuration.partition.clients, 100);
  EXPECT_FALSE(configuration.clients_given.has_value());
  EXPECT_EQ(configuration.model.name, "cnn");
  EXPECT_EQ(configuration.train.rounds, 50);
  EXPECT_EQ(configuration.cohorts.participation, 0.1);
  EXPECT_EQ(configuration.method.name, "fedavg");
  EXPECT_EQ(configuration.method.weighting.name, "size");
  EXPECT_THAT(configuration.notes, IsEmpty());
}

TEST_F(ConfigurationTest, AFileIsReadAsTextIs) {
  const TestFolder folder;
  const std::string text = "seed = 3\n[train]\nepochs = 2\n", wrong = "[train]\n\nepochs = 0\n";
  const auto configuration =
      load_configuration(folder.file("file.toml", text), {config::read_override("train.epochs=4")});
  EXPECT_EQ(configuration.seed, 3U);
  EXPECT_EQ(configuration.train.epochs, 4);
  EXPECT_EQ(configuration.resolved, load(text, {"train.epochs=4"}).resolved);
  const auto path = folder.file("file.toml", wrong);
  EXPECT_THAT(message_of<OptionError>([&] { load_configuration(path); }),
              AllOf(HasSubstr(path.string() + ":3"), HasSubstr("train.epochs")));
  EXPECT_THAT(message_of<OptionError>([&] { load_configuration_text(wrong, "some text"); }),
              AllOf(HasSubstr("some text:3"), HasSubstr("train.epochs")));
}

TEST_F(ConfigurationTest, AMethodsNameChoosesItsPartsAndEachCanBeSet) {
  EXPECT_EQ(load("[method]\nname = \"fedvg\"\n").method.weighting.name, "fedvg");
  const auto configuration = load("[method]\nname = \"fedvg\"\nweighting = {norm = \"l2\"}\n");
  EXPECT_EQ(configuration.method.weighting.name, "fedvg");
  EXPECT_EQ(*configuration.method.weighting.options.find("norm"), Value("l2"));
}

TEST_F(ConfigurationTest, NormalizationIsANameOrNumbers) {
  EXPECT_EQ(load("").data.normalize, (Part{"none", {}}));
  EXPECT_EQ(load("[data]\nnormalize = \"dataset\"\n").data.normalize, (Part{"dataset", {}}));
  const Part wanted{"given", Table{{"mean", Array{0.5}}, {"std", Array{0.25}}}};
  for (const char* text :
       {"{mean = [0.5], std = [0.25]}", "{name = \"given\", mean = [0.5], std = [0.25]}"}) {
    const auto configuration = load(std::string("[data]\nnormalize = ") + text + "\n");
    EXPECT_EQ(configuration.data.normalize, wanted) << text;
    EXPECT_EQ(load(configuration.text()).resolved, configuration.resolved) << text;
  }
  EXPECT_THAT(problems_of("[data]\nnormalize = {name = \"dataset\", mean = [0.5]}\n"),
              ElementsAre(HasSubstr("mean")));
  EXPECT_THAT(problems_of("[data]\nnormalize = \"datset\"\n"),
              ElementsAre(AllOf(HasSubstr("a.toml:2"), HasSubstr("dataset"))));
}

TEST_F(ConfigurationTest, APaddingNeedsACrop) {
  EXPECT_THAT(problems_of("[data]\naugment = [\"flip\"]\naugment_padding = 2\n"),
              ElementsAre(AllOf(HasSubstr("a.toml:3"), HasSubstr("data.augment_padding"))));
  EXPECT_THAT(problems_of("[data]\naugment = [\"crop\"]\naugment_padding = 2\n"), IsEmpty());
}

TEST_F(ConfigurationTest, APlusIsSymmetricInInputAndShownOneWay) {
  for (const char* name : {"fedvg+fedavg", "fedavg+fedvg"}) {
    const auto configuration = load("[method]\nname = \"" + std::string(name) + "\"\n");
    EXPECT_EQ(configuration.method.name, "fedavg+fedvg");
    EXPECT_EQ(configuration.method.weighting.name, "mix");
    EXPECT_THAT(configuration.text(), HasSubstr("name = \"fedavg+fedvg\""));
  }
}

TEST_F(ConfigurationTest, TheResolvedTextLoadsToTheSameConfiguration) {
  const auto first = load(
      "seed = 7\n[partition]\nscheme = \"iid\"\n[method]\nname = "
      "\"fedvg+fedavg\"\n[train]\noptimizer = {lr = 0.1}\n",
      {"method.server.lr=0.5"});
  const auto second = load(first.text());
  EXPECT_EQ(second.text(), first.text());
  EXPECT_EQ(second.resolved, first.resolved);
  EXPECT_EQ(second.method.server, first.method.server);
  EXPECT_THAT(second.notes, IsEmpty());
}

// U48, and several mistakes at once: each with its place.
TEST_F(ConfigurationTest, AllMistakesAreReportedTogether) {
  const auto problems = problems_of(
      "[train]\nepochs = 0\nlr = nan\noptimizer = {name = \"sgd\", lr = nan}\nparticipation = 0\n"
      "[partition]\nalpha = 0.0\n[method]\nname = \"FedVGG\"\nmu = 0.01\n[tarin]\nrounds = 3\n",
      {"engine.workers=-1"});
  const std::vector<::testing::Matcher<std::string>> expected = {
      AllOf(HasSubstr("a.toml:2: train.epochs"), HasSubstr(">= 1, got 0")),
      HasSubstr("a.toml:3: train.lr: lr belongs to local-optimizer sgd"),
      HasSubstr("a.toml:4: train.optimizer.lr"),
      AllOf(HasSubstr("a.toml:5: train.participation"), HasSubstr("in (0, 1], got 0")),
      AllOf(HasSubstr("a.toml:7: partition.alpha"), HasSubstr("got 0.0")),
      AllOf(HasSubstr("a.toml:9: method.name: unknown method 'FedVGG'"),
            HasSubstr("did you mean 'fedvg'?")),
      HasSubstr("a.toml:10: method.mu: mu belongs to correction"),
      AllOf(HasSubstr("a.toml:11"), HasSubstr("did you mean 'train'?")),
      HasSubstr("--set: engine.workers: must be in [0, 4096], got -1"),
  };
  EXPECT_THAT(problems, ::testing::IsSupersetOf(expected));
}

// U28
TEST_F(ConfigurationTest, AMethodThatNeedsAValidationSetIsRefusedWithoutOne) {
  const std::string none = "[validation]\nsource = \"none\"\n[method]\nname = ";
  EXPECT_THAT(problems_of(none + "\"fedavg\"\n"), IsEmpty());
  EXPECT_THAT(problems_of(none + "\"fedvg\"\nweighting = {norm = \"delta\"}\n"), IsEmpty());
  for (const char* method :
       {"\"fedvg\"\n", "\"fedavg+fedvg\"\n", "\"fedavg\"\nweighting = \"accuracy\"\n"}) {
    EXPECT_THAT(
        problems_of(none + method),
        ElementsAre(AllOf(HasSubstr("a.toml:2: validation.source: "), HasSubstr("it needs D_val"))))
        << method;
  }
}

TEST_F(ConfigurationTest, SettingsOfAnotherValidationSourceAreRefusedTogether) {
  EXPECT_THAT(problems_of("[validation]\npath = \"x\"\nmapping = \"m.csv\"\n"),
              ElementsAre(HasSubstr("a.toml:2: validation.path: is for validation.source = "
                                    "\"file\", but the source is \"holdout\""),
                          HasSubstr("a.toml:3: validation.mapping: is for")));
  EXPECT_THAT(problems_of("[validation]\nsource = \"file\"\nratio = 0.3\n"),
              ElementsAre(HasSubstr("a.toml:3: validation.ratio: is for validation.source = "
                                    "\"holdout\""),
                          HasSubstr("validation.path: is missing")));
  // A default that was written out, and a section with another mistake.
  EXPECT_THAT(problems_of("[validation]\nsource = \"none\"\nratio = 0.1\npath = \"\"\n"),
              IsEmpty());
  EXPECT_THAT(problems_of("[validation]\nsource = \"holdaut\"\nmapping = \"m.csv\"\n"),
              ElementsAre(HasSubstr("a.toml:2: validation.source")));
}

TEST_F(ConfigurationTest, CorruptionMustBeWhole) {
  const auto configuration =
      load("[corruption]\nshare = 0.2\nkind = \"label-noise\"\nlevel = 0.5\n");
  EXPECT_EQ(configuration.corruption.share, 0.2);
  EXPECT_EQ(configuration.corruption.kind, "label-noise");
  EXPECT_EQ(configuration.corruption.level, 0.5);
  EXPECT_EQ(load("").corruption.share, 0);
  EXPECT_THAT(problems_of("[corruption]\nshare = 0.2\n"),
              ElementsAre(HasSubstr("corruption.kind: is missing")));
  EXPECT_THAT(problems_of("[corruption]\nshare = 0.2\nkind = \"label-noise\"\nlevel = 1.5\n"),
              ElementsAre(HasSubstr("a.toml:4: corruption.level: must be in (0, 1]")));
  EXPECT_THAT(
      problems_of("[corruption]\nshare = 1.5\nkind = \"label-flop\"\n"),
      ElementsAre(HasSubstr("a.toml:2: corruption.share"), HasSubstr("a.toml:3: corruption.kind")));
}

// Nobody receives what clients would send.
TEST_F(ConfigurationTest, CorruptedUpdatesAreRefusedWhereNoneIsSent) {
  const std::string flip = "[corruption]\nshare = 0.2\nlevel = 1\nkind = \"sign-flip\"\n";
  const std::string labels = "[corruption]\nshare = 0.2\nkind = \"label-flip\"\n";
  for (const std::string method : {"centralized", "local"}) {
    const std::string lines = "[method]\nname = \"" + method + "\"\n";
    EXPECT_THAT(problems_of(lines + flip), ElementsAre(HasSubstr("they send nothing")));
    EXPECT_THAT(problems_of(lines + labels), IsEmpty());
  }
  EXPECT_THAT(problems_of(flip), IsEmpty());
}

TEST_F(ConfigurationTest, PathsBecomeAbsolute) {
  const auto here = std::filesystem::current_path();
  const auto configuration = load(
      "[data]\nname = \"idx\"\npath = \"sets/../mine\"\n[partition]\nscheme = \"file\"\n"
      "file = \"/p.json\"\n[train]\ncohorts = \"c.json\"\n");
  EXPECT_EQ(*configuration.data.name.options.find("path"), Value((here / "mine").string()));
  EXPECT_EQ(*configuration.partition.scheme.options.find("file"), Value("/p.json"));
  EXPECT_EQ(configuration.cohorts.cohorts, (here / "c.json").string());
  EXPECT_THAT(configuration.text(), HasSubstr("path = \"" + (here / "mine").string() + "\""));
}

TEST_F(ConfigurationTest, ClientsThatWereWrittenAreToldFromTheDefault) {
  EXPECT_EQ(load("[partition]\nclients = 100\n").clients_given, 100);
  auto configuration = load("[partition]\nscheme = \"file\"\nfile = \"p.json\"\n");
  EXPECT_FALSE(configuration.clients_given.has_value());
  configuration.set_clients(20);
  EXPECT_THAT(configuration.text(), HasSubstr("clients = 20\n"));
}

TEST_F(ConfigurationTest, WhatASettingReplacesIsSaid) {
  EXPECT_THAT(load("[train]\nparticipants = 5\nparticipation = 0.2\nsteps = 7\nepochs = 2\n").notes,
              ElementsAre("train.participants = 5 replaces train.participation = 0.2",
                          "train.steps = 7 replaces train.epochs = 2"));
  EXPECT_THAT(load("[train]\nparticipants = 5\n").notes, IsEmpty());
}

TEST_F(ConfigurationTest, WhatHasNoEffectIsSaid) {
  const auto notes = [&](const std::string& text) { return load(text).notes; };
  EXPECT_THAT(notes("[partition]\noverlap = true\n"),
              ElementsAre(HasSubstr("partition.overlap = true has no effect with "
                                    "partition.scheme = \"dirichlet\"")));
  EXPECT_THAT(notes("[partition]\noverlap = true\nscheme = \"file\"\nfile = \"p\"\n"), IsEmpty());
  EXPECT_THAT(notes("[partition]\non_short = \"refuse\"\nmin_samples = 0\n"),
              ElementsAre("partition.on_short = \"refuse\" has no effect with "
                          "partition.min_samples = 0"));
  EXPECT_THAT(notes("[partition]\non_short = \"refuse\"\n"), IsEmpty());

  const std::string scoring = "[scoring]\nmode = \"eval\"\nbatch_size = 5\n[method]\n";
  const std::vector<::testing::Matcher<std::string>> both = {
      HasSubstr("scoring.mode = \"eval\" has no effect with method.weighting"),
      HasSubstr("scoring.batch_size = 5 has no effect with method.weighting")};
  EXPECT_THAT(notes(scoring + "name = \"fedavg\"\n"), ::testing::ElementsAreArray(both));
  EXPECT_THAT(notes(scoring + "name = \"fedvg\"\nweighting = {norm = \"delta\"}\n"),
              ::testing::ElementsAreArray(both));
  EXPECT_THAT(notes(scoring + "name = \"fedavg\"\n[train]\nbuffers = \"local\"\n"),
              ElementsAre(both[0]));
  for (const char* method : {"fedvg", "fedavg+fedvg", "scaffold+fedvg"}) {
    EXPECT_THAT(notes(scoring + "name = \"" + method + "\"\n"), IsEmpty());
  }

  EXPECT_THAT(notes("[method]\nserver = {nesterov = false}\n"),
              ElementsAre(HasSubstr("method.server.nesterov = false has no effect")));
  EXPECT_THAT(notes("[method]\nname = \"fedavgm\"\nserver = {nesterov = false}\n"), IsEmpty());
  EXPECT_THAT(notes("[method]\nname = \"local\"\nserver = {lr = 0.1}\nweighting = \"size\"\n"),
              ElementsAre(HasSubstr("method.server has no effect with method.name = \"local\""),
                          HasSubstr("method.weighting has no effect")));
  EXPECT_THAT(notes("[method]\nname = \"local\"\n"), IsEmpty());
}

TEST_F(ConfigurationTest, AFileAloneIsATorchscriptModel) {
  for (const char* text : {"model = {file = \"net.ts\"}\n", "[model]\nfile = \"net.ts\"\n",
                           "[model]\nname = \"torchscript\"\nfile = \"net.ts\"\n"}) {
    const auto configuration = load(text);
    EXPECT_EQ(configuration.model.name, "torchscript");
    EXPECT_EQ(*configuration.model.options.find("file"),
              Value(std::filesystem::absolute("net.ts").string()));
    EXPECT_EQ(load(configuration.text()).text(), configuration.text());
  }
  EXPECT_EQ(load("", {"model.file=net.ts"}).model.name, "torchscript");
  EXPECT_THAT(problems_of("[model]\nname = \"cnn\"\nfile = \"net.ts\"\n"),
              ElementsAre(HasSubstr("model.file")));
}

TEST_F(ConfigurationTest, TheInitialModelStandsBesideItsName) {
  const auto configuration = load("[model]\nname = \"resnet18\"\ninit = \"w.safetensors\"\n");
  EXPECT_EQ(configuration.initial_model, std::filesystem::absolute("w.safetensors"));
  EXPECT_THAT(configuration.text(), HasSubstr("w.safetensors"));
  EXPECT_EQ(load("").initial_model, "");
}

TEST_F(ConfigurationTest, DroppedOptionsOfAReplacedPartAreSaid) {
  const auto configuration = load("[partition]\nalpha = 0.5\n", {"partition.scheme=iid"});
  EXPECT_EQ(configuration.partition.scheme.name, "iid");
  EXPECT_THAT(configuration.notes, ElementsAre(HasSubstr("dropped alpha")));
}

TEST_F(ConfigurationTest, CheckpointsHaveASection) {
  const CheckpointOptions usual = load("").checkpoint;
  EXPECT_EQ(usual.every, 10);
  EXPECT_EQ(usual.keep, 2);
  EXPECT_EQ(usual.best, "val_accuracy");
  const auto configuration = load("[checkpoint]\nevery = 0\nkeep = 1\nbest = \"val_loss\"\n");
  EXPECT_EQ(configuration.checkpoint.every, 0);
  EXPECT_EQ(configuration.checkpoint.keep, 1);
  EXPECT_EQ(configuration.checkpoint.best, "val_loss");
  EXPECT_EQ(load(configuration.text()).resolved, configuration.resolved);
  EXPECT_THAT(
      problems_of("[checkpoint]\nevery = -1\nkeep = 0\n"),
      ElementsAre(HasSubstr("a.toml:2: checkpoint.every"), HasSubstr("a.toml:3: checkpoint.keep")));
}

// The best model is never chosen by test data.
TEST_F(ConfigurationTest, TheBestIsNotByTheTestSet) {
  for (const char* metric : {"test_accuracy", "test_loss", "accuracy", ""}) {
    EXPECT_THAT(problems_of("[checkpoint]\nbest = \"" + std::string(metric) + "\"\n"),
                ElementsAre(AllOf(HasSubstr("a.toml:2: checkpoint.best"), HasSubstr("val_accuracy"),
                                  HasSubstr("val_loss"), HasSubstr("val_balanced_accuracy"),
                                  HasSubstr("val_macro_f1"), HasSubstr("val_macro_auroc"))))
        << metric;
  }
}

TEST_F(ConfigurationTest, StoppingEarlyNeedsAValidationSet) {
  const std::string none = "[validation]\nsource = \"none\"\n[train]\npatience = ";
  EXPECT_THAT(problems_of(none + "3\n"),
              ElementsAre(AllOf(HasSubstr("a.toml:4: train.patience: "), HasSubstr("D_val"),
                                HasSubstr("holdout"))));
  EXPECT_THAT(problems_of(none + "0\n"), IsEmpty());
  EXPECT_THAT(problems_of("[train]\npatience = -1\n"),
              ElementsAre(HasSubstr("a.toml:2: train.patience")));
  EXPECT_EQ(load("[train]\npatience = 3\n").train.patience, 3);
  EXPECT_EQ(load("").train.patience, 0);
}

TEST_F(ConfigurationTest, EverySectionCanBeListed) {
  for (const auto& section : sections()) {
    if (section.name.empty()) continue;
    EXPECT_NO_THROW(config::list_text(sections(), section.name));
  }
  EXPECT_THAT(config::reference_markdown(sections()), HasSubstr("`layers_every`"));
}

}  // namespace
}  // namespace fedvg
