#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro report REPORT.json ...`: writes the other formats from one or more JSON reports.
void SetupReport(CLI::App& app, Command& chosen);

}  // namespace flce
