#include "data/idx_folder.h"

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::counting;
using testing::gzip;
using testing::idx_file;
using testing::message_of;
using testing::TemporaryFolder;
using testing::write_idx_set;

std::string refusal(const TemporaryFolder& folder) {
  return message_of<DataError>([&] { read_idx_folder(folder.path()); });
}

TEST(IdxFolder, ReadsBothParts) {
  const TemporaryFolder folder;
  write_idx_set(folder, {0, 1, 1}, {1, 0});
  const Dataset dataset = read_idx_folder(folder.path());
  EXPECT_EQ(dataset.training.labels, (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(dataset.training.pixels, (Bytes{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(dataset.test.labels, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(dataset.test.pixels, (Bytes{255, 255, 255, 255, 254, 254, 254, 254}));
  EXPECT_EQ(dataset.source, folder.path().string());
}

TEST(IdxFolder, FindsOtherNamesByTheirEnd) {
  const TemporaryFolder folder;
  folder.write("emnist-digits-train-images-idx3-ubyte.gz", gzip(idx_file({1, 1, 1}, {5})));
  folder.write("emnist-digits-train-labels-idx1-ubyte.gz", gzip(idx_file({1}, {0})));
  folder.write("emnist-digits-test-images-idx3-ubyte", idx_file({1, 1, 1}, {6}));
  folder.write("test-labels.idx1-ubyte", idx_file({1}, {0}));
  folder.write("retrain-images-idx3-ubyte", Bytes{1});  // not at the start of a word
  folder.write("readme.txt", std::string("about"));
  EXPECT_EQ(read_idx_folder(folder.path()).training.pixels, (Bytes{5}));
}

TEST(IdxFolder, SaysWhatItLookedFor) {
  const TemporaryFolder folder;
  write_idx_set(folder, {0}, {0});
  std::filesystem::remove(folder.path() / "t10k-images-idx3-ubyte");
  const auto message = refusal(folder);
  EXPECT_EQ(message, folder.path().string() +
                         " has no t10k-images-idx3-ubyte, test-images-idx3-ubyte (looked for "
                         "files whose names end so, with or without .gz)");
}

TEST(IdxFolder, RefusesTwoFilesThatFit) {
  const TemporaryFolder folder;
  write_idx_set(folder, {0}, {0});
  folder.write("train-images-idx3-ubyte.gz", gzip(idx_file({1, 2, 2}, counting(4))));
  const auto message = refusal(folder);
  EXPECT_NE(message.find("several files that fit train-images-idx3-ubyte: "
                         "train-images-idx3-ubyte, train-images-idx3-ubyte.gz"),
            std::string::npos)
      << message;
}

TEST(IdxFolder, RefusesWhatIsNoFolder) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_idx_folder(folder.path() / "absent"), DataError);
  EXPECT_THROW(read_idx_folder(folder.write("file", std::string())), DataError);
}

TEST(IdxFolder, NamesTheDamagedFile) {
  const TemporaryFolder folder;
  write_idx_set(folder, {0, 1}, {0});
  folder.write("train-labels-idx1-ubyte", idx_file({2}, {0}));
  const auto message = refusal(folder);
  EXPECT_TRUE(message.starts_with((folder.path() / "train-labels-idx1-ubyte").string())) << message;
}

TEST(IdxFolder, RefusesAnotherNumberOfLabels) {
  const TemporaryFolder folder;
  write_idx_set(folder, {0, 1}, {0});
  folder.write("train-labels-idx1-ubyte", idx_file({3}, {0, 1, 0}));
  EXPECT_NE(refusal(folder).find("has 2 images"), std::string::npos);
}

}  // namespace
}  // namespace fedvg
