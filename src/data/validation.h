#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/data_options.h"
#include "fedvg/partition.h"

namespace fedvg {

/// D_val as `validation.source = "holdout"` draws it: round(ratio * N) of the N training
/// samples, stratified by class, ascending, from Random(seed, "validation") alone. May be
/// empty when N is small.
IndexList held_out(const ValidationOptions& options, std::span<const std::int64_t> labels,
                   std::int64_t classes, std::uint64_t seed);

/// What is used of `pool` under `validation.size`: all of it, or a stratified subset in the
/// pool's order, from Random(seed, "validation-size"). Throws OptionError naming both when
/// size exceeds the pool.
IndexList limited(const ValidationOptions& options, const IndexList& pool,
                  std::span<const std::int64_t> labels, std::int64_t classes, std::uint64_t seed);

/// One line when classes of the training set have no sample in D_val, else empty.
std::string missing_classes(const IndexList& validation, std::span<const std::int64_t> labels,
                            const std::vector<std::string>& class_names);

}  // namespace fedvg
