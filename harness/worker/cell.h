#pragma once

#include "harness/worker/request.h"

namespace flce::worker {

/// Runs one cell in this process with a fresh interpreter and writes output_dir/observation.json last. Returns an
/// ExitCode; a case that kills the process never comes back, and then progress.ndjson tells how far it got.
int RunCell(const Request& request);

}  // namespace flce::worker
