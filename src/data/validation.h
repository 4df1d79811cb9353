#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/data_options.h"
#include "fedvg/dataset.h"
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

/// What `validation.imbalance` = rho leaves of `pool` (0: all): of class i
/// floor(rho^i / sum_j rho^j * pool / 2) samples, at most what the pool has of it, in the
/// pool's order, from Random(seed, "validation-imbalance"). May be empty.
IndexList imbalanced(const ValidationOptions& options, const IndexList& pool,
                     std::span<const std::int64_t> labels, std::int64_t classes,
                     std::uint64_t seed);

/// The `chosen` samples alone, in this order, with `validation.noise` added to each: sample
/// i of `samples` from Random(seed, "validation-noise", 0, i), whatever else was chosen.
Samples noisy_copy(const ValidationOptions& options, const Samples& samples,
                   const IndexList& chosen, std::uint64_t seed);

/// One line when classes of the training set have no sample in D_val, else empty.
/// `validation` are positions in `labels`, D_val's own.
std::string missing_classes(const IndexList& validation, std::span<const std::int64_t> labels,
                            std::span<const std::int64_t> training_labels,
                            const std::vector<std::string>& class_names);

}  // namespace fedvg
