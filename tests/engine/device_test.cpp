#include "engine/device.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "engine/example_data.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

TEST(Device, TheProcessorIsAlwaysThere) { EXPECT_EQ(device_named("cpu"), at::Device(at::kCPU)); }

TEST(Device, OtherNamesAreRefusedWithTheKnownOnes) {
  for (const char* name : {"", "gpu", "CPU", "cpu:0", "cuda:", "cuda:x", "cuda:-1", "cuda:1234",
                           "cuda0", "cudax", "cuda:0 "}) {
    testing::expect_says(testing::refusal([&] { device_named(name); }),
                         {("device '" + std::string(name) + "'").c_str(), "cpu, cuda:N"});
  }
}

TEST(Device, AnAcceleratorThatIsNotThereIsSaid) {
  const bool there = at::hasCUDA();
  for (const char* name : {"cuda", "cuda:0", "cuda:999"}) {
    if (there && std::string(name) != "cuda:999") continue;
    try {
      device_named(name);
      ADD_FAILURE() << name;
    } catch (const RunError& error) {
      testing::expect_says(error.what(), {("device " + std::string(name)).c_str(), "CUDA"});
    }
  }
}

}  // namespace
}  // namespace fedvg
