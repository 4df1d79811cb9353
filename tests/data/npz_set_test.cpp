#include "data/npz_set.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "data/arrays_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::counting;
using testing::message_of;
using testing::NamedBytes;
using testing::npy_bytes;
using testing::npy_file;
using testing::TemporaryFolder;
using testing::write_zip;
using Labels = std::vector<std::int64_t>;

const NamedBytes medmnist_arrays = {{"train_images.npy", npy_bytes("(3, 1, 2)", counting(6))},
                                    {"train_labels.npy", npy_bytes("(3, 1)", {0, 2, 1})},
                                    {"val_images.npy", npy_bytes("(1, 1, 2)", {8, 9})},
                                    {"val_labels.npy", npy_bytes("(1, 1)", {1})},
                                    {"test_images.npy", npy_bytes("(2, 1, 2)", {5, 6, 7, 8})},
                                    {"test_labels.npy", npy_bytes("(2, 1)", {2, 0})}};

const Bytes four_rows = npy_file("<f4", "(4, 2)", bytes_of<float>({0, 1, 2, 3, 4, 5, 6, 7}));

void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

NamedBytes without(const std::string& key) {
  NamedBytes arrays = medmnist_arrays;
  std::erase_if(arrays, [&](const auto& entry) { return entry.first == key + ".npy"; });
  return arrays;
}

NamedBytes with(const std::string& key, const Bytes& content) {
  NamedBytes arrays = without(key);
  arrays.emplace_back(key + ".npy", content);
  return arrays;
}

std::string medmnist_refusal(const NamedBytes& arrays) {
  const TemporaryFolder folder;
  const auto path = write_zip(folder, "set.npz", arrays);
  return message_of<DataError>([&] { read_medmnist(path); });
}

Dataset npz_set(const NamedBytes& arrays, const ReadRequest& request = {}) {
  const TemporaryFolder folder;
  return read_npz_set(write_zip(folder, "set.npz", arrays), request);
}

TEST(MedMnist, ReadsItsThreeParts) {
  const TemporaryFolder folder;
  const Dataset dataset = read_medmnist(write_zip(folder, "set.npz", medmnist_arrays));
  EXPECT_EQ(dataset.training.pixels, counting(6));
  EXPECT_EQ(dataset.training.labels, (Labels{0, 2, 1}));
  EXPECT_EQ(dataset.test.pixels, (Bytes{5, 6, 7, 8}));
  EXPECT_EQ(dataset.test.labels, (Labels{2, 0}));
  ASSERT_TRUE(dataset.validation);
  EXPECT_EQ(dataset.validation->pixels, (Bytes{8, 9}));
  EXPECT_EQ(dataset.validation->labels, (Labels{1}));
  EXPECT_EQ(dataset.classes, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_TRUE(dataset.notes.empty());
}

TEST(MedMnist, DoesWithoutAValidationPart) {
  auto arrays = without("val_images");
  std::erase_if(arrays, [](const auto& entry) { return entry.first == "val_labels.npy"; });
  arrays.emplace_back("meta.npy", npy_bytes("(1,)", {0}));
  const TemporaryFolder folder;
  const Dataset dataset = read_medmnist(write_zip(folder, "set.npz", arrays));
  EXPECT_FALSE(dataset.validation);
  ASSERT_EQ(dataset.notes.size(), 1u);
  expect_contains(dataset.notes[0], "not used: meta");
}

TEST(MedMnist, KnowsTheClassesOfItsSetsByTheirFileNames) {
  const TemporaryFolder folder;
  for (const std::string name : {"octmnist.npz", "octmnist_64.npz", "octmnist_224.npz"}) {
    EXPECT_EQ(read_medmnist(write_zip(folder, name, medmnist_arrays)).classes,
              (std::vector<std::string>{"choroidal neovascularization", "diabetic macular edema",
                                        "drusen", "normal"}));
  }
  const std::map<std::string, std::size_t> classes = {
      {"pathmnist", 9},    {"dermamnist", 7},   {"octmnist", 4},    {"pneumoniamnist", 2},
      {"retinamnist", 5},  {"breastmnist", 2},  {"bloodmnist", 8},  {"tissuemnist", 8},
      {"organamnist", 11}, {"organcmnist", 11}, {"organsmnist", 11}};
  for (const auto& [name, number] : classes) {
    EXPECT_EQ(read_medmnist(write_zip(folder, name + "_128.npz", medmnist_arrays)).classes.size(),
              number)
        << name;
  }
}

TEST(MedMnist, RefusesWhatIsNotItsLayout) {
  expect_contains(medmnist_refusal(without("test_labels")), "has no array test_labels");
  expect_contains(medmnist_refusal(without("val_labels")), "has no array val_labels");
  expect_contains(medmnist_refusal({{"x.npy", four_rows}}), "set data.name = \"npz\"");
  expect_contains(medmnist_refusal(with("train_labels", npy_bytes("(3, 2)", counting(6)))),
                  "multi-label");
  expect_contains(medmnist_refusal(with("train_labels", npy_bytes("(2, 1)", {0, 1}))),
                  "train_images has 3 samples, but");
  expect_contains(medmnist_refusal(with("test_images", npy_bytes("(2, 2, 2, 2)", counting(16)))),
                  "3D sets are not read");
  expect_contains(
      medmnist_refusal(with("val_images", npy_file("<f4", "(1, 1, 2)", bytes_of<float>({0, 1})))),
      "val_images holds images of float32");
}

TEST(NpzSet, ReadsDividedFeatures) {
  const Dataset dataset = npz_set({{"x_train.npy", four_rows},
                                   {"y_train.npy", npy_bytes("(4,)", {0, 1, 1, 0})},
                                   {"x_test.npy", npy_bytes("(1, 2)", {9, 8})},
                                   {"y_test.npy", npy_bytes("(1,)", {1})},
                                   {"x_val.npy", npy_bytes("(1, 2)", {5, 4})},
                                   {"y_val.npy", npy_bytes("(1,)", {0})}});
  EXPECT_TRUE(dataset.training.is_features);
  EXPECT_EQ(dataset.training.pixels, bytes_of<float>({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(dataset.test.pixels, bytes_of<float>({9, 8}));
  EXPECT_EQ(dataset.test.labels, (Labels{1}));
  ASSERT_TRUE(dataset.validation);
  EXPECT_EQ(dataset.validation->pixels, bytes_of<float>({5, 4}));
  EXPECT_EQ(dataset.classes, (std::vector<std::string>{"0", "1"}));
}

TEST(NpzSet, ReadsImages) {
  const Dataset dataset = npz_set({{"x_train.npy", npy_bytes("(1, 1, 2, 3)", counting(6))},
                                   {"y_train.npy", npy_bytes("(1,)", {0})},
                                   {"x_test.npy", npy_bytes("(1, 1, 2, 3)", counting(6))},
                                   {"y_test.npy", npy_bytes("(1,)", {0})}});
  EXPECT_FALSE(dataset.training.is_features);
  EXPECT_EQ(dataset.training.channels, 3);
  EXPECT_EQ(dataset.training.pixels, (Bytes{0, 3, 1, 4, 2, 5}));
}

// Of 4 samples half are held out, one of each class; all are there once.
TEST(NpzSet, HoldsATestSetOut) {
  const Dataset dataset = npz_set(
      {{"x.npy", four_rows}, {"y.npy", npy_bytes("(4,)", {0, 1, 1, 0})}}, {.test_ratio = 0.5});
  EXPECT_EQ(dataset.training.size(), 2);
  Labels tested = dataset.test.labels;
  std::ranges::sort(tested);
  EXPECT_EQ(tested, (Labels{0, 1}));
  Bytes all = dataset.training.pixels;
  all.insert(all.end(), dataset.test.pixels.begin(), dataset.test.pixels.end());
  Bytes whole = bytes_of<float>({0, 1, 2, 3, 4, 5, 6, 7});
  std::ranges::sort(all);
  std::ranges::sort(whole);
  EXPECT_EQ(all, whole);
  ASSERT_EQ(dataset.notes.size(), 1u);
  expect_contains(dataset.notes[0], "2 of the 4 samples held out");
}

TEST(NpzSet, TakesOwnersFromAnArray) {
  NamedBytes arrays = {{"x_train.npy", four_rows},
                       {"y_train.npy", npy_bytes("(4,)", {0, 1, 1, 0})},
                       {"x_test.npy", npy_bytes("(1, 2)", {9, 8})},
                       {"y_test.npy", npy_bytes("(1,)", {1})},
                       {"site.npy", npy_file("|S2", "(4,)", {'a', 0, 'b', 'c', 'a', 0, 'd', 0})},
                       {"short.npy", npy_bytes("(3,)", {0, 1, 2})}};
  EXPECT_EQ(npz_set(arrays, {.owner_column = "site"}).training.owners,
            (std::vector<std::string>{"a", "bc", "a", "d"}));
  EXPECT_TRUE(npz_set(arrays).training.owners.empty());
  expect_contains(message_of<DataError>([&] { npz_set(arrays, {.owner_column = "short"}); }),
                  "there are 4 training samples, one owner each");
  expect_contains(message_of<OptionError>([&] { npz_set(arrays, {.owner_column = "who"}); }),
                  "partition.column = \"who\"");
}

TEST(NpzSet, KeepsOwnersWithTheirSamplesWhenATestSetIsHeldOut) {
  const Dataset dataset = npz_set({{"x.npy", npy_bytes("(4, 1)", {10, 11, 12, 13})},
                                   {"y.npy", npy_bytes("(4,)", {0, 0, 0, 0})},
                                   {"who.npy", npy_bytes("(4,)", {0, 1, 2, 3})}},
                                  {.owner_column = "who", .test_ratio = 0.25});
  ASSERT_EQ(dataset.training.owners.size(), 3u);
  ASSERT_EQ(dataset.test.owners.size(), 1u);
  for (const Samples* part : {&dataset.training, &dataset.test}) {
    std::vector<float> values;
    for (const std::string& owner : part->owners) values.push_back(10 + std::stof(owner));
    EXPECT_EQ(part->pixels, bytes_of(values));
  }
}

TEST(NpzSet, RefusesWhatIsNotItsLayout) {
  const auto refusal = [](const NamedBytes& arrays) {
    return message_of<DataError>([&] { npz_set(arrays); });
  };
  const std::pair<std::string, Bytes> x = {"x.npy", four_rows};
  const std::pair<std::string, Bytes> y = {"y.npy", npy_bytes("(4,)", {0, 1, 1, 0})};
  const std::pair<std::string, Bytes> x_train = {"x_train.npy", four_rows};
  const std::pair<std::string, Bytes> y_train = {"y_train.npy", y.second};
  expect_contains(refusal({x}), "has the array x, but no y");
  expect_contains(refusal({x_train, y_train}), "no x_test and y_test");
  expect_contains(refusal({x_train,
                           y_train,
                           {"x_test.npy", npy_bytes("(4, 3)", counting(12))},
                           {"y_test.npy", y.second}}),
                  "x_train and x_test differ");
  expect_contains(refusal({{"a.npy", four_rows}}), "it has a");
  expect_contains(refusal(medmnist_arrays), "set data.name = \"medmnist\"");
  expect_contains(refusal({{"x.npy", npy_bytes("(4,)", counting(4))}, y}), "has the shape [4]");
  expect_contains(refusal({{"x.npy", npy_bytes("(3, 2)", counting(6))}, y}),
                  "x has 3 samples, but");
}

TEST(NpzSet, TellsMedMnistByItsArrays) {
  const TemporaryFolder folder;
  EXPECT_TRUE(is_medmnist(write_zip(folder, "a.npz", medmnist_arrays)));
  EXPECT_FALSE(is_medmnist(write_zip(folder, "b.npz", {{"x.npy", four_rows}})));
}

}  // namespace
}  // namespace fedvg
