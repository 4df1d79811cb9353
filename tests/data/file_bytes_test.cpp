#include "data/file_bytes.h"

#include <string>
#include <string_view>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::message_of;

std::string described(std::string_view content) {
  return describe_content(Bytes(content.begin(), content.end()));
}

TEST(FileBytes, ReadsAWholeFile) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(read_file_bytes(folder.write("a", Bytes{1, 0, 255})), (Bytes{1, 0, 255}));
  EXPECT_TRUE(read_file_bytes(folder.write("b", Bytes{})).empty());
}

TEST(FileBytes, RefusesWhatIsNoFile) {
  const testing::TemporaryFolder folder;
  const auto missing = (folder.path() / "absent").string();
  EXPECT_EQ(message_of<DataError>([&] { read_file_bytes(missing); }), missing + " does not exist");
  EXPECT_EQ(message_of<DataError>([&] { read_file_bytes(folder.path()); }),
            folder.path().string() + " is not a regular file");
  EXPECT_THROW(read_file_bytes("/dev/zero"), DataError);
}

TEST(FileBytes, DescribesWhatPeopleGiveByMistake) {
  EXPECT_EQ(described("PK\x03\x04..."), "a zip archive");
  EXPECT_EQ(described("\x1f\x8b..."), "gzip data");
  EXPECT_EQ(described(std::string(257, 'a') + "ustar"), "a tar archive");
  EXPECT_EQ(described("GIF89a..."), "a GIF image");
  EXPECT_EQ(described("RIFF....WEBPVP8 ..."), "a WebP image");
  EXPECT_EQ(described({"II*\0...", 7}), "a TIFF image");
  EXPECT_EQ(described({"MM\0*...", 7}), "a TIFF image");
  EXPECT_EQ(described("\n <!DOCTYPE html>"), "a web page or XML");
  EXPECT_EQ(described("5,0,0,0\n"), "text");
  EXPECT_EQ(described("version https://git-lfs.github.com/spec/v1"),
            "a Git LFS pointer (run git lfs pull)");
  EXPECT_EQ(described("\x01\x02\xab"), "unknown data starting with 01 02 ab");
  EXPECT_EQ(described(""), "empty");
}

TEST(FileBytes, DescribesAFileByItsStart) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(describe_file(folder.write("set.npz", std::string("PK\x03\x04..."))), "a zip archive");
  EXPECT_EQ(describe_file(folder.path() / "absent"), "empty");
  EXPECT_EQ(file_bytes(folder.write("four", std::string("1234"))), 4u);
  EXPECT_EQ(message_of<DataError>([&] { file_bytes(folder.path()); }),
            folder.path().string() + " is not a regular file");
}

}  // namespace
}  // namespace fedvg
