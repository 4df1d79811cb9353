#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fedvg::config {

/// The candidate that `given` was most likely meant to be, empty when none is close.
/// Case does not count, '-' and '_' are the same; two letters swapped are one mistake.
std::optional<std::string> nearest(std::string_view given,
                                   const std::vector<std::string>& candidates);

/// "; did you mean 'lr'? known: batch_size, lr": the end of every message about an
/// unknown name. Candidates are sorted; empty when there are none.
std::string candidates_text(std::string_view given, std::vector<std::string> candidates);

/// "unknown option 'lrr' in [train]; did you mean 'lr'? known: batch_size, lr". `what`
/// is "option", "correction", …; `place` follows the name and may be empty.
std::string unknown_text(std::string_view what, std::string_view given, std::string_view place,
                         const std::vector<std::string>& candidates);

}  // namespace fedvg::config
