#include "harness/cli/compare.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "harness/cli/locations.h"
#include "harness/cli/messages.h"

namespace flce {
namespace {

struct CompareOptions {
  std::string a, b, json, claim;
};

/// Hands over to flce-numerics, whose exit codes are the contract of `compare`.
int RunCompare(const CompareOptions& options) {
  const Result<Locations> locations = FindLocations();
  if (!locations) return PrintError(locations.error());
  std::error_code ignored;
  if (!fs::exists(locations->numerics, ignored))
    return PrintError({ErrorKind::kEnvironment, "flce-numerics is not built: scripts/flce-repro builds it"});
  std::vector<std::string> argv = {locations->numerics.string(), "compare", options.a, options.b};
  if (!options.json.empty()) argv.insert(argv.end(), {"--json", options.json});
  std::vector<char*> pointers;
  for (std::string& text : argv) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  return PrintError({ErrorKind::kEnvironment, "cannot run " + argv[0] + ": " + std::strerror(errno)});
}

}  // namespace

void SetupCompare(CLI::App& app, Command& chosen) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* sub = app.add_subcommand("compare", "compare two tensor files (safetensors), bit by bit");
  sub->add_option("A", options->a, "a .safetensors file")->required();
  sub->add_option("B", options->b, "another")->required();
  sub->add_option("--json", options->json, "write the comparison as JSON (- is standard output)")->type_name("F");
  sub->footer("Exit codes: 0 equal, 1 different, 2 unreadable.");
  sub->callback([&chosen, options] { chosen = [options](const std::vector<std::string>&) { return RunCompare(*options); }; });
}

}  // namespace flce
