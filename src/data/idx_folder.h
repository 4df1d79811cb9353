#pragma once

#include <filesystem>

#include "fedvg/dataset.h"

namespace fedvg {

/// Reads the four IDX files of an MNIST-like set from a folder: training and test part,
/// `source`; name and classes stay empty. The files are found by the end of their names,
///
///     train-images-idx3-ubyte   train-labels-idx1-ubyte
///     t10k-images-idx3-ubyte    t10k-labels-idx1-ubyte     (or test- for t10k-)
///
/// at the start or after '-', '_' or '.', with or without .gz, also with ".idx" for "-idx":
/// EMNIST's "emnist-balanced-train-images-idx3-ubyte.gz" fits. Throws DataError when the
/// folder or one of them is missing (naming what was looked for), when two files fit, or
/// when a file is damaged (idx.h); labels and sizes are left to check_dataset.
Dataset read_idx_folder(const std::filesystem::path& folder);

}  // namespace fedvg
