#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro compare A B`: two tensor files, by flce-numerics. 0 equal or within the claim, 1 different, 2 unreadable.
void SetupCompare(CLI::App& app, Command& chosen);

}  // namespace flce
