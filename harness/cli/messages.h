#pragma once

#include "harness/base/result.h"

namespace flce {

/// One line on standard error; returns the exit code of the gate profile for that kind of error.
int PrintError(const Error& error);

}  // namespace flce
