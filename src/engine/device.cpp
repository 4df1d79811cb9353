#include "engine/device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include <algorithm>
#include <cstdint>

#include "fedvg/error.h"

namespace fedvg {

at::Device device_named(const std::string& name) {
  if (name == "cpu") return at::kCPU;
  const std::string prefix = "cuda";
  if (name.rfind(prefix, 0) != 0) {
    throw OptionError("device '" + name + "' is unknown; known: cpu, cuda:N");
  }
  std::int64_t number = 0;
  if (name.size() > prefix.size()) {
    const std::string digits = name.substr(prefix.size() + 1);
    const bool whole =
        name[prefix.size()] == ':' && !digits.empty() && digits.size() < 4 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!whole) throw OptionError("device '" + name + "' is unknown; known: cpu, cuda:N");
    number = std::stoll(digits);
  }
  if (!at::hasCUDA()) {
    throw RunError("device " + name +
                   ": this libtorch or machine has no CUDA device; take "
                   "--device cpu, or point the build at a CUDA build of PyTorch");
  }
  const std::int64_t devices = at::detail::getCUDAHooks().deviceCount();
  if (number >= devices) {
    throw RunError("device " + name + ": there are " + std::to_string(devices) +
                   " CUDA devices, cuda:0 to cuda:" + std::to_string(devices - 1));
  }
  return {at::kCUDA, static_cast<at::DeviceIndex>(number)};
}

}  // namespace fedvg
