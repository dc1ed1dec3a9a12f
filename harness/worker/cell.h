#pragma once

#include "harness/worker/emulator_link.h"
#include "harness/worker/request.h"

namespace flce::worker {

/// Runs one cell in this process with a fresh interpreter and writes output_dir/observation.json last. Ends the process
/// with an ExitCode; a case that kills the process itself leaves progress.ndjson, which tells how far it got.
[[noreturn]] void RunCellAndExit(const Request& request);

/// The same where an interpreter runs already: in a cell's process that was forked from a zygote.
[[noreturn]] void RunForkedCellAndExit(const Request& request, const EmulatorLink& emulator);

}  // namespace flce::worker
