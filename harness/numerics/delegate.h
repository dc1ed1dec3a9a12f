#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace flce {

/// The program that holds what needs LibTorch; it lies beside flce-numerics.
inline constexpr char kTorchProgram[] = "flce-numerics-torch";

/// Replaces this process with kTorchProgram, given `arguments` (the command's name first). Returns only if
/// that fails: kEnvironment if it was not built.
Error RunTorchProgram(const std::vector<std::string>& arguments);

}  // namespace flce
