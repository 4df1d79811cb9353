#include "run/sweep/sweep_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SweepFolderTest : public ::testing::Test {
 protected:
  SweepPlan plan(const std::string& text, const std::string& base = "") {
    folder_.file("a.toml", base);
    return plan_sweep(read_sweep_file(folder_.file("s.toml", "base = \"a.toml\"\n" + text)), {});
  }
  std::string refusal() {
    return message_of<RunError>([&] { const SweepFolder folder(out_); });
  }
  std::string refusal_by_check() {
    return message_of<RunError>([&] { SweepFolder::check(out_, plan("seeds = [1, 2]\n")); });
  }

  TestFolder folder_;
  std::filesystem::path out_ = folder_.path() / "sweeps/s";
};

TEST_F(SweepFolderTest, WhatIsWritten) {
  const SweepPlan plan = this->plan("seeds = [1, 2]\n");
  SweepFolder folder(out_);
  EXPECT_FALSE(folder.write(plan));
  EXPECT_EQ(content_of(out_ / "sweep.toml"), sweep_document(plan));
  EXPECT_EQ(content_of(out_ / "base.toml"), base_document(plan));
  EXPECT_EQ(content_of(out_ / "runs.json"), runs_document(plan));
  folder.write_configuration(plan, plan.runs[1]);
  EXPECT_EQ(content_of(out_ / "logs/s2.toml"), run_document(plan, plan.runs[1]));
}

TEST_F(SweepFolderTest, AnotherSweepOrBaseIsSeen) {
  const auto write = [&](const SweepPlan& plan) { return SweepFolder(out_).write(plan); };
  write(plan("seeds = [1, 2]\n"));
  EXPECT_FALSE(write(plan("seeds = [1, 2]\n")));
  EXPECT_TRUE(write(plan("seeds = [1, 2, 3]\n")));
  EXPECT_FALSE(write(plan("seeds = [1, 2, 3]\n")));
  EXPECT_TRUE(write(plan("seeds = [1, 2, 3]\n", "[train]\nrounds = 3\n")));
}

TEST_F(SweepFolderTest, OneAtATime) {
  const SweepFolder folder(out_);
  EXPECT_THAT(refusal(), HasSubstr("works in this folder"));
}

TEST_F(SweepFolderTest, AFolderOfSomethingElseIsLeftAlone) {
  folder_.file("sweeps/s/thesis.txt", "");
  EXPECT_THAT(refusal(), AllOf(HasSubstr(out_.string()), HasSubstr("not the folder of a sweep")));
  EXPECT_FALSE(std::filesystem::exists(out_ / ".lock"));
  folder_.file("sweeps/file", "");
  out_ = folder_.path() / "sweeps/file";
  EXPECT_THAT(refusal(), HasSubstr("cannot be created"));
}

TEST_F(SweepFolderTest, ACheckRefusesTheSameAndWritesNothing) {
  EXPECT_EQ(refusal_by_check(), "nothing thrown");
  EXPECT_FALSE(std::filesystem::exists(out_.parent_path()));
  folder_.file("sweeps/s/thesis.txt", "");
  EXPECT_EQ(refusal_by_check(), refusal());
  EXPECT_THAT(refusal_by_check(), HasSubstr("not the folder of a sweep"));
  EXPECT_FALSE(std::filesystem::exists(out_ / ".lock"));
  for (const char* file : {"sweeps/file", "sweeps/file/below"}) {
    folder_.file("sweeps/file", "");
    out_ = folder_.path() / file;
    EXPECT_EQ(refusal_by_check(), refusal());
    EXPECT_THAT(refusal_by_check(), HasSubstr("not a folder"));
  }
}

TEST_F(SweepFolderTest, ACheckPassesWhatIsASweep) {
  SweepFolder folder(out_);
  folder.write(plan("seeds = [1, 2]\n"));
  EXPECT_EQ(refusal_by_check(), "nothing thrown") << "also while one works in it";
}

TEST_F(SweepFolderTest, ACheckKnowsWhatTheSweepIsReadFrom) {
  SweepFolder(out_).write(plan("seeds = [1, 2]\n"));
  folder_.file("sweeps/s/base.toml", "# mine\n");
  const SweepPlan own = plan_sweep(read_sweep_file(out_ / "sweep.toml"), {});
  const std::string message = message_of<RunError>([&] { SweepFolder::check(out_, own); });
  EXPECT_THAT(message, HasSubstr("base.toml: the sweep is read from it"));
  EXPECT_EQ(message_of<RunError>([&] { SweepFolder(out_).write(own); }), message);
}

TEST_F(SweepFolderTest, WhatADeadSweepLeftIsNothingElse) {
  folder_.file("sweeps/s/.lock", "123\n");
  folder_.file("sweeps/s/sweep.toml.part", "ba");
  EXPECT_EQ(refusal(), "nothing thrown");
}

TEST_F(SweepFolderTest, ItsNameIsNoOption) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  EXPECT_EQ(SweepFolder("-x").path(), "./-x");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace fedvg
