#pragma once

#include <memory>
#include <string>

#include "engine/worker.h"
#include "fedvg/registry.h"

namespace fedvg {

/// Of a network on Fashion-MNIST's images (cnn) or CIFAR-10's (others).
inline Layout layout_named(const std::string& network) {
  const bool gray = network == "cnn";
  const auto model = Registry<ModelBuilder>::instance().make(network)->build(
      {.channels = gray ? 1 : 3, .height = gray ? 28 : 32, .width = gray ? 28 : 32});
  return layout_of(*model, true);
}

}  // namespace fedvg
