#pragma once

#include <iosfwd>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace flce {

struct JudgeCommand {
  std::string cell;  ///< a cell's folder: inputs, eager and compiled .safetensors and observation.json
  std::string inputs, eager, compiled;                      ///< or the three files
  std::string input_prefix, eager_prefix, compiled_prefix;  ///< beginnings of the names in them
  std::string claims;                                       ///< cases/tolerances.json
  std::string fix, liger;                                   ///< default: from the cell's observation
  std::optional<int64_t> budget;                            ///< Liger's chunk_mem_const
  std::string device = "cpu";
  std::string json = "-";
};

CLI::App* SetUpJudge(CLI::App& program, JudgeCommand& command);

/// Writes the report's `numerics` object. 0 every claim holds, or nothing was computed because the device is
/// emulated; 1 a claim is violated (each on a line of `err`); 2 the evidence cannot be read.
int RunJudge(const JudgeCommand& command, std::ostream& out, std::ostream& err);

}  // namespace flce
