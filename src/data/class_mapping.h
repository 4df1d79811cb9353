#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fedvg/dataset.h"

namespace fedvg {

/// The own class of each class of another data set; -1: it has none.
using ClassMapping = std::vector<std::int64_t>;

/// Reads a CSV: a header, then own class and foreign class in each line, by name:
///
///     cifar10_class,cifar100_fine_class
///     automobile,bus
///     automobile,motorcycle
///
/// Foreign classes without a line have no counterpart; a name that is empty says that its
/// neighbour has none. Throws DataError naming file and line: no header, not two columns, a
/// name that neither set has (with candidates), a foreign class with two counterparts,
/// nothing mapped at all.
ClassMapping read_class_mapping(const std::string& path, const std::vector<std::string>& own,
                                const std::vector<std::string>& foreign);

/// Classes of equal names belong together. Throws DataError when there are none, which says
/// that validation.mapping is needed; `path` is the foreign set's.
ClassMapping classes_of_equal_names(const std::vector<std::string>& own,
                                    const std::vector<std::string>& foreign,
                                    const std::string& path);

/// The samples that have a class here, in their order, with own labels.
Samples mapped_samples(const Samples& foreign, const ClassMapping& mapping);

/// "300 of 1000 samples dropped: 3 classes have no counterpart (beaver, dolphin, otter)";
/// empty when none is.
std::string dropped_samples(const Samples& foreign, const ClassMapping& mapping,
                            const std::vector<std::string>& foreign_classes);

}  // namespace fedvg
