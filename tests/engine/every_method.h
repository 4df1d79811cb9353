#pragma once

#include <string>
#include <vector>

#include "fedvg/method.h"

namespace fedvg::testing {

/// Every row of the table of methods, and each federated one with the weights of FedVG.
inline std::vector<std::string> every_method() {
  std::vector<std::string> names;
  for (const auto* row : method_rows()) {
    names.push_back(row->parts.name);
    if (row->parts.line != Line::federated || row->parts.name == "fedvg") continue;
    names.push_back(row->parts.name + "+fedvg");
  }
  return names;
}

}  // namespace fedvg::testing
