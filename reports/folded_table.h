#pragma once

#include <string>
#include <vector>

#include "reports/matrix_table.h"

/// Many cases over one axis say the same words many times: their tables are folded into one, a row for each.
namespace flce {

/// So many tables of one line are folded; fewer stay as they are.
constexpr size_t kFoldFrom = 3;

/// Names and values are as they come from the run: a writer makes them safe to show.
struct FoldedTable {
  std::string constants;                           ///< "Liger 0.8.5, emulated 9.0, no fix": what all cells share
  std::vector<std::string> row_axes;               ///< of "case", "fix", "shape" and "seed" those that vary
  std::vector<std::vector<std::string>> rows;      ///< a value of each row axis; shape and seed "own": the case's own
  std::vector<std::string> column_axes;            ///< "torch", or "fix", or of "Liger" and "capability" those that vary
  std::vector<std::vector<std::string>> columns;   ///< a value of each column axis
  std::vector<std::vector<const CellRecord*>> cells;  ///< by row and column; null where no cell was run
  std::vector<std::vector<std::string>> signs;        ///< the same; ""
};

struct FoldedMatrix {
  std::vector<FoldedTable> folded;
  std::vector<MatrixTable> tables;  ///< the others, in the run's order
};

/// MatrixTables, with those of one column (one Liger and the same devices) folded, and those of one torch. A table of one
/// sign goes where the others of its Liger and devices go. Where cases have nothing but that for several fixes, the fixes
/// go across; else it stays. The records must outlive the result.
FoldedMatrix FoldedMatrixTables(const RunRecord& run, const ReportOptions& options, bool unicode);

}  // namespace flce
