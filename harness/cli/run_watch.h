#pragma once

#include <string>
#include <string_view>

#include "harness/base/files.h"
#include "reports/run_progress.h"

/// What joins a RunProgress to this process and to the workers.
namespace flce {

/// For standard error as it is: a block that is redrawn on a terminal, plain lines elsewhere.
RunProgress::Options ProgressOnStderr(bool quiet, bool verbose);

/// Columns of the terminal behind standard error; 0: it is none.
size_t StderrWidth();

void WriteToStderr(std::string_view text);

/// The stage that the worker of a cell's folder last began, in words for a line; "" before its first.
std::string LastStage(const fs::path& folder);

}  // namespace flce
