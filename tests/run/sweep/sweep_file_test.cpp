#include "run/sweep/sweep_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/testing.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class SweepFileTest : public ::testing::Test {
 protected:
  SweepFile read(const std::string& text) {
    return read_sweep_file(folder_.file("plans/ours.toml", text));
  }
  std::vector<std::string> problems_of(const std::string& text) {
    try {
      read(text);
    } catch (const OptionError& error) {
      return error.problems();
    }
    return {};
  }
  std::string place(int line) const {
    return (folder_.path() / "plans/ours.toml").string() + ":" + std::to_string(line) + ": ";
  }

  TestFolder folder_;
};

TEST_F(SweepFileTest, EveryKey) {
  folder_.file("a.toml", "");
  const SweepFile file = read(
      "base = \"../a.toml\"\nout = \"sweeps/b/\"\nseeds = [1, 2, 3]\n"
      "[grid]\n\"partition.alpha\" = [0.1, 1]\ntrain.rounds = [5]\n"
      "[zip]\n\"method.weighting\" = [{norm = \"l2\"}, \"size\"]\n\"data.take\" = [10, 20]\n");
  EXPECT_EQ(file.base, folder_.path() / "a.toml");
  EXPECT_EQ(file.out, "sweeps/b");
  EXPECT_EQ(file.seeds.values, (std::vector<Value>{1, 2, 3}));
  ASSERT_EQ(file.grid.size(), 2U);
  EXPECT_EQ(file.grid[0].key, "partition.alpha");
  EXPECT_EQ(file.grid[0].values, (std::vector<Value>{0.1, 1}));
  EXPECT_EQ(file.grid[0].values[1].source.line, 5);
  EXPECT_EQ(file.grid[1].key, "train.rounds") << "dotted without quotes is the same";
  ASSERT_EQ(file.zip.size(), 2U);
  EXPECT_EQ(file.zip[0].values, (std::vector<Value>{Table{{"norm", "l2"}}, "size"}));
  EXPECT_EQ(file.rows(), 2U);
  EXPECT_EQ(file.runs(), 2U * 1U * 2U * 3U);
  EXPECT_EQ(file.axes().size(), 5U);
}

TEST_F(SweepFileTest, WithoutOutItIsNamedAfterTheFile) {
  EXPECT_EQ(read("base = \"a.toml\"\nseeds = [1]\n").out, "sweeps/ours");
}

TEST_F(SweepFileTest, ABaseBehindALinkIsFoundWhereTheLinkLeads) {
  folder_.file("far/a.toml", "");
  folder_.file("far/away/x", "");
  folder_.file("plans/x", "");
  std::filesystem::create_directory_symlink(folder_.path() / "far/away",
                                            folder_.path() / "plans/link");
  const auto base = read("base = \"link/../a.toml\"\nseeds = [1]\n").base;
  EXPECT_TRUE(std::filesystem::equivalent(base, folder_.path() / "far/a.toml"));
}

TEST_F(SweepFileTest, AllMistakesAtOnce) {
  EXPECT_THAT(
      problems_of(
          "bases = \"a.toml\"\nout = 3\nseeds = [1, 2, -1]\n[grid]\n\"a.b\" = 0.1\n"
          "\"a.c\" = []\n\"a..d\" = [1]\n\"a.e\" = [1, 2, 1]\n[zip]\nx = [1]\ny = [1, 2]\n"),
      ElementsAre(
          AllOf(StartsWith(place(1) + "unknown option 'bases'"), HasSubstr("did you mean 'base'?")),
          AllOf(StartsWith(place(2) + "out: wanted the name of a folder"), HasSubstr("3")),
          StartsWith(place(3) + "seeds: wanted a list of whole numbers >= 0"),
          AllOf(StartsWith(place(5) + "[grid] a.b: wanted a list of values"), EndsWith("0.1")),
          StartsWith(place(6) + "[grid] a.c: wanted a list of values"),
          StartsWith(place(7) + "[grid] a..d: a key, or a part of it, is empty"),
          place(8) + "[grid] a.e: 1 stands there twice",
          AllOf(StartsWith(place(10) + "[zip]: "), EndsWith("equally long: x has 1, y has 2")),
          HasSubstr("ours.toml: base: is missing")));
}

TEST_F(SweepFileTest, AKeyIsVariedOnce) {
  EXPECT_THAT(problems_of("base = \"a.toml\"\nseeds = [1, 1]\n[grid]\nseed = [1, 2]\na = [1]\n"
                          "[zip]\na = [2]\n"),
              ElementsAre(place(2) + "seeds: 1 stands there twice",
                          StartsWith(place(2) + "seed: is varied twice, by seeds and"),
                          StartsWith(place(7) + "a: is varied twice")));
}

TEST_F(SweepFileTest, SomethingMustVaryAndNotTooMuch) {
  EXPECT_THAT(problems_of("base = \"a.toml\"\n"), ElementsAre(HasSubstr("nothing varies")));
  std::string list = "[0";
  for (int i = 1; i <= 100; ++i) list += ", " + std::to_string(i);
  list += "]\n";
  EXPECT_THAT(problems_of("base = \"a.toml\"\n[grid]\na = " + list + "b = " + list),
              ElementsAre(HasSubstr("more than 10000 runs")));
  EXPECT_THAT(problems_of("base = \"a.toml\"\n[grid]\na = " + list), IsEmpty());
}

TEST_F(SweepFileTest, WhatIsNoFile) {
  EXPECT_THAT(message_of<OptionError>([&] { read_sweep_file(folder_.path() / "none.toml"); }),
              AllOf(HasSubstr("none.toml"), HasSubstr("cannot be read")));
}

}  // namespace
}  // namespace fedvg
