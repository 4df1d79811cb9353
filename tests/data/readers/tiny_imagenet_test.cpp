#include <gmock/gmock.h>

#include "data/images_testing.h"
#include "fedvg/dataset.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::jpeg_file;
using testing::message_of;
using testing::put;
using ::testing::StartsWith;
using testing::TemporaryFolder;

class TinyImageNetTest : public ::testing::Test {
 protected:
  TinyImageNetTest() {
    put(folder_, "wnids.txt", "n02\nn01\n");
    put(folder_, "words.txt", "n01\tgoldfish, Carassius auratus\nn02\ttoad\nn03\tmonk\n");
    put(folder_, "train/n01/images/n01_0.JPEG", colour());
    put(folder_, "train/n01/images/n01_1.JPEG", jpeg_file({.colour = {50}}));
    put(folder_, "train/n01/n01_boxes.txt", "n01_0.JPEG\t0\t0\t7\t7\n");
    put(folder_, "train/n02/images/n02_0.JPEG", colour());
    put(folder_, "val/images/val_0.JPEG", colour());
    put(folder_, "val/images/val_1.JPEG", colour());
    put(folder_, "val/val_annotations.txt",
        "val_0.JPEG\tn01\t0\t0\t7\t7\r\nval_1.JPEG\tn02\t0\t0\t7\t7\r\n");
    put(folder_, "test/images/test_0.JPEG", colour());
  }
  static Bytes colour() { return jpeg_file({.colour = {200, 30, 100}}); }
  Dataset read() const { return read_from(folder_.path()); }
  static Dataset read_from(const std::filesystem::path& path) {
    Table options;
    options.set("path", path.string());
    return Registry<DatasetReader>::instance().make("tiny-imagenet", options)->read();
  }
  std::string refusal() const {
    return message_of<DataError>([&] { read(); });
  }

  TemporaryFolder folder_;
};

TEST_F(TinyImageNetTest, ReadsTheOfficialLayout) {
  const Dataset dataset = read();
  EXPECT_EQ(dataset.name, "tiny-imagenet");
  EXPECT_THAT(dataset.classes, ElementsAre("toad", "goldfish"));  // in the order of wnids.txt
  EXPECT_THAT(dataset.training.labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(dataset.test.labels, ElementsAre(1, 0));
  EXPECT_EQ(dataset.training.channels, 3);
  const auto gray = dataset.training.image(2);
  EXPECT_EQ(Bytes(gray.begin(), gray.end()), Bytes(192, 50));
  EXPECT_THAT(dataset.notes, ElementsAre(StartsWith("test set: the images of val/")));
}

TEST_F(TinyImageNetTest, GrayAloneBecomesRgbToo) {
  for (const char* name : {"train/n01/images/n01_0.JPEG", "train/n02/images/n02_0.JPEG",
                           "val/images/val_0.JPEG", "val/images/val_1.JPEG"}) {
    put(folder_, name, jpeg_file({.colour = {50}}));
  }
  EXPECT_EQ(read().training.channels, 3);
}

TEST_F(TinyImageNetTest, ClassesThatShareAWordKeepTheirNumbers) {
  put(folder_, "words.txt", "n01\tcrane\nn02\tcrane, big bird\n");
  EXPECT_THAT(read().classes, ElementsAre("crane (n02)", "crane (n01)"));
  put(folder_, "words.txt", "n01\tcrane\n");
  EXPECT_THAT(read().classes, ElementsAre("n02", "crane"));
}

TEST_F(TinyImageNetTest, SaysWhatIsMissing) {
  const auto gone = [&](const std::string& name, const std::string& words) {
    std::filesystem::rename(folder_.path() / name, folder_.path() / "away");
    EXPECT_THAT(refusal(), HasSubstr(words)) << name;
    std::filesystem::rename(folder_.path() / "away", folder_.path() / name);
  };
  gone("wnids.txt", "wnids.txt does not exist; data.path is the folder tiny-imagenet-200");
  gone("words.txt", "words.txt does not exist; data.path is");
  gone("train", "train does not exist or is no folder; data.path is");
  gone("train/n02", "train/n02/images does not exist or is no folder");
  gone("val/val_annotations.txt", "val_annotations.txt does not exist; data.path is");
  gone("val/images/val_0.JPEG", "val_0.JPEG does not exist");
  EXPECT_NO_THROW(read());
  const auto zip = folder_.write("tiny-imagenet-200.zip", std::string("PK\x03\x04 and so on"));
  EXPECT_THAT(message_of<DataError>([&] { read_from(zip); }),
              AllOf(HasSubstr("is a zip archive, not a folder"), HasSubstr("wnids.txt")));
  EXPECT_THAT(message_of<OptionError>([] { read_from(""); }), HasSubstr("needs data.path"));
}

TEST_F(TinyImageNetTest, NamesTheLineThatDoesNotFit) {
  put(folder_, "val/val_annotations.txt", "val_0.JPEG\tn01\nval_1.JPEG\tn77\n");
  EXPECT_THAT(refusal(), HasSubstr("val_annotations.txt:2: wnids.txt has no class n77"));
  put(folder_, "val/val_annotations.txt", "val_0.JPEG n01\n");
  EXPECT_THAT(refusal(), HasSubstr("val_annotations.txt:1: no class behind the file's name"));
  put(folder_, "val/val_annotations.txt", "val_0.JPEG\tn01\nval_0.JPEG\tn02\n");
  EXPECT_THAT(refusal(), HasSubstr("val_annotations.txt:2: val_0.JPEG is listed twice"));
  put(folder_, "val/val_annotations.txt", "val_0.JPEG\tn01\n");
  EXPECT_THAT(read().notes, Contains(HasSubstr("does not list are not used: val_1.JPEG")));
}

// A training image under the name of a test image, say.
TEST_F(TinyImageNetTest, TakesNothingFromElsewhere) {
  put(folder_, "val/val_annotations.txt",
      "val_0.JPEG\tn01\n../../train/n01/images/n01_0.JPEG\tn01\n");
  EXPECT_THAT(refusal(), HasSubstr("val_annotations.txt:2: ../../train/n01/images/n01_0.JPEG is a "
                                   "path; a name in the folder is wanted"));
  put(folder_, "wnids.txt", "n01\n../train/n02\n");
  EXPECT_THAT(refusal(), HasSubstr("wnids.txt: ../train/n02 is a path"));
  put(folder_, "wnids.txt", "n01\n..\n");
  EXPECT_THAT(refusal(), HasSubstr("wnids.txt: .. is a path"));
}

TEST_F(TinyImageNetTest, WnidsRuleTheClasses) {
  put(folder_, "wnids.txt", "n02\n");
  put(folder_, "val/val_annotations.txt", "val_1.JPEG\tn02\n");
  EXPECT_THAT(refusal(), HasSubstr("train/n01: wnids.txt has no class n01"));
  put(folder_, "wnids.txt", "n02\nn01\nn02\n");
  EXPECT_THAT(refusal(), HasSubstr("wnids.txt lists n02 twice"));
  put(folder_, "wnids.txt", "");
  EXPECT_THAT(refusal(), HasSubstr("wnids.txt is empty"));
}

}  // namespace
}  // namespace fedvg
