#pragma once

#include <optional>

#include "harness/model/observation.h"

namespace flce {

/// Where a failure stopped, read from the types and frames of its chain alone; nullopt when they do not tell (an eager
/// failure, say). The worker attributes stages as it goes; where the two disagree the verdict has a finding.
std::optional<Stage> AttributeStage(const ExceptionRecord& exception);

}  // namespace flce
