#include "models/model_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>

#include "models/testing.h"

namespace fedvg {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string refusal(const std::string& name, const ModelInput& input, Table options) {
  try {
    build_model(name, input, std::move(options));
  } catch (const ModelTooLarge& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ModelMemory, IsToldInReadableUnits) {
  EXPECT_EQ(memory_text(4e3), "0.0 MB");
  EXPECT_EQ(memory_text(25.2e9), "25.2 GB");
  EXPECT_EQ(memory_text(6.272e12), "6.3 TB");
  EXPECT_EQ(memory_text(1e30), "1.00e+12 EB");
}

// 2e9 * 784 * 4 bytes = 6.272e12.
TEST(ModelMemory, RefusesSizesThatNoMachineHas) {
  const ModelInput gray{1, 28, 28, 10};
  EXPECT_THAT(refusal("mlp", gray, Table{{"hidden", Array{std::int64_t{2'000'000'000}}}}),
              AllOf(HasSubstr("fc1.weight of [2000000000, 784]"), HasSubstr("takes 6.3 TB;"),
                    HasSubstr("31.4 TB, and this machine has")));
  for (const Array& hidden : {Array{kMost}, Array{kMost, kMost}, Array{8, kMost}}) {
    EXPECT_THAT(refusal("mlp", gray, Table{{"hidden", hidden}}), HasSubstr(std::to_string(kMost)));
  }
  for (const char* model : {"resnet18", "resnet50", "vit_s_16", "vit_b_16"}) {
    EXPECT_THAT(refusal(model, {3, 32, 32, 10}, Table{{"channels", kMost}}),
                HasSubstr(std::to_string(kMost)))
        << model;
  }
}

TEST(ModelMemory, IsWhatAControlGroupAllows) {
  const std::string file = ::testing::TempDir() + "fedvg_memory_max";
  const auto limit = [&](const char* text) {
    std::ofstream(file) << text;
    return memory_limit_in(file);
  };
  EXPECT_EQ(limit("536870912\n"), 536870912.0);
  EXPECT_EQ(limit("9223372036854771712\n"), 9223372036854771712.0);
  EXPECT_EQ(limit("max\n"), std::nullopt);
  std::remove(file.c_str());
  EXPECT_EQ(memory_limit_in(file), std::nullopt);
}

TEST(ModelMemory, IsWhatTheLimitOfAddressesAllows) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const double unlimited = machine_memory();
  constexpr rlim_t kLimit = rlim_t{1} << 31;
  if (unlimited <= kLimit) GTEST_SKIP() << "no more than 2 GB here";
  const rlimit lower{kLimit, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &lower), 0);
  const double limited = machine_memory();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(limited, static_cast<double>(kLimit));
  EXPECT_EQ(machine_memory(), unlimited);
}

// More than half of what is allowed, twice.
TEST(ModelMemory, CountsTheTensorsBefore) {
  const auto numbers =
      static_cast<std::int64_t>(machine_memory() / least_copies / sizeof(float) * 0.6);
  EXPECT_NO_THROW(check_memory_for("a", {numbers}, 0));
  EXPECT_THROW(check_memory_for("b", {numbers}, tensor_bytes({numbers})), ModelTooLarge);
}

}  // namespace
}  // namespace fedvg
