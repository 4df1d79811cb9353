#include "data/cifar.h"

#include <algorithm>
#include <string>
#include <vector>

#include "data/arrays_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::cifar_records;
using testing::message_of;
using testing::TemporaryFolder;
using testing::write_cifar10;
using Labels = std::vector<std::int64_t>;

constexpr auto ten = CifarLayout::cifar10;
constexpr auto hundred = CifarLayout::cifar100;

void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

std::string refusal(const std::string& path, CifarLayout layout = ten) {
  return message_of<DataError>([&] { read_cifar_files({path}, layout); });
}

Bytes pixels_of(std::size_t index) {
  Bytes pixels(3072);
  for (std::size_t p = 0; p < 3072; ++p) pixels[p] = static_cast<std::uint8_t>((index + p) % 251);
  return pixels;
}

TEST(Cifar, DecodesRecords) {
  Bytes pixels(2 * 3072);
  Labels labels(2);
  decode_cifar(cifar_records({{7}, {2}}), ten, CifarLabels::fine, "set", 0, pixels, labels);
  EXPECT_EQ(labels, (Labels{7, 2}));
  const Bytes second(pixels.begin() + 3072, pixels.end());
  EXPECT_EQ(second, pixels_of(1));

  const Bytes records = cifar_records({{3, 42}, {19, 99}});
  decode_cifar(records, hundred, CifarLabels::fine, "set", 0, pixels, labels);
  EXPECT_EQ(labels, (Labels{42, 99}));
  EXPECT_EQ(Bytes(pixels.begin(), pixels.begin() + 3072), pixels_of(0));
  decode_cifar(records, hundred, CifarLabels::coarse, "set", 0, pixels, labels);
  EXPECT_EQ(labels, (Labels{3, 19}));
}

TEST(Cifar, ReadsFilesOneBehindTheOther) {
  const TemporaryFolder folder;
  const auto first = folder.write("a.bin", cifar_records(std::vector<Bytes>(300, Bytes{4})));
  const auto second = folder.write("b.bin", cifar_records({{5}, {6}}));
  const Samples samples = read_cifar_files({first, second}, ten);
  EXPECT_EQ(samples.channels, 3);
  EXPECT_EQ(samples.height, 32);
  EXPECT_EQ(samples.width, 32);
  ASSERT_EQ(samples.size(), 302);
  EXPECT_EQ(std::count(samples.labels.begin(), samples.labels.end(), 4), 300);
  EXPECT_EQ(samples.labels[300], 5);
  EXPECT_EQ(samples.labels[301], 6);
  for (const std::size_t i : {0u, 255u, 256u, 299u}) {
    const auto image = samples.image(static_cast<std::int64_t>(i));
    EXPECT_EQ(Bytes(image.begin(), image.end()), pixels_of(i)) << i;
  }
  const auto image = samples.image(301);
  EXPECT_EQ(Bytes(image.begin(), image.end()), pixels_of(1));
}

TEST(Cifar, RefusesDamagedFiles) {
  const TemporaryFolder folder;
  expect_contains(refusal((folder.path() / "absent").string()), "does not exist");
  expect_contains(refusal(folder.path().string()), "not a regular file");
  expect_contains(refusal(folder.write("empty", Bytes{})), "is empty");
  Bytes records = cifar_records({{1}, {2}});
  records.pop_back();
  expect_contains(refusal(folder.write("short", records)),
                  "is truncated or not records of CIFAR-10 (3073 bytes each): its 6145 bytes are 1 "
                  "records and 3072 bytes");
  expect_contains(refusal(folder.write("label", cifar_records({{1}, {10}}))),
                  "label 10 at record 1 (counted from 0), but CIFAR-10 has 10 classes");
  const auto late = cifar_records([] {
    std::vector<Bytes> labels(400, Bytes{0});
    labels[301] = {10};
    return labels;
  }());
  expect_contains(refusal(folder.write("late", late)), "label 10 at record 301");
  expect_contains(refusal(folder.write("coarse", cifar_records({{20, 1}})), hundred),
                  "coarse label 20 at record 0");
  expect_contains(refusal(folder.write("fine", cifar_records({{19, 100}})), hundred),
                  "fine label 100 at record 0");
}

TEST(Cifar, SaysWhatAFileIsInstead) {
  const TemporaryFolder folder;
  expect_contains(refusal(folder.write("a.gz", testing::gzip({1, 2, 3}))),
                  "is gzip data, not records of CIFAR-10 (3073 bytes each): unpack it first");
  expect_contains(refusal(folder.write("b", cifar_records({{1, 2}}))),
                  "by its length those of CIFAR-100");
  expect_contains(refusal(folder.write("c", std::string("hello"))), "is text");
}

TEST(Cifar, TellsTheLayoutOfAFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(cifar_layout_of(folder.write("a", cifar_records({{1}, {9}}))), ten);
  EXPECT_EQ(cifar_layout_of(folder.write("b", cifar_records({{1, 99}, {19, 0}}))), hundred);
  EXPECT_EQ(cifar_layout_of(folder.write("c", cifar_records({{1}, {10}}))), std::nullopt);
  EXPECT_EQ(cifar_layout_of(folder.write("d", Bytes{})), std::nullopt);
  EXPECT_EQ(cifar_layout_of(folder.write("e", Bytes(3072))), std::nullopt);
}

TEST(Cifar, TakesTheNamesOfItsClassesFromTheFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(cifar_classes(folder.path(), ten)[9], "truck");
  EXPECT_EQ(cifar_classes(folder.path(), hundred)[99], "worm");
  EXPECT_EQ(cifar_classes(folder.path(), hundred, CifarLabels::coarse)[19], "vehicles_2");
  folder.write("batches.meta.txt", std::string("a\r\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n"));
  EXPECT_EQ(cifar_classes(folder.path(), ten),
            (std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}));
  folder.write("batches.meta.txt", std::string("a\nb\n"));
  expect_contains(message_of<DataError>([&] { cifar_classes(folder.path(), ten); }),
                  "batches.meta.txt holds 2 names, but CIFAR-10 has 10 classes");
}

TEST(Cifar, ReadsAFolder) {
  const TemporaryFolder folder;
  write_cifar10(folder);
  const Dataset dataset = read_cifar_folder(folder.path(), ten);
  EXPECT_EQ(dataset.training.labels, (Labels{0, 1, 1, 2, 2, 3, 3, 4, 4, 5}));
  EXPECT_EQ(dataset.test.labels, (Labels{3, 9, 0}));
  EXPECT_EQ(dataset.classes[1], "automobile");
  ASSERT_EQ(dataset.notes.size(), 2u);
  expect_contains(dataset.notes[0], "the training set has 10 images, the official one 50000");
  expect_contains(dataset.notes[1], "the test set has 3 images, the official one 10000");
}

TEST(Cifar, SaysWhatAFolderIsInstead) {
  const auto message = [](const std::filesystem::path& path, CifarLayout layout = ten) {
    return message_of<DataError>([&] { read_cifar_folder(path, layout); });
  };
  const TemporaryFolder folder;
  expect_contains(message(folder.path()), "has no data_batch_1.bin");
  expect_contains(message(folder.path() / "absent"), "does not exist");
  expect_contains(message(folder.write("cifar-10-binary.tar.gz", testing::gzip({1}))),
                  "unpack it first");
  expect_contains(message(folder.path()), "unpack the archive in it");
  folder.write("data_batch_1", Bytes{1});
  expect_contains(message(folder.path()), "get the binary version");
  folder.write("train.bin", Bytes{1});
  expect_contains(message(folder.path()), "these are the files of CIFAR-100");
  const TemporaryFolder above;
  std::filesystem::create_directory(above.path() / "cifar-10-batches-bin");
  expect_contains(message(above.path()), "data.path is the folder cifar-10-batches-bin in it");
  const TemporaryFolder part;
  write_cifar10(part);
  std::filesystem::remove(part.path() / "data_batch_3.bin");
  expect_contains(message(part.path()), "has no data_batch_3.bin");
  write_cifar10(part);
  std::filesystem::remove(part.path() / "test_batch.bin");
  expect_contains(message(part.path()), "has no test_batch.bin");
}

}  // namespace
}  // namespace fedvg
