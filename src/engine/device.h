#pragma once

#include <c10/core/Device.h>

#include <string>

namespace fedvg {

/// "cpu" or "cuda:N". Throws OptionError for another name, RunError when this libtorch or
/// machine has no such device.
at::Device device_named(const std::string& name);

}  // namespace fedvg
