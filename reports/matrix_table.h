#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

/// The run as tables: one per case, fix, shape and seed; rows are torch, columns Liger and the devices that give the same.
namespace flce {

struct MatrixColumn {
  std::string liger;
  std::vector<std::string> devices;       ///< merged: all give the same signs in every row
  std::vector<const CellRecord*> cells;   ///< along the rows, of the first device; null where no cell was run
  std::vector<std::string> signs;         ///< along the rows; "" where no cell was run
  std::string DevicesName() const;        ///< "9.0", "8.0,9.0", "8.0..12.1"
};

struct MatrixTable {
  std::string case_name, fix, shape, seed;
  std::vector<std::string> torches;  ///< public versions, oldest first
  std::vector<MatrixColumn> columns;      ///< their rows are the torches
  std::vector<const CellRecord*> cells;   ///< all of them, in the run's order
  std::string Title() const;
};

/// `unicode` chooses the signs. A sign is the mark's, with "m" when over the memory budget and an arrow when the cell
/// is not as expected. The records must outlive the tables.
std::vector<MatrixTable> MatrixTables(const RunRecord& run, const ReportOptions& options, bool unicode);

/// The columns of a table with `rows` rows. `cells` are pairs of a row's index and a cell.
std::vector<MatrixColumn> MatrixColumns(const std::vector<std::pair<size_t, const CellRecord*>>& cells, size_t rows, const ReportOptions& options, bool unicode);

}  // namespace flce
