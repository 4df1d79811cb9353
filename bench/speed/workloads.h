#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fedvg {

/// A federation to measure speed on: how many images, of which shape, through which network.
struct Workload {
  std::string_view name;
  std::string_view help;      ///< one line
  std::string_view data_set;  ///< data.name whose images can stand in for the random ones
  std::string_view images;    ///< keys of [data] for random images of that set's shape
  std::string_view settings;  ///< TOML: what else is in [data], and the other sections
};

std::span<const Workload> workloads();

/// Throws OptionError with the nearest and the known names.
const Workload& workload_named(const std::string& name);

/// Its configuration as TOML, on random images or, where `data_path` is not empty, on the files
/// of its data set there.
std::string toml_of(const Workload& workload, const std::string& data_path = {});

/// Names and help, one line each.
std::vector<std::string> workload_lines();

}  // namespace fedvg
