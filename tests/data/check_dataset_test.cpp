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

TEST(CheckDataset, RefusesNamesThatAreNoText) {
  Dataset data = dataset();
  data.classes[1] = "d\xf6g";
  EXPECT_EQ(
      message_of<DataError>([&] { check_dataset(data); }),
      "/data/a: class 1 is \"d\\xf6g\", which is not UTF-8; give it a name of printable UTF-8");
  data = dataset();
  data.training.owners = {"Bern", "Ba\nsel"};
  EXPECT_EQ(message_of<DataError>([&] { check_dataset(data); }),
            "/data/a: the client of sample 1 is \"Ba\\x0asel\", which has control characters; give "
            "it a name of printable UTF-8");
}

// A reader that leaves resizing to DatasetReader::read.
class Fixed final : public DatasetReader {
 private:
  Dataset load(const ReadRequest&) const override {
    Dataset data = dataset();
    data.training.pixels = {7, 9};
    data.validation = samples({0});
    return data;
  }
};

TEST(DatasetReader, BringsAllPartsToTheSizeAskedFor) {
  const Dataset as_it_is = Fixed().read();
  EXPECT_EQ(as_it_is.training.height, 1);
  const Dataset data = Fixed().read({.resize = 2});
  EXPECT_EQ(data.training.pixels, (std::vector<std::uint8_t>{7, 7, 7, 7, 9, 9, 9, 9}));
  for (const Samples* part : {&data.training, &data.test, &*data.validation}) {
    EXPECT_EQ(part->height, 2);
    EXPECT_EQ(part->width, 2);
    EXPECT_EQ(part->pixels.size(), part->labels.size() * 4);
  }
}

}  // namespace
}  // namespace fedvg
