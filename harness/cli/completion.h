#pragma once

#include <string>
#include <vector>

#include "harness/cli/app.h"

namespace flce {

/// What a shell has to know to complete one option or argument.
struct CompletionOption {
  std::vector<std::string> names;  ///< "--quiet", "-q"; empty: an argument without a name
  std::string description;
  bool takes_value = false;
  bool is_list = false;             ///< several values between commas
  std::vector<std::string> values;  ///< those that can be listed
  bool takes_files = false;         ///< a path will do (as well)
};

/// The program itself (name "") or a subcommand.
struct CompletionCommand {
  std::string name, description;
  std::vector<CompletionOption> options;
};

/// A script that makes `shell` (bash, zsh, fish) complete `flce-repro`; `commands[0]` is the program itself.
std::string CompletionScript(const std::string& shell, const std::vector<CompletionCommand>& commands);

/// `flce-repro completion bash|zsh|fish`: made from the options that the program declares, and from the releases,
/// cases, fixes and devices that are known on this machine. Nothing is asked of the network.
void SetupCompletion(CLI::App& app, Command& chosen);

}  // namespace flce
