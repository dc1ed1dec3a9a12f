#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro [run]`: the options stand on the program itself and on the subcommand.
void SetupRun(CLI::App& app, Command& chosen);

}  // namespace flce
