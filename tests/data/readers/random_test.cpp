#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/testing.h"
#include "fedvg/dataset.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

Dataset read_random(const Table& options, std::uint64_t seed = 1) {
  return Registry<DatasetReader>::instance().make("random", options)->read({.seed = seed});
}

const Table kSmall{{"channels", 3}, {"height", 5},     {"width", 7},
                   {"classes", 4},  {"training", 201}, {"test", 20}};

TEST(RandomReader, HasTheShapeThatWasAskedFor) {
  const Dataset dataset = read_random(kSmall);
  EXPECT_EQ(dataset.name, "random");
  EXPECT_EQ(dataset.classes.size(), 4U);
  EXPECT_EQ(dataset.training.size(), 201);
  EXPECT_EQ(dataset.test.size(), 20);
  EXPECT_EQ(dataset.test.channels, 3);
  EXPECT_EQ(dataset.test.height, 5);
  EXPECT_EQ(dataset.test.width, 7);
  EXPECT_EQ(dataset.training.pixels.size(), 201U * 105U);
  EXPECT_NE(dataset.source.find("seed 1"), std::string::npos);
}

// 21,105 bytes: each of the 256 is missing with probability below 1e-33.
TEST(RandomReader, DrawsEveryByteAndEveryClass) {
  const Dataset dataset = read_random(kSmall);
  const auto& pixels = dataset.training.pixels;
  const auto& labels = dataset.training.labels;
  EXPECT_EQ(std::set<int>(pixels.begin(), pixels.end()).size(), 256U);
  EXPECT_EQ(std::set<std::int64_t>(labels.begin(), labels.end()).size(), 4U);
}

TEST(RandomReader, IsDrawnFromTheSeedAlone) {
  const Dataset first = read_random(kSmall), again = read_random(kSmall);
  EXPECT_EQ(first.training.pixels, again.training.pixels);
  EXPECT_EQ(first.test.labels, again.test.labels);
  EXPECT_NE(first.training.pixels, read_random(kSmall, 2).training.pixels);
  // The test set is no copy of the training set's beginning.
  EXPECT_FALSE(std::equal(first.test.pixels.begin(), first.test.pixels.end(),
                          first.training.pixels.begin()));
}

TEST(RandomReader, RefusesWhatIsNoImage) {
  for (const char* option : {"channels", "height", "width", "classes", "training", "test"}) {
    Table options = kSmall;
    options.set(option, 0);
    EXPECT_THROW(read_random(options), OptionError) << option;
  }
}

}  // namespace
}  // namespace fedvg
