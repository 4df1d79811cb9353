#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Pieces of sentences that messages, notes and the set-up block share.

namespace fedvg {

/// "1 client", "2 clients"
std::string counted(std::int64_t number, const std::string& thing);

/// The first `most`, joined by ", ", and how many more there are: "a, b and 3 more".
std::string some_of(const std::vector<std::string>& names, std::size_t most = 10);

}  // namespace fedvg
