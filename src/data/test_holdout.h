#pragma once

#include <string>

#include "fedvg/dataset.h"

namespace fedvg {

/// For a set that comes without a test part: a stratified request.test_ratio of the training
/// samples becomes it, drawn from request.seed; both keep the order of the file. Adds a note
/// that says so. Throws DataError when the test part would be nothing or everything.
void hold_out_test(Dataset& dataset, const ReadRequest& request);

}  // namespace fedvg
