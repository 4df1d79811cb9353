#pragma once

#include <map>
#include <string>
#include <vector>

#include "fedvg/value.h"

namespace fedvg {

/// By dotted key ("train.optimizer.lr"), as TOML writes them.
using Settings = std::map<std::string, std::string>;

Settings flat_settings(const Table& settings);

/// Without the seed and what is no part of the experiment: checkpoints, report, and engine but for
/// its precision, which changes a result by no more than rounding. (With early stopping,
/// checkpoint.best decides.)
Settings deciding_settings(const Settings& settings);

/// Whether a setting that decides nothing changes the last bits of a result nevertheless:
/// engine.threads, engine.kernels, engine.live_taps.
bool changes_rounding(const std::string& key);

/// Keys whose values are not the same in both, rising; a key that one lacks is one of them.
std::vector<std::string> differing_keys(const Settings& a, const Settings& b);

/// The value of a key, "unset" where there is none.
std::string value_of(const Settings& settings, const std::string& key);

/// As people read it: a string without quotes.
std::string shown_value(const std::string& value);

}  // namespace fedvg
