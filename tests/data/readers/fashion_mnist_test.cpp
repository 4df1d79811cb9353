#include <algorithm>
#include <array>

#include "data/testing.h"
#include "fedvg/dataset.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using testing::message_of;
using testing::TemporaryFolder;
using testing::write_idx_set;

Dataset read_from(const std::string& path) {
  Table options;
  options.set("path", path);
  return Registry<DatasetReader>::instance().make("fashion-mnist", options)->read();
}

std::array<std::int64_t, 10> class_sizes(const Samples& samples) {
  std::array<std::int64_t, 10> sizes{};
  for (const std::int64_t label : samples.labels) ++sizes[static_cast<std::size_t>(label)];
  return sizes;
}

TEST(FashionMnist, ReadsAFolder) {
  const TemporaryFolder folder;
  write_idx_set(folder, {0, 9}, {3});
  const Dataset dataset = read_from(folder.path().string());
  EXPECT_EQ(dataset.name, "fashion-mnist");
  EXPECT_EQ(dataset.classes.size(), 10u);
  EXPECT_EQ(dataset.classes[9], "Ankle boot");
  EXPECT_EQ(dataset.training.labels, (std::vector<std::int64_t>{0, 9}));
}

TEST(FashionMnist, RefusesAnEleventhClass) {
  const TemporaryFolder folder;
  write_idx_set(folder, {0, 10}, {3});
  const auto message = message_of<DataError>([&] { read_from(folder.path().string()); });
  EXPECT_NE(message.find("label 10 at sample 1 (counted from 0), but there are 10 classes"),
            std::string::npos)
      << message;
}

TEST(FashionMnist, IsWhatDebianShips) {
  if (!testing::has_fashion_mnist()) GTEST_SKIP() << "apt-get install dataset-fashion-mnist";
  const Dataset dataset = read_from("");
  EXPECT_EQ(dataset.training.size(), 60'000);
  EXPECT_EQ(dataset.test.size(), 10'000);
  EXPECT_EQ(dataset.training.channels, 1);
  EXPECT_EQ(dataset.training.height, 28);
  EXPECT_EQ(dataset.training.width, 28);
  EXPECT_TRUE(std::ranges::all_of(class_sizes(dataset.training), [](auto n) { return n == 6000; }));
  EXPECT_TRUE(std::ranges::all_of(class_sizes(dataset.test), [](auto n) { return n == 1000; }));
  EXPECT_EQ(dataset.training.labels[0], 9);  // the first image is an ankle boot
}

}  // namespace
}  // namespace fedvg
