#pragma once

#include <iosfwd>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace flce {

struct RunCommand {
  std::string form;  ///< "fused", "guarded" or "reference"
  std::string inputs, input_prefix, output, output_prefix;
  std::string liger = "0.8.5";
  std::optional<int64_t> budget;
  std::string device = "cpu";
};

CLI::App* SetUpRun(CLI::App& program, RunCommand& command);

/// Computes loss, grad_x and grad_w natively and writes them as safetensors. 0 written, 2 the inputs cannot
/// be used.
int RunNative(const RunCommand& command, std::ostream& err);

}  // namespace flce
