#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/base/subprocess.h"
#include "harness/dispatch/cell_job.h"
#include "harness/model/observation.h"

namespace flce {

/// How a cell ended. An interrupted one has no result and is not journaled: it runs again on --resume.
struct CellResult {
  CellJob job;
  Observation observation;
  bool interrupted = false;
};

/// Reads what the worker left: observation.json, or, if it is absent or cut short, what progress.ndjson and the process
/// itself tell. Never fails: damage is told in `end.detail`.
Observation CollectObservation(const CellJob& job, const ProcessEnd& end);

/// `stderr_tail` is read from the cell's stderr file.
ProcessEnd EndOf(const ProcessResult& result, const fs::path& stderr_file);

}  // namespace flce
