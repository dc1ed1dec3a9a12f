#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro list WHAT`: cases, signatures, fixes, devices, torch, liger, environments, runs.
void SetupList(CLI::App& app, Command& chosen);

}  // namespace flce
