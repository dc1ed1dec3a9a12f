#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro exec [options] -- PROGRAM ARGUMENT...`: a program of the user's in the environment of one cell.
void SetupExec(CLI::App& app, Command& chosen);

}  // namespace flce
