#pragma once

#include <string>

#include "fedvg/dataset.h"

namespace fedvg {

/// Reads {train,val,test}_{images,labels} of an npz file in MedMNIST's layout (Yang et al.,
/// 2023, Scientific Data 10:41): uint8 images [N, H, W] or [N, H, W, 3], labels [N] or [N, 1];
/// val may be absent. Classes by the file's name (dermamnist.npz, dermamnist_64.npz) where it
/// is one of MedMNIST's, else numbers up to the largest training label. Throws DataError for
/// other arrays (naming those that are there), multi-label sets and volumes.
Dataset read_medmnist(const std::string& path);

/// Reads an npz file with x_train, y_train, x_test, y_test and optionally x_val, y_val, or with
/// x and y, of which a test set is held out (test_holdout.h). x: features [N, F] of any
/// numbers, or uint8 images [N, H, W] or [N, H, W, C]; y: class numbers. request.owner_column
/// is an array of N integers or texts beside the training samples. Throws DataError.
Dataset read_npz_set(const std::string& path, const ReadRequest& request);

/// Whether the arrays of a file are MedMNIST's.
bool is_medmnist(const std::string& path);

}  // namespace fedvg
