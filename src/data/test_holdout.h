#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fedvg/dataset.h"
#include "fedvg/partition.h"

namespace fedvg {

/// Which samples of `pool` become the test set: request.test_ratio of them, rounded, stratified
/// by class, drawn from request.seed, in the order of the pool. May be none or all of it.
IndexList drawn_test(const IndexList& pool, std::span<const std::int64_t> labels,
                     std::int64_t classes, const ReadRequest& request);

/// For a set that comes without a test part: a stratified request.test_ratio of the training
/// samples becomes it, drawn from request.seed; both keep the order of the file. Adds a note
/// that says so. Throws DataError when the test part would be nothing or everything.
void hold_out_test(Dataset& dataset, const ReadRequest& request);

/// The start of such a note, up to "since "; `all` is what `count` were drawn from, "60 images".
std::string holdout_note(std::int64_t count, const std::string& all, const ReadRequest& request);
/// For a set whose parts are pooled again: what was held out is not the test set.
void remove_holdout_note(std::vector<std::string>& notes);

}  // namespace fedvg
