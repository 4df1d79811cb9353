#pragma once

#include <string>
#include <vector>

#include "fedvg/dataset.h"

namespace fedvg {

struct CsvFiles {
  std::string training;
  std::string test;                       ///< empty: held out of the training file
  std::string label = "label";            ///< name of its column
  std::vector<std::string> ignored = {};  ///< names of columns that are no features
  bool may_lack_ignored = false;
};

/// Reads rows of features with a label from CSV files (csv.h) whose first line names the
/// columns. All columns but label, request.owner_column and ignored ones are features and hold
/// finite numbers. Classes are the labels of the training file, by value where all are
/// numbers, otherwise by their bytes. The test file has the same columns, in any order; the
/// owner column may be absent there. Without a test file a part is held out (test_holdout.h).
/// Throws DataError naming file, line and column, OptionError for a column that a setting
/// names but the file lacks.
Dataset read_csv_set(const CsvFiles& files, const ReadRequest& request);

}  // namespace fedvg
