#include "data/folder_content.h"

#include <gmock/gmock.h>

#include "data/images_testing.h"

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::message_of;
using testing::put;
using testing::TemporaryFolder;

TEST(FolderContent, SortsWhatItFinds) {
  const TemporaryFolder folder;
  for (const char* name : {"b.png", "a.JPG", "c.jpeg", "Thumbs.db", ".DS_Store", "notes.txt",
                           "b/x.png", "a/x.png", ".git/x.png", "__MACOSX/x.png"}) {
    put(folder, name, "x");
  }
  const FolderContent content = folder_content(folder.path());
  EXPECT_THAT(content.folders, ElementsAre("a", "b"));
  EXPECT_THAT(content.images, ElementsAre("a.JPG", "b.png", "c.jpeg"));
  EXPECT_THAT(content.skipped,
              ElementsAre(".DS_Store", ".git", "Thumbs.db", "__MACOSX", "notes.txt"));
  EXPECT_TRUE(content.has_folder("b"));
  EXPECT_FALSE(content.has_folder("c"));
}

TEST(FolderContent, RefusesImagesOfAnotherFormat) {
  const TemporaryFolder folder;
  put(folder, "a.BMP", "x");
  EXPECT_THAT(message_of<DataError>([&] { folder_content(folder.path()); }),
              EndsWith("a.BMP is an image, but only PNG and JPEG are read: convert it"));
}

TEST(FolderContent, NamesAFolderThatCannotBeRead) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of<DataError>([&] { folder_content(folder.path() / "none"); }),
              HasSubstr("none cannot be read: "));
}

TEST(RequireFolder, SaysWhatIsThereInstead) {
  const TemporaryFolder folder;
  EXPECT_NO_THROW(require_folder(folder.path(), "a folder"));
  EXPECT_THAT(message_of<DataError>([&] { require_folder(folder.path() / "none", "a folder"); }),
              EndsWith("none does not exist; data.path is a folder"));
  const std::string zip = folder.write("set.zip", std::string("PK\x03\x04 and so on"));
  EXPECT_EQ(message_of<DataError>([&] { require_folder(zip, "a folder"); }),
            zip + " is a zip archive, not a folder; data.path is a folder: unpack it first");
  const std::string tar = folder.write("set.tar.gz", testing::gzip({1, 2, 3}));
  EXPECT_EQ(message_of<DataError>([&] { require_folder(tar, "a folder"); }),
            tar + " is gzip data, not a folder; data.path is a folder: unpack it first");
  const std::string image = folder.write("a.png", testing::gray_png(1));
  EXPECT_EQ(message_of<DataError>([&] { require_folder(image, "a folder"); }),
            image + " is a PNG image, not a folder; data.path is a folder");
}

TEST(SkippedNote, CountsAndNamesThree) {
  EXPECT_EQ(skipped_note({}), "");
  EXPECT_EQ(skipped_note({"a"}), "1 file that is no image was skipped: a");
  EXPECT_EQ(skipped_note({"a", "b", "c", "d", "e"}),
            "5 files that are no images were skipped: a, b, c and 2 more");
}

}  // namespace
}  // namespace fedvg
