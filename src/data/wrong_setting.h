#pragma once

#include <string>
#include <vector>

#include "fedvg/error.h"

namespace fedvg {

/// A setting that does not go with the others: its dotted key, and why.
struct WrongSetting {
  std::string key, reason;
};

/// Throws OptionError with all of them when there are any.
inline void refuse_wrong(const std::vector<WrongSetting>& wrong) {
  if (wrong.empty()) return;
  std::vector<std::string> problems;
  for (const auto& [key, reason] : wrong) problems.push_back(key + ": " + reason);
  throw OptionError(std::move(problems));
}

}  // namespace fedvg
