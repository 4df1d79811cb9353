#include "speed/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fedvg/error.h"
#include "run/configuration.h"
#include "speed/stock_loop.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Workloads, EachIsAConfigurationOnRandomImagesOrOnItsSet) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    const auto random = load_configuration_text(toml_of(workload), "w");
    EXPECT_EQ(random.data.name.name, "random");
    const auto real = load_configuration_text(toml_of(workload, "some \"set\""), "w");
    EXPECT_EQ(real.data.name.name, workload.data_set);
    EXPECT_THAT(real.data.name.options.find("path")->text(), HasSubstr("some \\\"set\\\""));
    EXPECT_EQ(real.data.take, random.data.take);
    EXPECT_EQ(real.model, random.model);
    EXPECT_TRUE(stock_model(random.model, 3, 32, 32, 10).has_value());
  }
}

TEST(Workloads, AreFoundByName) {
  std::vector<std::string> names;
  for (const Workload& workload : workloads()) names.emplace_back(workload.name);
  EXPECT_THAT(names, ElementsAre("fmnist-cnn", "cifar-cnn", "cifar-resnet18", "derma-resnet18",
                                 "many-small-clients", "1000-participants"));
  EXPECT_EQ(workload_named("cifar-cnn").data_set, "cifar10");
  EXPECT_THAT(workload_lines(), SizeIs(names.size()));
  try {
    workload_named("cifar-cn");
    ADD_FAILURE() << "nothing thrown";
  } catch (const OptionError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("unknown workload 'cifar-cn'"),
                                    HasSubstr("did you mean 'cifar-cnn'?")));
  }
}

}  // namespace
}  // namespace fedvg
