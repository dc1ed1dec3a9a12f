#include "harness/numerics/compare_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

namespace flce {

CLI::App* SetUpCompare(CLI::App& program, CompareCommand& command) {
  CLI::App* app =
      program.add_subcommand("compare", "Compare two safetensors files, tensor by tensor and bit by bit");
  app->add_option("a", command.a, "The first file")->required();
  app->add_option("b", command.b, "The second file")->required();
  app->add_option("--prefix-a", command.options.prefix_a,
                  "Take only the tensors of A whose names begin so, without the beginning");
  app->add_option("--prefix-b", command.options.prefix_b, "The same for B");
  app->add_option("--tensor", command.options.names, "Compare only these tensors")->delimiter(',');
  app->add_option("--max-ulp", command.options.allowance.max_ulp,
                  "Claim: finite values differ by at most so many ULPs");
  app->add_option("--max-abs", command.options.allowance.max_abs,
                  "Claim: finite values differ by at most so much");
  app->add_option("--threads", command.options.threads, "Threads (default: up to four)");
  app->add_option("--json", command.json, "Write the result as JSON to a file, - for standard output");
  return app;
}

int RunCompare(const CompareCommand& command, std::ostream& out, std::ostream& err) {
  const Result<FileComparison> comparison = CompareFiles(command.a, command.b, command.options);
  if (!comparison) {
    err << "flce-numerics: " << comparison.error().message << "\n";
    return 2;
  }
  const std::string json = command.json.empty() ? "" : ToJson(*comparison).dump(2) + "\n";
  if (command.json == "-") {
    out << json;
  } else {
    out << ToText(*comparison);
    if (!json.empty()) {
      const Status written = WriteFileAtomically(command.json, json);
      if (!written) {
        err << "flce-numerics: " << written.error().message << "\n";
        return 2;
      }
    }
  }
  return comparison->Holds() ? 0 : 1;
}

}  // namespace flce
