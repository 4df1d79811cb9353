#include "data/image_cache.h"

#include <chrono>
#include <fstream>

#include <gmock/gmock.h>

#include "data/file_bytes.h"
#include "data/images_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::gray_png;
using ::testing::HasSubstr;
using testing::put;
using testing::TemporaryFolder;
using Path = std::filesystem::path;

class Cache : public ::testing::Test {
 protected:
  Cache() {
    put(images_, "a.png", gray_png(1));
    put(images_, "b.png", gray_png(2));
    set_.folder = images_.path();
    set_.files = {{.name = "a.png", .label = 0}, {.name = "b.png", .label = 1}};
  }
  std::string folder() const { return (work_.path() / "cache").string(); }
  Dataset read(std::int64_t resize = 0) const {
    Dataset dataset;
    read_images(set_, {.resize = resize, .cache_folder = folder()}, dataset);
    return dataset;
  }
  bool kept(std::int64_t resize = 0) const {
    Dataset dataset;
    return ImageCache(folder(), set_, resize).read(set_, dataset);
  }
  std::vector<Path> files() const {
    std::vector<Path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      found.push_back(entry.path());
    }
    return found;
  }
  // Another content of the same length and time: only the cache does not see it.
  void change_unseen(const std::string& name, std::uint8_t value) const {
    const Path path = images_.path() / name;
    const auto time = std::filesystem::last_write_time(path);
    const auto size = std::filesystem::file_size(path);
    put(images_, name, gray_png(value));
    ASSERT_EQ(std::filesystem::file_size(path), size);
    std::filesystem::last_write_time(path, time);
  }

  TemporaryFolder images_, work_;
  ImageSet set_;
};

TEST_F(Cache, TakesWhatItKept) {
  EXPECT_FALSE(kept());
  const Dataset first = read();
  EXPECT_TRUE(kept());
  ASSERT_EQ(files().size(), 1u);
  EXPECT_THAT(files()[0].filename().string(), ::testing::MatchesRegex("images-.{16}\\.bin"));
  change_unseen("b.png", 9);  // proves that the files are not decoded again
  const Dataset second = read();
  EXPECT_EQ(second.training.pixels, (Bytes{1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(second.training.labels, first.training.labels);
  EXPECT_EQ(second.training.height, 2);
  EXPECT_TRUE(second.notes.empty());
}

TEST_F(Cache, PutsImagesWhereTheyBelongToday) {
  read();
  change_unseen("b.png", 9);
  set_.files[0].part = ImagePart::test;  // another held-out part
  const Dataset dataset = read();
  EXPECT_EQ(dataset.training.pixels, Bytes(4, 2));
  EXPECT_EQ(dataset.test.pixels, Bytes(4, 1));
}

TEST_F(Cache, AChangedFileIsDecodedAgain) {
  read();
  change_unseen("b.png", 9);
  const Path path = images_.path() / "b.png";
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) + std::chrono::nanoseconds(4000));
  EXPECT_FALSE(kept());
  EXPECT_EQ(read().training.pixels, (Bytes{1, 1, 1, 1, 9, 9, 9, 9}));
  EXPECT_TRUE(kept());
  EXPECT_EQ(files().size(), 1u);  // in place of the old one
}

TEST_F(Cache, AnotherListOrSizeOrColourIsDecodedAgain) {
  read();
  EXPECT_FALSE(kept(4));
  set_.rgb = true;
  EXPECT_FALSE(kept());
  set_.rgb = false;
  EXPECT_TRUE(kept());
  put(images_, "c.png", gray_png(3));
  set_.files.push_back({.name = "c.png", .label = 1});
  EXPECT_FALSE(kept());
  EXPECT_EQ(read().training.size(), 3);
  std::filesystem::rename(images_.path() / "c.png", images_.path() / "d.png");
  set_.files[2].name = "d.png";
  EXPECT_FALSE(kept());
}

TEST_F(Cache, DamageIsNoticedAndRepaired) {
  read();
  const Path path = files()[0];
  const Bytes whole = read_file_bytes(path);
  const auto write = [&](const Bytes& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes damaged = whole;
    damaged[at] ^= 1;
    write(damaged);
    EXPECT_FALSE(kept()) << at;
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{20}, std::size_t{56}, whole.size() - 1}) {
    write(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
    EXPECT_FALSE(kept()) << size;
  }
  Bytes longer = whole;
  longer.resize(whole.size() + 2);
  write(longer);
  EXPECT_FALSE(kept());
  EXPECT_EQ(read().training.pixels, (Bytes{1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(read_file_bytes(path), whole);
}

TEST_F(Cache, AFolderThatCannotBeMadeIsSaidAndNoReasonToStop) {
  work_.write("cache", std::string("a file"));
  const Dataset dataset = read();
  EXPECT_EQ(dataset.training.size(), 2);
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_THAT(dataset.notes[0], HasSubstr("decoded images are not kept: " + folder()));
}

TEST_F(Cache, WithoutAFolderNothingIsKept) {
  Dataset dataset;
  read_images(set_, {}, dataset);
  EXPECT_FALSE(std::filesystem::exists(folder()));
  EXPECT_FALSE(ImageCache("", set_, 0).read(set_, dataset));
}

}  // namespace
}  // namespace fedvg
