#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "harness/numerics/compare.h"

namespace CLI {
class App;
}

namespace flce {

struct CompareCommand {
  std::string a;
  std::string b;
  CompareOptions options;
  std::string json;  ///< a file, "-" for standard output, empty for none
};

/// Adds `compare` to the program's commands.
CLI::App* SetUpCompare(CLI::App& program, CompareCommand& command);

/// Compares and reports: text to `out` unless the JSON goes there. 0 equal or within the claim, 1 different,
/// 2 unreadable or nothing to compare (one line on `err`).
int RunCompare(const CompareCommand& command, std::ostream& out, std::ostream& err);

}  // namespace flce
