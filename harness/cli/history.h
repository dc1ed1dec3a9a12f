#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro history`: when the result of each cell changed, over every run of this state directory.
void SetupHistory(CLI::App& app, Command& chosen);

}  // namespace flce
