#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro doctor`: what this machine has, what each missing thing costs, and the command that brings it.
void SetupDoctor(CLI::App& app, Command& chosen);

}  // namespace flce
