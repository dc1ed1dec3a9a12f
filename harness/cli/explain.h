#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro explain LOG|-`: which failure a log shows. 0 a known signature, 1 a failure of none, 2 unreadable, 5 no
/// failure found. Needs no environment, no state directory and no network.
void SetupExplain(CLI::App& app, Command& chosen);

}  // namespace flce
