#pragma once

#include <optional>
#include <string>

#include "fedvg/partition.h"

namespace fedvg {

/// A partition file: a JSON list of clients' lists of samples, or an object
///
///     {"clients": [[…], …], "validation": […], "test": […], "counts": …,
///      "source": …, "data": {"name": "…", "samples": 60000, "fingerprint": "…"}}
///
/// of which only "clients" is needed. "counts" and "source" are for people and are not
/// read; of "data", what is given must match `data` (a fingerprint that matches makes the
/// name immaterial). Indexes must lie in [0, data.samples), without repeats in a list, and
/// be shared between clients only with `overlap`, never with validation or test. "test" is there
/// in runs of data.split = "pooled".
/// Throws DataError naming file, client, position and value.
Partition read_partition_file(const std::string& path, const DataIdentity& data, bool overlap);

/// The same as text: what `partition.json` of a run holds. `source` says what it was drawn
/// from; `counts` are by client and class.
std::string partition_file_text(const std::vector<IndexList>& clients, const IndexList& validation,
                                const std::vector<std::vector<std::int64_t>>& counts,
                                const std::string& source, const DataIdentity& data,
                                const std::optional<IndexList>& test = std::nullopt);

}  // namespace fedvg
