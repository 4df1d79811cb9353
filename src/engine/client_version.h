#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "fedvg/error.h"

namespace fedvg {

/// The published state of a client: the round that it is of, and its size without the file's
/// header.
struct ClientVersion {
  std::int64_t client = 0, round = 0, bytes = 0;

  auto operator<=>(const ClientVersion&) const = default;
};

/// A client's state whose file is not what was written.
struct DamagedState : DataError {
  DamagedState(const std::string& message, ClientVersion which)
      : DataError(message), version(which) {}
  ClientVersion version;
};

}  // namespace fedvg
