#pragma once

#include "harness/cli/locations.h"
#include "harness/cli/run_data.h"
#include "harness/cli/run_options.h"
#include "harness/cli/supply.h"
#include "harness/dispatch/cell_job.h"
#include "harness/dispatch/journal.h"

namespace flce {

/// The job of a cell: what is on its sys.path, which device, what is measured. `folder` takes its evidence.
Result<CellJob> MakeJob(const Locations& at, const RunData& data, const RunOptions& options, const Cell& cell, const CellSupply& supply,
                        const fs::path& folder);

/// Hashes of the programs that produce every result; kEnvironment when one is not built.
Result<std::map<std::string, std::string>> HashTools(const Locations& at, DeviceKind kind);

/// What a cell's result depends on.
Result<CellKey> MakeKey(const RunData& data, const Cell& cell, const CellSupply& supply, const std::map<std::string, std::string>& tools,
                        const RunOptions& options);

}  // namespace flce
