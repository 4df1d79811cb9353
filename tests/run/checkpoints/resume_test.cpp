#include "run/checkpoints/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ResumeTest : public ::testing::Test {
 protected:
  void begin_run(const Configuration& configuration) {
    folder_.file("config.toml", configuration.text());
  }
  std::vector<std::string> problems(const Configuration& asked, bool data_known = false) {
    try {
      BegunRun(folder_.path()).check_settings(asked, data_known);
    } catch (const OptionError& error) {
      return error.problems();
    }
    return {};
  }
  std::vector<std::string> problems_with(const std::vector<std::string>& sets) {
    return problems(configuration_with(sets));
  }

  TestFolder folder_;
};

TEST_F(ResumeTest, TheSameSettingsAreTheSame) {
  for (const auto& sets : std::vector<std::vector<std::string>>{
           {},
           {"method.name=fedprox+fedvg", "train.optimizer.lr=0.1", "data.augment=[\"flip\"]"},
           {"partition.scheme=iid", "model.name=mlp", "train.schedule=cosine"}}) {
    begin_run(configuration_with(sets));
    EXPECT_THAT(problems_with(sets), IsEmpty());
    EXPECT_THAT(problems(configuration_with(sets), true), IsEmpty());
  }
  // From its own config.toml, too, whose paths are absolute.
  EXPECT_THAT(problems(load_configuration(folder_.path() / "config.toml")), IsEmpty());
}

TEST_F(ResumeTest, SomeMayChange) {
  begin_run(configuration_with({}));
  const std::vector<std::string> sets = {"train.rounds=7",     "engine.workers=3",
                                         "engine.memory=100",  "engine.state_memory=5",
                                         "checkpoint.every=1", "checkpoint.keep=9"};
  EXPECT_THAT(problems_with(sets), IsEmpty());
  for (const auto& set : sets) EXPECT_TRUE(may_change(set.substr(0, set.find('=')))) << set;
}

TEST_F(ResumeTest, AllOthersMayNot) {
  begin_run(configuration_with({}));
  for (const std::string set : {"seed=2",
                                "train.epochs=9",
                                "train.optimizer.lr=0.5",
                                "train.optimizer=adam",
                                "train.batch_size=7",
                                "train.participants=3",
                                "train.patience=4",
                                "train.drop_out=0.5",
                                "method.name=fedvg",
                                "method.weighting=uniform",
                                "method.server.momentum=0.5",
                                "model.name=mlp",
                                "model.init=w.safetensors",
                                "partition.alpha=1",
                                "partition.scheme=iid",
                                "validation.size=7",
                                "scoring.budget=0.1",
                                "evaluate.every=2",
                                "evaluate.clients=true",
                                "checkpoint.best=val_loss",
                                "report.layers_every=1",
                                "engine.precision=float64",
                                "engine.kernels=aten",
                                "engine.threads=2",
                                "engine.live_taps=false"}) {
    const std::string key = set.substr(0, set.find('='));
    EXPECT_FALSE(may_change(key)) << key;
    EXPECT_THAT(problems_with({set}), ::testing::Contains(HasSubstr("with another " + key))) << set;
  }
}

TEST_F(ResumeTest, TheMessageNamesBothValuesAndWhatToDo) {
  begin_run(configuration_with({"train.epochs=2"}));
  EXPECT_THAT(problems_with({"train.epochs=3"}),
              ElementsAre(folder_.path().string() +
                          ": cannot be continued with another train.epochs: it began with 2, asked "
                          "for is 3; take that again, or another folder (--out)"));
}

TEST_F(ResumeTest, AllDifferencesAreSaidTogether) {
  begin_run(configuration_with({}));
  EXPECT_THAT(
      problems_with({"seed=2", "train.optimizer={name=\"adam\", lr=0.5}", "train.rounds=3"}),
      ::testing::IsSupersetOf({HasSubstr("another seed: it began with 1, asked for is 2"),
                               HasSubstr("another train.optimizer.name"),
                               HasSubstr("another train.optimizer.lr"),
                               HasSubstr("another train.optimizer.beta1: it began with "
                                         "unset")}));
}

// A partition file decides the number of clients, once it was read.
TEST_F(ResumeTest, ClientsThatDataBringAreComparedOnceTheyAreKnown) {
  const std::string file = "[partition]\nscheme = \"file\"\nfile = \"/p.json\"\n";
  Configuration began = configuration_with({}, file);
  began.set_clients(7);
  begin_run(began);
  Configuration asked = configuration_with({}, file);
  EXPECT_THAT(problems(asked), IsEmpty());
  asked.set_clients(7);
  EXPECT_THAT(problems(asked, true), IsEmpty());
  asked.set_clients(8);
  EXPECT_THAT(problems(asked, true),
              ElementsAre(HasSubstr("another partition.clients: it began with 7, asked for is 8")));
  EXPECT_THAT(problems(configuration_with({"partition.clients=8"}, file)),
              ElementsAre(HasSubstr("another partition.clients")));
  EXPECT_THAT(problems(configuration_with({"partition.clients=7"}, file)), IsEmpty());
}

TEST_F(ResumeTest, SettingsThatNoRunWroteAreRefused) {
  const std::string own = configuration_with({}).text();
  for (const std::string& text :
       {std::string("seed = \n"), std::string("seed = 1\n"), own + "\n"}) {
    const auto path = folder_.file("config.toml", text);
    EXPECT_THAT(message_of<DataError>([&] { BegunRun(folder_.path()); }),
                AllOf(StartsWith(path.string() + ": not of a run that can be continued"),
                      HasSubstr("--out")))
        << text;
  }
}

TEST_F(ResumeTest, TheFolderIsLockedAsLongAsSomebodyHasIt) {
  begin_run(configuration_with({}));
  {
    BegunRun run(folder_.path());
    EXPECT_THROW(BegunRun(folder_.path()), RunError);
    const auto lock = run.take_lock();
    EXPECT_TRUE(FolderLock::taken(folder_.path()));
  }
  EXPECT_FALSE(FolderLock::taken(folder_.path()));
}

TEST_F(ResumeTest, FewerRoundsThanAreBehindAreRefused) {
  EXPECT_NO_THROW(check_rounds("r", 3, 3));
  EXPECT_NO_THROW(check_rounds("r", 0, 1));
  EXPECT_EQ(message_of<OptionError>([] { check_rounds("r", 3, 2); }),
            "train.rounds is 2, and r has 3 rounds behind it");
}

TEST_F(ResumeTest, OtherDataThanAtTheStartAreRefused) {
  begin_run(configuration_with({}));
  const BegunRun run(folder_.path());
  EXPECT_NO_THROW(run.check_partition("[[0]]\n"));  // never written
  folder_.file("partition.json", "[[0]]\n");
  EXPECT_NO_THROW(run.check_partition("[[0]]\n"));
  for (const char* other : {"[[1]]\n", "[[0]]", "[[0]]\n\n", ""}) {
    EXPECT_THAT(message_of<DataError>([&] { run.check_partition(other); }),
                AllOf(StartsWith((folder_.path() / "partition.json").string() + ": "),
                      HasSubstr("other samples now")));
  }
}

TEST(Differences, AreSaidWhereRoundsRoundOtherwise) {
  RunProgress before;
  before.kernels = "avx512";
  before.memory_format = "channels_last";
  before.libtorch = "2.9.0";
  before.device = "cuda:1";
  before.processor = "A";
  FederationInfo now;
  now.kernels = "avx512";
  now.memory_format = "channels_last";
  now.libtorch_version = "2.9.0";
  now.device = "cuda:0";
  EXPECT_THAT(differences(before, now, "A"), IsEmpty());
  now.workers = 9;
  EXPECT_THAT(differences(before, now, "A"), IsEmpty());
  now.kernels = "avx2";
  EXPECT_THAT(differences(before, now, "A"),
              ElementsAre("kernels: the rounds so far ran with avx512, this machine takes avx2: "
                          "results may differ by rounding from those of an unbroken run"));
  now.memory_format = "contiguous";
  now.libtorch_version = "2.10.0";
  now.device = "cpu";
  EXPECT_THAT(
      differences(before, now, "B"),
      ElementsAre(HasSubstr("device: the rounds so far ran with cuda, this machine takes cpu"),
                  HasSubstr("processor: the rounds so far ran with A, this machine takes B"),
                  HasSubstr("kernels"),
                  HasSubstr("memory format: the rounds so far ran "
                            "with channels_last"),
                  HasSubstr("libtorch: the rounds so far ran with 2.9.0, this machine "
                            "takes 2.10.0")));
}

}  // namespace
}  // namespace fedvg
