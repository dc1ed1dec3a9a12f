#pragma once

#include <string>

#include "harness/base/files.h"
#include "harness/base/result.h"

namespace flce {

/// What a traced cell was asked to launch, as a Chrome trace (chrome://tracing, Perfetto): a process per device, a thread
/// per stream, an event per kernel, GEMM, copy, fill and allocation, in microseconds of the host's clock. Kernels do not
/// run on the emulated device, so an event's length means nothing.
/// `sequence_file` is the worker's sequence.json; kNotFound when the cell came to no launch.
Result<std::string> ChromeTrace(const fs::path& sequence_file);

}  // namespace flce
