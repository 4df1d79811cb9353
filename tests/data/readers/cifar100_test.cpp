#include "data/arrays_testing.h"
#include "fedvg/dataset.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

Dataset read_from(const std::string& path, const std::string& labels = "fine") {
  Table options;
  options.set("path", path);
  options.set("labels", labels);
  return Registry<DatasetReader>::instance().make("cifar100", options)->read();
}

TEST(Cifar100Reader, ReadsFineAndCoarseLabels) {
  const TemporaryFolder folder;
  folder.write("train.bin", testing::cifar_records({{3, 42}, {19, 99}}));
  folder.write("test.bin", testing::cifar_records({{0, 7}}));
  const Dataset fine = read_from(folder.path().string());
  EXPECT_EQ(fine.name, "cifar100");
  EXPECT_EQ(fine.classes.size(), 100u);
  EXPECT_EQ(fine.training.labels, (std::vector<std::int64_t>{42, 99}));
  EXPECT_EQ(fine.test.labels, (std::vector<std::int64_t>{7}));
  const Dataset coarse = read_from(folder.path().string(), "coarse");
  EXPECT_EQ(coarse.classes.size(), 20u);
  EXPECT_EQ(coarse.training.labels, (std::vector<std::int64_t>{3, 19}));
  EXPECT_THROW(read_from(folder.path().string(), "both"), OptionError);
}

TEST(Cifar100Reader, NeedsAPath) {
  EXPECT_NE(message_of<OptionError>([] { read_from(""); }).find("data.path"), std::string::npos);
}

}  // namespace
}  // namespace fedvg
