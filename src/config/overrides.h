#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/section.h"
#include "fedvg/value.h"

namespace fedvg::config {

/// One setting that replaces what a configuration file says.
struct Override {
  std::vector<std::string> path;  ///< of the dotted key: {"train", "optimizer", "lr"}
  Value value;                    ///< its source is that of the messages about it
  std::string text;               ///< as given, for notes: "--set train.optimizer.lr=0.1"
};

/// Reads KEY=VALUE of `--set`. VALUE is taken as TOML where it is TOML and no date, else
/// as a string. Throws OptionError: no '=', an empty key, not UTF-8, an integer above 2^63 - 1.
Override read_override(const std::string& assignment);

/// The same from a key and a value that have been read already, as in a sweep file.
Override make_override(std::string_view key, Value value);

/// Puts the overrides into a document that has been read and not yet resolved, in order.
///
/// A table is merged, key by key, and a part written as a string becomes a table when an
/// option of it is set. Where another part is chosen in the end than the document chose,
/// directly or because a section's defaults changed with it, the document's options of
/// the replaced part are dropped; what an override itself set is never dropped.
///
/// Returns a note for each part that lost options, to be said:
/// "--set partition.scheme=file: dropped alpha of partition dirichlet". Throws
/// OptionError with every override that leads through something that is no table.
std::vector<std::string> apply_overrides(const std::vector<Override>& overrides,
                                         const std::vector<Section>& sections, Table& document);

/// The same from the arguments of `--set`, all read before any is put in.
std::vector<std::string> apply_overrides(const std::vector<std::string>& assignments,
                                         const std::vector<Section>& sections, Table& document);

}  // namespace fedvg::config
