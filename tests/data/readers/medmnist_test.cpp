#include <numeric>
#include <utility>
#include <vector>

#include "data/arrays_testing.h"
#include "fedvg/dataset.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using testing::message_of;
using testing::npy_bytes;
using testing::shared_data;
using testing::TemporaryFolder;
using Counts = std::vector<int>;

Dataset read_from(const std::string& path) {
  Table options;
  options.set("path", path);
  return Registry<DatasetReader>::instance().make("medmnist", options)->read();
}

Counts counts(const Samples& samples, std::size_t classes) {
  Counts counts(classes);
  for (const std::int64_t label : samples.labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

TEST(MedMnistReader, RefusesALabelOutOfRange) {
  const TemporaryFolder folder;
  const auto path = write_zip(folder, "breastmnist.npz",
                              {{"train_images.npy", npy_bytes("(1, 1, 1)", {1})},
                               {"train_labels.npy", npy_bytes("(1, 1)", {1})},
                               {"test_images.npy", npy_bytes("(1, 1, 1)", {1})},
                               {"test_labels.npy", npy_bytes("(1, 1)", {2})}});
  const auto message = message_of<DataError>([&] { read_from(path); });
  EXPECT_NE(message.find("the test set has label 2 at sample 0"), std::string::npos) << message;
}

TEST(MedMnistReader, NeedsAPath) {
  EXPECT_NE(message_of<OptionError>([] { read_from(""); }).find("data.path"), std::string::npos);
}

TEST(MedMnistReader, ReadsARealColourSet) {
  const std::string path = shared_data("derma7_28.npz");
  if (path.empty()) GTEST_SKIP() << "FEDVG_SHARED has no data/derma7_28.npz";
  const Dataset dataset = read_from(path);
  EXPECT_EQ(dataset.name, "medmnist");
  EXPECT_EQ(dataset.training.channels, 3);
  EXPECT_EQ(dataset.training.height, 28);
  // numpy: train_images[17].sum(axis=(0, 1)), train_images[5235, 27, 0], val_images[3, 2, 1]
  const auto image = dataset.training.image(17);
  for (const auto& [plane, sum] : {std::pair(0, 174112), {1, 132418}, {2, 133546}}) {
    const auto first = image.begin() + plane * 784;
    EXPECT_EQ(std::accumulate(first, first + 784, 0), sum);
  }
  const auto pixel = [](const Samples& part, std::int64_t index, std::size_t at) {
    const auto all = part.image(index);
    return std::vector<int>{all[at], all[784 + at], all[2 * 784 + at]};
  };
  EXPECT_EQ(pixel(dataset.training, 5235, 27 * 28), (Counts{172, 122, 145}));
  EXPECT_EQ(pixel(*dataset.validation, 3, 2 * 28 + 1), (Counts{146, 134, 144}));
  EXPECT_EQ(counts(dataset.training, 7), (Counts{160, 231, 510, 52, 430, 3783, 70}));
  EXPECT_EQ(counts(*dataset.validation, 7), (Counts{23, 33, 73, 8, 61, 540, 10}));
  EXPECT_EQ(counts(dataset.test, 7), (Counts{43, 93, 217, 44, 171, 909, 35}));
}

TEST(MedMnistReader, ReadsARealGraySet) {
  const std::string path = shared_data("mednist6_28.npz");
  if (path.empty()) GTEST_SKIP() << "FEDVG_SHARED has no data/mednist6_28.npz";
  const Dataset dataset = read_from(path);
  EXPECT_EQ(dataset.training.channels, 1);
  EXPECT_EQ(counts(dataset.training, 6), (Counts{2310, 2142, 2392, 2393, 2393, 2370}));
  EXPECT_EQ(dataset.validation->size(), 2000);
  EXPECT_EQ(dataset.test.size(), 4000);
}

}  // namespace
}  // namespace fedvg
