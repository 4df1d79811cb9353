#include "data/image_set.h"

#include <gmock/gmock.h>

#include "data/images_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::gray_png;
using ::testing::HasSubstr;
using testing::message_of;
using testing::put;
using testing::rgb_png;
using testing::TemporaryFolder;

class ReadImages : public ::testing::Test {
 protected:
  void add(const std::string& name, const Bytes& content, std::int64_t label = 0,
           ImagePart part = ImagePart::training, const std::string& owner = "") {
    put(folder_, name, content);
    set_.folder = folder_.path();
    set_.files.push_back({.name = name, .label = label, .part = part, .owner = owner});
  }
  Dataset read(const ReadRequest& request = {}) const {
    Dataset dataset;
    read_images(set_, request, dataset);
    return dataset;
  }
  std::string refusal() const {
    return message_of<DataError>([&] { read(); });
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_;
  ImageSet set_;
};

TEST_F(ReadImages, FillsThePartsInOrder) {
  add("a.png", gray_png(1), 2);
  add("b.png", gray_png(2), 1, ImagePart::test);
  add("c.png", gray_png(3), 0);
  add("d.png", gray_png(4), 1, ImagePart::validation);
  const Dataset dataset = read();
  EXPECT_EQ(dataset.training.channels, 1);
  EXPECT_EQ(dataset.training.labels, (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(dataset.training.pixels, (Bytes{1, 1, 1, 1, 3, 3, 3, 3}));
  EXPECT_TRUE(dataset.training.owners.empty());
  EXPECT_EQ(dataset.test.labels, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(dataset.test.pixels, Bytes(4, 2));
  ASSERT_TRUE(dataset.validation.has_value());
  EXPECT_EQ(dataset.validation->pixels, Bytes(4, 4));
}

TEST_F(ReadImages, OneColourImageMakesAllRgb) {
  add("a.png", gray_png(1));
  add("b.png", gray_png(2), 0, ImagePart::test);
  add("c.png", rgb_png(7, 8, 9));
  const Dataset dataset = read();
  EXPECT_EQ(dataset.training.channels, 3);
  EXPECT_EQ(dataset.training.pixels,
            (Bytes{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7, 7, 7, 7, 8, 8, 8, 8, 9, 9, 9, 9}));
  EXPECT_EQ(dataset.test.channels, 3);
  EXPECT_EQ(dataset.test.pixels, Bytes(12, 2));
}

TEST_F(ReadImages, GrayBecomesRgbWhereTheSetSaysSo) {
  add("a.png", gray_png(1));
  set_.rgb = true;
  EXPECT_EQ(read().training.pixels, Bytes(12, 1));
}

TEST_F(ReadImages, OwnersAreOfTheTrainingPart) {
  add("a.png", gray_png(1), 0, ImagePart::training, "alice");
  add("b.png", gray_png(2), 0, ImagePart::test);
  const Dataset dataset = read();
  EXPECT_EQ(dataset.training.owners, std::vector<std::string>{"alice"});
  EXPECT_TRUE(dataset.test.owners.empty());
}

TEST_F(ReadImages, DifferentSizesAreNamed) {
  add("a.png", gray_png(1, 2, 3));
  add("b.png", gray_png(1, 2, 3));
  add("c.png", gray_png(1, 5, 4));
  EXPECT_EQ(refusal(), path("c.png") + " has 4 x 5 pixels, but " + path("a.png") +
                           " has 3 x 2 pixels: set data.resize to bring all images to one size");
}

TEST_F(ReadImages, DifferentSizesAreResized) {
  add("a.png", gray_png(1, 2, 3));
  add("b.png", gray_png(2, 5, 4));
  add("c.png", gray_png(3, 3, 3));
  const Dataset dataset = read({.resize = 3});
  EXPECT_EQ(dataset.training.height, 3);
  EXPECT_EQ(dataset.training.width, 3);
  Bytes wanted(9, 1);
  wanted.insert(wanted.end(), 9, 2);
  wanted.insert(wanted.end(), 9, 3);
  EXPECT_EQ(dataset.training.pixels, wanted);
}

TEST_F(ReadImages, TheFirstBadFileIsNamed) {
  for (int i = 0; i < 30; ++i) add("good" + std::to_string(i) + ".png", gray_png(1));
  add("bad1.png", {'P', 'K', 3, 4});
  add("bad2.png", {});
  EXPECT_EQ(refusal(), path("bad1.png") + " is a zip archive, not a PNG or JPEG image");
  std::filesystem::remove(path("good3.png"));
  EXPECT_EQ(refusal(), path("good3.png") + " does not exist");
  set_.files.clear();
  EXPECT_THAT(refusal(), HasSubstr("holds no images"));
}

}  // namespace
}  // namespace fedvg
