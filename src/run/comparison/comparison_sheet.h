#pragma once

#include <string>
#include <vector>

#include "run/comparison/compare.h"

namespace fedvg {

enum class Rank { best, second, other };

struct SheetColumn {
  enum class Kind { text, count, figure, test };
  Kind kind;
  std::string title;               ///< of a grid: its values, "0.1"
  std::vector<std::string> cells;  ///< UTF-8, a row each
  std::vector<Rank> ranks;         ///< empty: nothing to mark
};

/// A comparison as a table of text, before it is drawn.
struct Sheet {
  std::vector<SheetColumn> columns;
  std::string grid_title;  ///< "partition.alpha", above the figures of a grid; else empty

  std::size_t rows() const { return columns.front().cells.size(); }
};

/// Means rounded alike share a rank; what is no merit, one cell alone, and cells with runs that
/// never got there have none.
Sheet sheet_of(const Comparison& comparison);

/// "MB" and 1e6 for the largest number of bytes in the table.
struct ByteUnit {
  std::string name = "B";
  double bytes = 1;
};
ByteUnit byte_unit(const Comparison& comparison);

/// "final test_accuracy", "mean of last 10", "rounds to test_accuracy 0.8": of a column.
std::string figure_title(const Comparison& comparison, const ComparedColumn& column);

/// The number of seeds of every cell that has any; 0: they differ.
std::size_t common_seeds(const Comparison& comparison);

/// "0.0625", "5.96e-08"
std::string p_text(double p);

}  // namespace fedvg
