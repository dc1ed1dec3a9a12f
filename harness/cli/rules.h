#pragma once

#include "harness/cli/app.h"

namespace flce {

/// `flce-repro rules`: the smallest version predicates that explain the cells known, with contradictions and gaps.
/// 0; 1 if there are contradictions.
void SetupRules(CLI::App& app, Command& chosen);

}  // namespace flce
