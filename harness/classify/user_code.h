#pragma once

#include <string>
#include <string_view>

#include "harness/model/observation.h"

namespace flce {

/// A file as observations name it: relative to site-packages or to the Liger tree.
std::string ShortFile(std::string_view file);

/// Fills in what a record that was read from text has only in its messages: the operator that a lowering error names, and
/// the frames of code outside torch, from the traceback and from "from user code:".
void AddWhatMessagesTell(ExceptionRecord& exception);

/// Whose call it is, by the innermost frame that says so: "Liger's fused linear cross entropy", "the program's own code".
std::string CallerOf(const ExceptionRecord& exception);

}  // namespace flce
