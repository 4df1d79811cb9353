#include "data/check_dataset.h"

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;

Samples samples(std::vector<std::int64_t> labels, std::int64_t height = 1) {
  Samples made{.channels = 1, .height = height, .width = 1, .pixels = {}, .labels = labels};
  made.pixels.resize(labels.size() * static_cast<std::size_t>(height));
  return made;
}

Dataset dataset() {
  return {.name = "a",
          .classes = {"cat", "dog"},
          .training = samples({0, 1}),
          .test = samples({1}),
          .validation = std::nullopt,
          .source = "/data/a"};
}

TEST(CheckDataset, AcceptsAWholeDataset) { EXPECT_NO_THROW(check_dataset(dataset())); }

TEST(CheckDataset, RefusesALabelBeyondTheClasses) {
  Dataset data = dataset();
  data.test = samples({1, 0, 2});
  EXPECT_EQ(message_of<DataError>([&] { check_dataset(data); }),
            "/data/a: the test set has label 2 at sample 2 (counted from 0), but there are 2 "
            "classes, 0 to 1");
  data = dataset();
  data.training = samples({0, -1});
  EXPECT_NE(message_of<DataError>([&] { check_dataset(data); }).find("label -1 at sample 1"),
            std::string::npos);
}

TEST(CheckDataset, RefusesPartsThatDoNotFit) {
  Dataset data = dataset();
  data.test = samples({1}, 2);
  EXPECT_EQ(message_of<DataError>([&] { check_dataset(data); }),
            "/data/a: the test set has images of 1 x 2 x 1, but the training set of 1 x 1 x 1: "
            "they belong to different data sets");
  data = dataset();
  data.validation = samples({});
  EXPECT_EQ(message_of<DataError>([&] { check_dataset(data); }),
            "/data/a: the validation set is empty");
  data = dataset();
  data.training.pixels.pop_back();
  EXPECT_THROW(check_dataset(data), DataError);
}

}  // namespace
}  // namespace fedvg
