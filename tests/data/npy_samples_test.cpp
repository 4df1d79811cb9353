#include "data/npy_samples.h"

#include <string>
#include <vector>

#include "data/arrays_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::counting;
using testing::message_of;
using testing::npy_bytes;
using testing::npy_file;

NpyArray array(const Bytes& file, const std::string& name = "x") {
  return npy_from_bytes(file, name);
}
NpyArray labels(const std::string& shape, const Bytes& values) {
  return array(npy_bytes(shape, values), "y");
}

void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(NpySamples, PutsColourPlanesFirst) {
  // Two images of 1 x 2 pixels: (0 1 2) (3 4 5) and (6 7 8) (9 10 11).
  const Samples samples =
      images_from_npy(array(npy_bytes("(2, 1, 2, 3)", counting(12))), labels("(2, 1)", {1, 0}));
  EXPECT_EQ(samples.channels, 3);
  EXPECT_EQ(samples.height, 1);
  EXPECT_EQ(samples.width, 2);
  EXPECT_EQ(samples.pixels, (Bytes{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  EXPECT_EQ(samples.labels, (std::vector<std::int64_t>{1, 0}));
  EXPECT_FALSE(samples.is_features);
}

TEST(NpySamples, ReadsGrayImages) {
  for (const std::string shape : {"(2, 2, 3)", "(2, 2, 3, 1)"}) {
    const Samples samples =
        images_from_npy(array(npy_bytes(shape, counting(12))), labels("(2,)", {0, 0}));
    EXPECT_EQ(samples.channels, 1);
    EXPECT_EQ(samples.height, 2);
    EXPECT_EQ(samples.width, 3);
    EXPECT_EQ(samples.pixels, counting(12));
  }
}

TEST(NpySamples, ReadsFeatures) {
  const Samples samples = features_from_npy(
      array(npy_file("<f8", "(2, 2)", bytes_of<double>({1, 2, 3, 4.5}))), labels("(2,)", {0, 1}));
  EXPECT_TRUE(samples.is_features);
  EXPECT_EQ(samples.channels, 2);
  EXPECT_EQ(samples.height * samples.width, 1);
  EXPECT_EQ(samples.pixels, bytes_of<float>({1, 2, 3, 4.5f}));
}

TEST(NpySamples, RefusesOtherImages) {
  const auto refusal = [](const Bytes& file) {
    return message_of<DataError>([&] { images_from_npy(array(file), labels("(1,)", {0})); });
  };
  expect_contains(refusal(npy_file("<f4", "(1, 1, 1)", bytes_of<float>({0.5f}))),
                  "images of float32, but pixels are uint8");
  expect_contains(refusal(npy_bytes("(1, 3, 5, 5)", counting(75))), "channels must come last");
  expect_contains(refusal(npy_bytes("(1, 5, 5, 5)", counting(125))), "volumes (3D) are not read");
  expect_contains(refusal(npy_bytes("(1, 1, 1, 1, 1)", {0})), "has the shape [1, 1, 1, 1, 1]");
  expect_contains(refusal(npy_bytes("(2, 1, 1)", {0, 1})), "x has 2 samples, but y has 1 labels");
}

TEST(NpySamples, RefusesOtherFeatures) {
  expect_contains(message_of<DataError>([&] {
                    features_from_npy(array(npy_bytes("(2,)", {0, 1})), labels("(2,)", {0, 1}));
                  }),
                  "features have [N, F]");
  expect_contains(message_of<DataError>([&] {
                    features_from_npy(array(npy_bytes("(2, 1)", {0, 1})), labels("(1,)", {0}));
                  }),
                  "x has 2 samples, but y has 1 labels");
}

TEST(NpySamples, RefusesOtherLabels) {
  const auto refusal = [](const Bytes& file) {
    return message_of<DataError>([&] { labels_from_npy(array(file, "y")); });
  };
  expect_contains(refusal(npy_bytes("(2, 14)", counting(28))), "14 labels a sample");
  expect_contains(refusal(npy_bytes("(1, 1, 1)", {0})), "labels have [N] or [N, 1]");
  expect_contains(refusal(npy_bytes("()", {0})), "labels have [N] or [N, 1]");
  expect_contains(refusal(npy_file("<f4", "(1,)", bytes_of<float>({1}))), "integers are wanted");
  expect_contains(refusal(npy_file("|i1", "(2,)", {1, 0xff})),
                  "label -1 at row 1 (counted from 0); labels are class numbers from 0, below "
                  "100000; the others of it are of 2 classes, 0 to 1");
  expect_contains(refusal(npy_file("<i4", "(1,)", bytes_of<std::int32_t>({100000}))),
                  "label 100000 at row 0");
}

}  // namespace
}  // namespace fedvg
