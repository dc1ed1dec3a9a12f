#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro schema`: the JSON Schema of the report.
void SetupSchema(CLI::App& app, Command& chosen);

}  // namespace flce
