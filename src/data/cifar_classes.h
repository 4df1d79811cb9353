#pragma once

#include <string>
#include <vector>

#include "data/cifar.h"

namespace fedvg {

/// The names of the classes as the sets are published, in the order of their labels.
std::vector<std::string> official_cifar_classes(CifarLayout layout, CifarLabels kind);

}  // namespace fedvg
