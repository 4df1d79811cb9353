#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/problems.h"
#include "config/section.h"
#include "fedvg/options.h"

namespace fedvg::config {

/// From settings as written to settings as used. A resolved table has every option,
/// defaults filled in, in the order of its schema; numbers are doubles; a part is a table
/// with `name` and all options of that part, whether it was written as a string, as a
/// table or (PartBeside) beside its option. Values keep their source; defaults have none.
/// Resolving what is resolved already changes nothing.
///
/// Whatever is wrong goes to `problems` and is left out of the result, so that one call
/// finds every mistake: call problems.throw_if_any() before using it.

/// A whole document: settings above the first section, then every section, also those
/// that the document lacks.
Table resolve(const std::vector<Section>& sections, const Table& document, Problems& problems);

/// One table of options. `where` is its dotted key, for messages; empty at the top.
Table resolve_fields(const Schema& schema, const Table& given, const std::string& where,
                     Problems& problems);

/// One part. `given` is a name, a table with or without `name`, or null. Without a name
/// it is `initial` with some options changed; options of `initial` hold as defaults as
/// long as its part is the chosen one. Nothing after a problem.
std::optional<Part> resolve_part(const std::string& kind, const Part& initial, const Value* given,
                                 const std::string& where, Problems& problems);

/// A resolved document as people write it: the options of a PartBeside part stand in
/// the section again. write_toml() of it, read and resolved again, is equal to `resolved`.
Table flattened(const std::vector<Section>& sections, const Table& resolved);

/// Where a setting of a resolved document was written; empty for a default and for what
/// is not there. Options of a PartBeside part: "partition.scheme.alpha".
Source source_of(const Table& resolved, std::string_view dotted_key);

}  // namespace fedvg::config
