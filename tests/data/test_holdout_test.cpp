#include "data/test_holdout.h"

#include <algorithm>
#include <string>
#include <vector>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;

// 12 samples of one byte, 8 of class 0 and 4 of class 1; sample i has pixel i.
Dataset twelve() {
  Dataset dataset;
  dataset.source = "set";
  dataset.classes = {"a", "b"};
  dataset.training = {.channels = 1, .height = 1, .width = 1};
  for (std::uint8_t i = 0; i < 12; ++i) {
    dataset.training.pixels.push_back(i);
    dataset.training.labels.push_back(i % 3 == 2);
  }
  return dataset;
}

TEST(HoldOutTest, TakesTheShareOfEachClassAndKeepsTheOrder) {
  Dataset dataset = twelve();
  hold_out_test(dataset, {.test_ratio = 0.25, .seed = 1});
  EXPECT_EQ(std::count(dataset.test.labels.begin(), dataset.test.labels.end(), 0), 2);
  EXPECT_EQ(std::count(dataset.test.labels.begin(), dataset.test.labels.end(), 1), 1);
  EXPECT_EQ(dataset.training.size(), 9);
  for (const Samples* part : {&dataset.training, &dataset.test}) {
    EXPECT_TRUE(std::is_sorted(part->pixels.begin(), part->pixels.end()));
    for (std::size_t i = 0; i < part->labels.size(); ++i) {
      EXPECT_EQ(part->labels[i], part->pixels[i] % 3 == 2);
    }
  }
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_EQ(dataset.notes[0],
            "test set: 3 of the 12 samples held out, stratified by class (data.test_ratio = 0.25), "
            "since set comes without one");
}

TEST(HoldOutTest, TakesItsNoteBackAndNoOther) {
  Dataset dataset = twelve();
  dataset.notes = {"the test set has no image of class a"};
  hold_out_test(dataset, {});
  remove_holdout_note(dataset.notes);
  EXPECT_EQ(dataset.notes, (std::vector<std::string>{"the test set has no image of class a"}));
}

TEST(HoldOutTest, DependsOnTheSeed) {
  const auto drawn = [](std::uint64_t seed) {
    Dataset dataset = twelve();
    hold_out_test(dataset, {.test_ratio = 0.5, .seed = seed});
    return dataset.test.pixels;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_TRUE(drawn(1) != drawn(2) || drawn(1) != drawn(3));
}

TEST(HoldOutTest, RefusesNothingAndEverything) {
  for (const double ratio : {0.01, 0.99}) {
    Dataset dataset = twelve();
    const auto message =
        message_of<DataError>([&] { hold_out_test(dataset, {.test_ratio = ratio}); });
    EXPECT_NE(message.find("of its 12 samples is " + std::string(ratio < 0.5 ? "none" : "all")),
              std::string::npos)
        << message;
  }
}

}  // namespace
}  // namespace fedvg
