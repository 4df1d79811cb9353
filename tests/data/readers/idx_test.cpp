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
  return Registry<DatasetReader>::instance().make("idx", options)->read();
}

TEST(IdxReader, TakesItsClassesFromTheTrainingLabels) {
  const TemporaryFolder folder;
  write_idx_set(folder, {0, 2, 2}, {1, 0});
  const Dataset dataset = read_from(folder.path().string());
  EXPECT_EQ(dataset.name, "idx");
  EXPECT_EQ(dataset.classes, (std::vector<std::string>{"0", "1", "2"}));
}

TEST(IdxReader, RefusesATestLabelThatTrainingLacks) {
  const TemporaryFolder folder;
  write_idx_set(folder, {0, 2, 2}, {1, 3});
  const auto message = message_of<DataError>([&] { read_from(folder.path().string()); });
  EXPECT_NE(message.find("the test set has label 3 at sample 1 (counted from 0), but there are 3"),
            std::string::npos)
      << message;
}

TEST(IdxReader, NeedsAPath) {
  EXPECT_NE(message_of<OptionError>([] { read_from(""); }).find("data.path"), std::string::npos);
}

}  // namespace
}  // namespace fedvg
