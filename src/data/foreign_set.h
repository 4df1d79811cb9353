#pragma once

#include <string>
#include <vector>

#include "fedvg/dataset.h"

namespace fedvg {

/// Another data set, of which only samples and classes count: not how it was divided.
struct ForeignSet {
  Samples samples;
  std::vector<std::string> classes;
  std::string format;  ///< the data name that it was read as
};

/// Which column of a CSV file is what, as in the data set that it validates.
struct ForeignColumns {
  std::string label = "label";
  std::vector<std::string> left_out = {};  ///< no features; the file may lack them
};

/// Reads a data set whole: its training part, then its validation part, then its test part,
/// for what a set is divided into does not matter to who only validates on it. A set that
/// comes undivided may thus come in another order, but is whole as well.
///
/// `format` is a name of kind "data", or "auto": by content a file of CIFAR-10 or CIFAR-100
/// records, npz in MedMNIST's layout, another npz, CSV; a folder of CIFAR-10 or CIFAR-100,
/// IDX files, Tiny ImageNet, class folders. A folder whose only .bin file is one of CIFAR
/// records, whatever lies beside it, is that file. Labels of CIFAR-100 are the fine ones; a single
/// CIFAR file takes its class names from the file of names beside it, else the official ones.
/// `columns` apply to CSV alone.
/// Throws DataError when the content is nothing of that (saying what it is instead) or
/// damaged, OptionError for an unknown format or a CSV file without the label's column.
ForeignSet read_foreign_set(const std::string& path, const std::string& format,
                            const ForeignColumns& columns = {});

}  // namespace fedvg
