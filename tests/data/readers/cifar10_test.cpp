#include "data/arrays_testing.h"
#include "fedvg/dataset.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

Dataset read_from(const std::string& path) {
  Table options;
  options.set("path", path);
  return Registry<DatasetReader>::instance().make("cifar10", options)->read();
}

TEST(Cifar10Reader, ReadsAFolder) {
  const TemporaryFolder folder;
  testing::write_cifar10(folder);
  const Dataset dataset = read_from(folder.path().string());
  EXPECT_EQ(dataset.name, "cifar10");
  EXPECT_EQ(dataset.training.size(), 10);
  EXPECT_EQ(dataset.test.size(), 3);
  EXPECT_EQ(dataset.classes.size(), 10u);
}

TEST(Cifar10Reader, NeedsAPath) {
  EXPECT_NE(message_of<OptionError>([] { read_from(""); }).find("data.path"), std::string::npos);
}

TEST(Cifar10Reader, ReadsTheRealSet) {
  const std::string path = testing::shared_data("cifar-10-batches-bin");
  if (path.empty()) GTEST_SKIP() << "FEDVG_SHARED has no data/cifar-10-batches-bin";
  const Dataset dataset = read_from(path);
  EXPECT_TRUE(dataset.notes.empty());
  EXPECT_EQ(dataset.classes.back(), "truck");
  for (const auto& [part, each] : {std::pair(&dataset.training, 5000), {&dataset.test, 1000}}) {
    std::vector<int> counts(10);
    for (const std::int64_t label : part->labels) ++counts[static_cast<std::size_t>(label)];
    EXPECT_EQ(counts, std::vector<int>(10, each));
  }
}

}  // namespace
}  // namespace fedvg
