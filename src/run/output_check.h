#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/configuration.h"

namespace fedvg {

/// A file or folder that a command reads, and what names it: "partition.file".
struct InputPath {
  std::string name;
  std::filesystem::path path;
};

/// What the settings of a configuration name; settings without a path are left out.
std::vector<InputPath> input_paths(const Configuration& configuration);

/// Throws OptionError, naming `option` ("--output"), when `output` is empty, a folder, one of
/// `inputs` under whatever name (links are followed), or a file in an input folder that is
/// neither .json nor .csv, which no folder of data is made of. Touches nothing.
void check_output(const std::string& option, const std::filesystem::path& output,
                  const std::vector<InputPath>& inputs);

}  // namespace fedvg
