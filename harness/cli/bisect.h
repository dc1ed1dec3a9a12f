#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro bisect --axis torch|liger|commit --from A --to B`: every point at which the result changes.
/// 0 when both ends could be decided; 2 usage, 4 when an end could not.
void SetupBisect(CLI::App& app, Command& chosen);

}  // namespace flce
