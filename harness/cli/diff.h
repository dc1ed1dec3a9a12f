#pragma once

#include <string>
#include <vector>

#include "harness/cli/app.h"
#include "harness/cli/locations.h"
#include "harness/model/run_record.h"

namespace flce {

/// `flce-repro diff A B`: which cells broke, were fixed, changed, came or went between two runs.
/// 0 nothing broke or changed, 1 something did, 3 only fixed ones; 2 for a run that is not there.
void SetupDiff(CLI::App& app, Command& chosen);

/// The cells of a run: its id in the history ("last", "last~1"), or the path of a report.json.
Result<std::vector<CellRecord>> LoadCells(const Locations& at, const std::string& run_or_report);

}  // namespace flce
