#include "data/foreign_set.h"

#include <filesystem>
#include <string>
#include <vector>

#include "data/arrays_testing.h"
#include "data/images_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::cifar_records;
using testing::counting;
using testing::message_of;
using testing::npy_bytes;
using testing::shared_data;
using testing::TemporaryFolder;
using testing::write_zip;
using Labels = std::vector<std::int64_t>;

void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(ForeignSet, ReadsASingleFileOfCifarRecords) {
  const TemporaryFolder folder;
  const ForeignSet hundred =
      read_foreign_set(folder.write("a.bin", cifar_records({{3, 42}, {19, 99}})), "auto");
  EXPECT_EQ(hundred.format, "cifar100");
  EXPECT_EQ(hundred.samples.labels, (Labels{42, 99}));
  EXPECT_EQ(hundred.classes[42], "leopard");
  const auto ten = folder.write("b.bin", cifar_records({{7}}));
  EXPECT_EQ(read_foreign_set(ten, "auto").format, "cifar10");
  EXPECT_EQ(read_foreign_set(ten, "cifar10").samples.labels, (Labels{7}));
  expect_contains(message_of<DataError>([&] { read_foreign_set(ten, "cifar100"); }),
                  "by its length those of CIFAR-10");
}

TEST(ForeignSet, TakesTheNamesBesideASingleFile) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.bin", cifar_records({{7}}));
  folder.write("batches.meta.txt", std::string("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"));
  EXPECT_EQ(read_foreign_set(path, "auto").classes[7], "h");
}

// As cifar-100-external is, with the mapping beside the records.
TEST(ForeignSet, TakesAFolderOfASingleFileForTheFile) {
  const TemporaryFolder folder;
  folder.write("external.bin", cifar_records({{3, 42}, {19, 99}}));
  folder.write("mapping.csv", std::string("own,foreign\ncat,leopard\n"));
  std::string names;
  for (int i = 0; i < 100; ++i) names += "name" + std::to_string(i) + "\n";
  folder.write("fine_label_names.txt", names);
  for (const char* format : {"auto", "cifar100"}) {
    const ForeignSet set = read_foreign_set(folder.path().string(), format);
    EXPECT_EQ(set.format, "cifar100");
    EXPECT_EQ(set.samples.labels, (Labels{42, 99}));
    EXPECT_EQ(set.classes[42], "name42");
  }
  expect_contains(
      message_of<DataError>([&] { read_foreign_set(folder.path().string(), "cifar10"); }),
      "external.bin does not hold records of CIFAR-10");
  folder.write("more.bin", cifar_records({{3, 42}}));
  expect_contains(message_of<DataError>([&] { read_foreign_set(folder.path().string(), "auto"); }),
                  "no data set is recognised");
}

TEST(ForeignSet, TakesNoStrayFileForTheSet) {
  const TemporaryFolder images;
  for (const std::string name : {"ape/1.png", "ape/2.png", "cat/1.png", "cat/2.png"}) {
    testing::put(images, name, testing::gray_png(7));
  }
  images.write("notes.bin", Bytes{1, 2, 3});
  EXPECT_EQ(read_foreign_set(images.path().string(), "auto").format, "image-folder");
}

TEST(ForeignSet, PutsThePartsOfASetTogether) {
  const TemporaryFolder folder;
  testing::write_cifar10(folder);
  const ForeignSet set = read_foreign_set(folder.path().string(), "auto");
  EXPECT_EQ(set.format, "cifar10");
  EXPECT_EQ(set.samples.labels, (Labels{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 3, 9, 0}));
  EXPECT_EQ(set.samples.pixels.size(), 13u * 3072);

  const auto npz = write_zip(folder, "m.npz",
                             {{"train_images.npy", npy_bytes("(1, 1, 2)", {1, 2})},
                              {"train_labels.npy", npy_bytes("(1,)", {2})},
                              {"val_images.npy", npy_bytes("(1, 1, 2)", {3, 4})},
                              {"val_labels.npy", npy_bytes("(1,)", {1})},
                              {"test_images.npy", npy_bytes("(1, 1, 2)", {5, 6})},
                              {"test_labels.npy", npy_bytes("(1,)", {0})}});
  const ForeignSet med = read_foreign_set(npz, "auto");
  EXPECT_EQ(med.format, "medmnist");
  EXPECT_EQ(med.samples.pixels, (Bytes{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(med.samples.labels, (Labels{2, 1, 0}));
}

TEST(ForeignSet, KnowsOtherFormatsByTheirContent) {
  const TemporaryFolder folder;
  const auto npz = write_zip(
      folder, "a.npz",
      {{"x.npy", npy_bytes("(4, 1)", counting(4))}, {"y.npy", npy_bytes("(4,)", {0, 1, 0, 1})}});
  EXPECT_EQ(read_foreign_set(npz, "auto").format, "npz");
  EXPECT_EQ(read_foreign_set(npz, "auto").samples.size(), 4);
  const auto csv = folder.write("a.csv", std::string("label,x\n0,1\n0,2\n1,3\n1,4\n"));
  EXPECT_EQ(read_foreign_set(csv, "auto").format, "csv");
  EXPECT_EQ(read_foreign_set(csv, "auto").samples.size(), 4);

  const TemporaryFolder idx;
  testing::write_idx_set(idx, {0, 1}, {1});
  EXPECT_EQ(read_foreign_set(idx.path().string(), "auto").format, "idx");
  EXPECT_EQ(read_foreign_set(idx.path().string(), "auto").samples.labels, (Labels{0, 1, 1}));

  const TemporaryFolder images;
  for (const std::string name : {"train/ape/1.png", "train/cat/1.png", "test/cat/2.png"}) {
    testing::put(images, name, testing::gray_png(7));
  }
  const ForeignSet set = read_foreign_set(images.path().string(), "auto");
  EXPECT_EQ(set.format, "image-folder");
  EXPECT_EQ(set.classes, (std::vector<std::string>{"ape", "cat"}));
  EXPECT_EQ(set.samples.labels, (Labels{0, 1, 1}));
}

// Two samples of each class, half of which come last: they are put together again.
TEST(ForeignSet, TakesTheColumnsOfACsvFileAsTold) {
  const TemporaryFolder folder;
  const std::string rows = "site,c,x\nB,no,1\nB,no,1\nA,yes,2\nA,yes,2\n";
  const auto path = folder.write("a.csv", rows);
  const ForeignColumns columns{.label = "c", .left_out = {"id", "site", "c"}};
  for (const char* format : {"auto", "csv"}) {
    const ForeignSet set = read_foreign_set(path, format, columns);
    EXPECT_EQ(set.classes, (std::vector<std::string>{"no", "yes"}));
    EXPECT_EQ(set.samples.channels, 1);
    ASSERT_EQ(set.samples.size(), 4);
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto label = set.samples.labels[static_cast<std::size_t>(i)];
      const auto value = set.samples.image(i);
      EXPECT_EQ(Bytes(value.begin(), value.end()),
                bytes_of<float>({static_cast<float>(label + 1)}));
    }
  }
  expect_contains(message_of<OptionError>([&] { read_foreign_set(path, "auto"); }),
                  "data.label: " + path + " has no column \"label\"");
}

TEST(ForeignSet, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  const auto message = [](const std::string& path) {
    return message_of<DataError>([&] { read_foreign_set(path, "auto"); });
  };
  expect_contains(message((folder.path() / "absent").string()), "does not exist");
  expect_contains(message(folder.path().string()), "no data set is recognised");
  expect_contains(message(folder.write("a.gz", testing::gzip({1}))), "unpack it first");
  expect_contains(message(folder.write("b", Bytes{1, 2, 3})), "is unknown data");
  expect_contains(message(folder.write("c", Bytes{})), "is empty");
  const auto unknown = message_of<OptionError>([&] { read_foreign_set("x", "cifar"); });
  expect_contains(unknown, "validation.format: unknown format 'cifar'");
  expect_contains(unknown, "known: auto, cifar10, cifar100");
}

TEST(ForeignSet, ReadsTheRealExternalSet) {
  const std::string path = shared_data("cifar-100-external/external.bin");
  if (path.empty()) GTEST_SKIP() << "FEDVG_SHARED has no data/cifar-100-external";
  const ForeignSet set = read_foreign_set(path, "auto");
  EXPECT_EQ(set.format, "cifar100");
  ASSERT_EQ(set.samples.size(), 700);
  const auto folder = std::filesystem::path(path).parent_path().string();
  EXPECT_EQ(read_foreign_set(folder, "auto").samples.labels, set.samples.labels);
  std::vector<std::int64_t> counts(100);
  for (const std::int64_t label : set.samples.labels) ++counts[static_cast<std::size_t>(label)];
  for (std::size_t i = 0; i < 100; ++i) {
    const auto& name = set.classes[i];
    const bool present = name == "bus" || name == "motorcycle" || name == "leopard" ||
                         name == "lion" || name == "tiger" || name == "wolf" || name == "fox";
    EXPECT_EQ(counts[i], present ? 100 : 0) << name;
  }
}

}  // namespace
}  // namespace fedvg
