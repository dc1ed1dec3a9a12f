#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

/// The run as tables: one per case, fix, shape and seed; rows are torch, columns Liger and the devices that give the same.
namespace flce {

struct MatrixColumn {
  std::string liger;
  std::vector<std::string> devices;                    ///< merged: all give the same signs in every row
  std::map<std::string, const CellRecord*> by_torch;   ///< of the first device
  std::vector<std::string> signs;                      ///< along MatrixTable::torches; "" where no cell was run
  std::string DevicesName() const;                     ///< "9.0", "8.0,9.0", "8.0..12.1"
};

struct MatrixTable {
  std::string case_name, fix, shape, seed;
  std::vector<std::string> torches;  ///< public versions, oldest first
  std::vector<MatrixColumn> columns;
  std::string Title() const;
};

/// `unicode` chooses the signs. A sign is the mark's, with "m" when over the memory budget and an arrow when the cell
/// is not as expected. The records must outlive the tables.
std::vector<MatrixTable> MatrixTables(const RunRecord& run, const ReportOptions& options, bool unicode);

}  // namespace flce
