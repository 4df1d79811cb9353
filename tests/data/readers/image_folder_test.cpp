#include <algorithm>
#include <array>

#include <gmock/gmock.h>

#include "data/federated_data.h"
#include "data/images_testing.h"
#include "fedvg/dataset.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::gray_png;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::put;
using testing::rgb_png;
using ::testing::StartsWith;
using testing::TemporaryFolder;

class ImageFolderTest : public ::testing::Test {
 protected:
  void add(const std::string& name, std::uint8_t value = 1) const {
    put(folder_, name, gray_png(value));
  }
  // A folder that is fine: two classes, training and test.
  void add_usual() const {
    add("train/cat/1.png", 1);
    add("train/cat/2.png", 2);
    add("train/dog/1.png", 3);
    add("test/cat/1.png", 4);
    add("test/dog/1.png", 5);
  }
  Dataset read(const ReadRequest& request = {}) const { return read_from(folder_.path(), request); }
  static Dataset read_from(const std::filesystem::path& path, const ReadRequest& request = {}) {
    Table options;
    options.set("path", path.string());
    return Registry<DatasetReader>::instance().make("image-folder", options)->read(request);
  }
  std::string refusal(const ReadRequest& request = {}) const {
    return message_of<DataError>([&] { read(request); });
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(ImageFolderTest, ReadsTrainTestAndVal) {
  add_usual();
  put(folder_, "val/dog/x.jpg", testing::jpeg_file({.height = 2, .width = 2, .colour = {6}}));
  const Dataset dataset = read();
  EXPECT_EQ(dataset.name, "image-folder");
  EXPECT_THAT(dataset.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(dataset.training.labels, ElementsAre(0, 0, 1));
  EXPECT_EQ(dataset.training.pixels, (Bytes{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  EXPECT_EQ(dataset.test.pixels, (Bytes{4, 4, 4, 4, 5, 5, 5, 5}));
  ASSERT_TRUE(dataset.validation.has_value());
  EXPECT_THAT(dataset.validation->labels, ElementsAre(1));
  EXPECT_EQ(dataset.validation->pixels, Bytes(4, 6));
  EXPECT_EQ(dataset.source, folder_.path().string());
  EXPECT_THAT(dataset.notes, IsEmpty());
}

TEST_F(ImageFolderTest, RefusesFoldersWhoseNamesAreNoText) {
  add_usual();
  add("train/Z\xfcrich/1.png");
  EXPECT_EQ(refusal(), path("train") +
                           ": the class folder is \"Z\\xfcrich\", which is not UTF-8; "
                           "rename it");
  std::filesystem::remove_all(path("train/Z\xfcrich"));
  add("test/\x1b[31mred/1.png");
  EXPECT_EQ(refusal(), path("test") +
                           ": the class folder is \"\\x1b[31mred\", which has control "
                           "characters; rename it");
}

TEST_F(ImageFolderTest, HoldsOutATestSetBySeed) {
  for (int i = 0; i < 40; ++i)
    add("cat/" + std::to_string(i) + ".png", static_cast<Bytes::value_type>(i));
  for (int i = 0; i < 20; ++i)
    add("dog/" + std::to_string(i) + ".png", static_cast<Bytes::value_type>(100 + i));
  const Dataset dataset = read({.test_ratio = 0.25, .seed = 3});
  EXPECT_EQ(dataset.training.size(), 45);
  EXPECT_EQ(std::ranges::count(dataset.test.labels, 0), 10);
  EXPECT_EQ(std::ranges::count(dataset.test.labels, 1), 5);
  EXPECT_THAT(dataset.notes, Contains(StartsWith("test set: 15 of the 60 images held out, "
                                                 "stratified by class (data.test_ratio = 0.25)")));
  Bytes all = dataset.training.pixels;
  all.insert(all.end(), dataset.test.pixels.begin(), dataset.test.pixels.end());
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::count(all, 7), 4);  // nothing lost, nothing twice
  EXPECT_EQ(all.end() - std::unique(all.begin(), all.end()), 180);
  EXPECT_EQ(read({.test_ratio = 0.25, .seed = 3}).test.pixels, dataset.test.pixels);
  EXPECT_NE(read({.test_ratio = 0.25, .seed = 4}).test.pixels, dataset.test.pixels);
  EXPECT_EQ(read({.test_ratio = 0.5, .seed = 3}).test.size(), 30);
}

TEST_F(ImageFolderTest, RefusesATestShareOfNothing) {
  add("cat/1.png");
  add("dog/1.png");
  EXPECT_THAT(refusal({.test_ratio = 0.1}),
              HasSubstr("data.test_ratio = 0.1 of its 2 images is none: make folders"));
}

TEST_F(ImageFolderTest, GrayAndColourTogetherAreRgb) {
  add_usual();
  put(folder_, "test/dog/2.png", rgb_png(7, 8, 9));
  EXPECT_EQ(read().training.channels, 3);
}

TEST_F(ImageFolderTest, SkipsAndCountsWhatIsNoImage) {
  add_usual();
  put(folder_, "readme.txt", "x");
  put(folder_, "train/cat/Thumbs.db", "x");
  put(folder_, "test/.DS_Store", "x");
  const Dataset dataset = read();
  EXPECT_EQ(dataset.training.size(), 3);
  EXPECT_THAT(dataset.notes, ElementsAre("3 files that are no images were skipped: readme.txt, "
                                         "Thumbs.db, .DS_Store"));
}

TEST_F(ImageFolderTest, SaysWhatItLeavesOut) {
  add_usual();
  add("valid/cat/1.png");
  add("train/stray.png");
  add("train/cat/more/1.png");
  std::filesystem::remove_all(path("test/cat"));
  EXPECT_THAT(read().notes,
              ElementsAre(path("valid") + " is not used: beside train/ only test/ and val/ are",
                          "the test set has no image of class cat",
                          "images directly in " + path("train") +
                              " are in no class and not used: stray.png",
                          "folders in " + path("train/cat") + " are not used: more"));
}

TEST_F(ImageFolderTest, TheTrainingFoldersRuleTheClasses) {
  add_usual();
  add("test/horse/1.png");
  EXPECT_EQ(refusal(),
            path("test/horse") + ": the training folders have no class horse; theirs are cat, dog");
  std::filesystem::remove_all(path("test/horse"));
  add("val/Cat/1.png");
  EXPECT_THAT(refusal(), HasSubstr("no class Cat; theirs are cat, dog"));
}

TEST_F(ImageFolderTest, NamesAnUnreadableFile) {
  add_usual();
  put(folder_, "train/dog/0.png", "<html>");
  EXPECT_EQ(refusal(), path("train/dog/0.png") + " is a web page or XML, not a PNG or JPEG image");
  Bytes cut = gray_png(1);
  cut.resize(cut.size() - 15);
  put(folder_, "train/dog/0.png", cut);
  EXPECT_THAT(refusal(), AllOf(StartsWith(path("train/dog/0.png")), HasSubstr("truncated")));
}

TEST_F(ImageFolderTest, NamesTwoFilesOfDifferentSize) {
  add_usual();
  put(folder_, "test/dog/2.png", gray_png(1, 3, 4));
  EXPECT_THAT(refusal(), AllOf(HasSubstr(path("test/dog/2.png") + " has 4 x 3 pixels"),
                               HasSubstr(path("train/cat/1.png") + " has 2 x 2 pixels"),
                               HasSubstr("data.resize")));
  const Dataset dataset = read({.resize = 5});
  EXPECT_EQ(dataset.test.height, 5);
  EXPECT_EQ(dataset.test.pixels.size(), 75u);
}

TEST_F(ImageFolderTest, SaysWhatAWrongFolderLacks) {
  EXPECT_THAT(refusal(), AllOf(HasSubstr("holds no class folders"),
                               HasSubstr("data.path is a folder of class folders")));
  add("1.png");
  EXPECT_THAT(refusal(), HasSubstr("holds images, but no class folders"));
  add("test/cat/1.png");
  EXPECT_THAT(refusal(), HasSubstr("has no folder train beside test or val"));
  std::filesystem::create_directories(path("train/cat"));
  EXPECT_THAT(refusal(), HasSubstr("train/cat holds no PNG or JPEG file"));
  add("train/cat/images/1.png");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("train/cat should hold the images of class cat"),
                               HasSubstr("tiny-imagenet"), HasSubstr("partition.column")));
}

TEST_F(ImageFolderTest, SaysWhatToDoWithAnArchive) {
  const std::string zip = folder_.write("set.zip", std::string("PK\x03\x04 and so on"));
  EXPECT_THAT(
      message_of<DataError>([&] { read_from(zip); }),
      AllOf(StartsWith(zip + " is a zip archive, not a folder"), EndsWith("unpack it first")));
  EXPECT_THAT(message_of<OptionError>([] { read_from(""); }), HasSubstr("needs data.path"));
}

TEST_F(ImageFolderTest, TakesClientsFromTheFolders) {
  add("train/bob/cat/1.png", 1);
  add("train/bob/dog/1.png", 2);
  add("train/alice/dog/1.png", 3);
  add("test/cat/1.png", 4);
  const Dataset dataset = read({.owner_column = "folder"});
  EXPECT_THAT(dataset.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(dataset.training.owners, ElementsAre("alice", "bob", "bob"));
  EXPECT_THAT(dataset.training.labels, ElementsAre(1, 0, 1));
  EXPECT_EQ(dataset.training.pixels, (Bytes{3, 3, 3, 3, 1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_THAT(dataset.test.labels, ElementsAre(0));
  EXPECT_THAT(message_of<OptionError>([&] { read({.owner_column = "user"}); }),
              HasSubstr("partition.column = \"user\": an image folder has no columns"));
}

TEST_F(ImageFolderTest, IsResizedSaidAndKeptByARun) {
  for (int i = 0; i < 20; ++i) {
    for (const char* name : {"cat", "dog"}) {
      add(std::string(name) + "/" + std::to_string(i) + ".png", static_cast<Bytes::value_type>(i));
    }
  }
  DataOptions data;
  data.name = {"image-folder", {}};
  data.name.options.set("path", folder_.path().string());
  data.resize = 4;
  data.test_ratio = 0.5;
  PartitionOptions partition;
  partition.scheme = {"iid", {}};
  partition.clients = 2;
  partition.min_samples = 1;
  const TemporaryFolder cache;
  const auto loaded = load_federated_data(data, partition, {.source = "none"}, 1, std::nullopt,
                                          {.cache_folder = cache.path().string(), .progress = {}});
  EXPECT_EQ(loaded.dataset.training.size(), 20);
  EXPECT_EQ(loaded.dataset.training.height, 4);
  EXPECT_THAT(loaded.notes, Contains(StartsWith("test set: 20 of the 40 images held out")));
  EXPECT_FALSE(std::filesystem::is_empty(cache.path()));
}

TEST(RealImageFolder, Covid64) {
  const auto folder =
      std::filesystem::path(FEDVG_SOURCE_DIR).parent_path() / "shared/data/covid2_64";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  Table options;
  options.set("path", folder.string());
  const auto dataset = Registry<DatasetReader>::instance().make("image-folder", options)->read();
  EXPECT_THAT(dataset.classes, ElementsAre("COVID", "Normal"));
  EXPECT_EQ(dataset.training.size(), 2400);
  EXPECT_EQ(dataset.test.size(), 600);
  EXPECT_EQ(std::ranges::count(dataset.training.labels, 0), 622);
  EXPECT_EQ(std::ranges::count(dataset.test.labels, 0), 155);
  EXPECT_EQ(dataset.training.channels, 1);
  EXPECT_EQ(dataset.training.height, 64);
  EXPECT_EQ(dataset.training.width, 64);
  EXPECT_THAT(dataset.notes, IsEmpty());
}

}  // namespace
}  // namespace fedvg
