#pragma once

#include <string>
#include <vector>

#include "run/comparison/counted_runs.h"

namespace fedvg {

/// A row or a column of runs.
struct RunLine {
  std::string label;                ///< "fedvg", "fedvg train.epochs=5"
  std::vector<std::string> values;  ///< of its settings
};

/// Runs by rows and columns; those of a cell differ in their seeds only.
struct RunGrid {
  std::vector<RunLine> rows;
  std::vector<RunLine> columns;  ///< one without label when no setting makes columns
  std::vector<std::vector<std::vector<const CountedRun*>>> cells;  ///< [row][column]

  /// "fedvg × 0.1"
  std::string cell_name(std::size_t row, std::size_t column) const;
};

/// A row for each group of runs with the same deciding settings, in order of appearance. Its
/// label is the method and what else tells it from the others. `runs` must not be empty.
RunGrid grid_of_groups(const std::vector<CountedRun>& runs);

/// Rows and columns by the values of settings ("method" is method.name); numbers are sorted,
/// others in order of appearance. Throws OptionError for a setting that no run has, with
/// candidates, and for runs of one cell that differ in a further setting.
RunGrid grid_of_settings(const std::vector<CountedRun>& runs, const std::vector<std::string>& rows,
                         const std::vector<std::string>& columns);

/// Takes out runs whose seed their cell has already, and notes them.
void drop_repeated_seeds(RunGrid& grid, std::vector<std::string>& notes);

/// What is to be known of a grid of settings: cells without a seed that others have, and
/// further settings that differ between cells (parts of a method that has a line of its own
/// are expected to).
std::vector<std::string> grid_notes(const RunGrid& grid, const std::vector<std::string>& rows,
                                    const std::vector<std::string>& columns);

}  // namespace fedvg
