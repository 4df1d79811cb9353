#include "data/arrays_testing.h"
#include "fedvg/dataset.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using testing::counting;
using testing::message_of;
using testing::npy_bytes;
using testing::TemporaryFolder;

Dataset read_from(const std::string& path, const ReadRequest& request = {}) {
  Table options;
  options.set("path", path);
  return Registry<DatasetReader>::instance().make("npz", options)->read(request);
}

TEST(NpzReader, ReadsFeatures) {
  const TemporaryFolder folder;
  const auto path = write_zip(
      folder, "set.npz",
      {{"x.npy", npy_bytes("(4, 3)", counting(12))}, {"y.npy", npy_bytes("(4,)", {0, 1, 0, 1})}});
  const Dataset dataset = read_from(path, {.test_ratio = 0.5});
  EXPECT_EQ(dataset.name, "npz");
  EXPECT_TRUE(dataset.training.is_features);
  EXPECT_EQ(dataset.training.size(), 2);
  EXPECT_EQ(dataset.test.size(), 2);
}

TEST(NpzReader, RefusesATestLabelThatTrainingLacks) {
  const TemporaryFolder folder;
  const auto path = write_zip(folder, "set.npz",
                              {{"x_train.npy", npy_bytes("(2, 1)", {1, 2})},
                               {"y_train.npy", npy_bytes("(2,)", {0, 1})},
                               {"x_test.npy", npy_bytes("(1, 1)", {1})},
                               {"y_test.npy", npy_bytes("(1,)", {2})}});
  const auto message = message_of<DataError>([&] { read_from(path); });
  EXPECT_NE(message.find("the test set has label 2 at sample 0"), std::string::npos) << message;
}

TEST(NpzReader, NeedsAPath) {
  EXPECT_NE(message_of<OptionError>([] { read_from(""); }).find("data.path"), std::string::npos);
}

}  // namespace
}  // namespace fedvg
