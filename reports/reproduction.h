#pragma once

#include <string>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

namespace flce {

/// A Python script of about 50 lines that does what this cell did, in the environment that the cell names, and ends with
/// the same verdict in the seed's words: exit status 0 reproduced, 1 not reproduced or another failure, 2 skipped. It
/// needs torch, Triton and Liger, nothing of this project. "" when the case's form is not known here (CaseInfo::module).
std::string ReproductionScript(const CellRecord& cell, const ReportOptions& options);

/// The command that repeats the cell with this program.
std::string RepeatCommand(const CellRecord& cell);

/// The command that runs that script, as repro.py, in the cell's environment: its torch, Liger, fix and device.
std::string ReproductionCommand(const CellRecord& cell);

}  // namespace flce
