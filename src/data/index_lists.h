#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fedvg/partition.h"

namespace fedvg {

// Lists of indexes in JSON files: partitions (samples of clients), cohorts (clients of
// rounds). Everything here throws DataError naming file, list, position and value.

/// Parses a JSON file; a key that an object has twice is refused, and nesting deeper than 32
/// levels.
nlohmann::json read_json(const std::string& path);

/// A list of whole numbers in [0, limit) without repeats. `place` ("p.json: client 3") and
/// `item` ("sample") are for messages; positions are counted from 0.
IndexList index_list(const nlohmann::json& list, std::int64_t limit, const std::string& place,
                     const std::string& item);

/// A list of such lists; `owner` ("client") names one of them, and they count from `first`.
std::vector<IndexList> index_lists(const nlohmann::json& lists, std::int64_t limit,
                                   const std::string& path, const std::string& owner,
                                   const std::string& item, std::size_t first = 0);

/// Lists of samples must lie in [0, samples) without repeats; clients must not share any
/// (unless `overlap`), and none may be in `validation` or `test`,
/// which share none either. `source` begins the message.
void check_disjoint(const std::vector<IndexList>& clients, const IndexList& validation,
                    const IndexList& test, std::int64_t samples, bool overlap,
                    const std::string& source);

}  // namespace fedvg
