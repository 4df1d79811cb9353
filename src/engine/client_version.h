#pragma once

#include <compare>
#include <cstdint>

namespace fedvg {

/// The published state of a client: the round that it is of, and its size without the file's
/// header.
struct ClientVersion {
  std::int64_t client = 0, round = 0, bytes = 0;

  auto operator<=>(const ClientVersion&) const = default;
};

}  // namespace fedvg
