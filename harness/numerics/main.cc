// flce-numerics: compares tensor files by itself; commands that compute start the program that is linked with
// LibTorch, so that a comparison neither waits for LibTorch to load nor needs it.
#include <CLI/CLI.hpp>
#include <iostream>

#include "harness/numerics/compare_command.h"
#include "harness/numerics/delegate.h"

namespace {

struct Delegated {
  const char* name;
  const char* about;
};

constexpr Delegated kDelegated[] = {
    {"judge", "Judge a cell's tensors against what its fix claims"},
    {"devices", "Name the devices that judge and run can compute on"},
    {"run", "Run the native FLCE paths on given inputs and write what they compute"},
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Judges tensors of FLCE runs bit by bit", "flce-numerics");
  program.require_subcommand(1);
  flce::CompareCommand compare;
  CLI::App* compare_app = flce::SetUpCompare(program, compare);
  for (const Delegated& command : kDelegated) {
    program.add_subcommand(command.name, command.about)->prefix_command()->set_help_flag();
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  }
  if (compare_app->parsed()) return flce::RunCompare(compare, std::cout, std::cerr);
  const flce::Error error = flce::RunTorchProgram({argv + 1, argv + argc});
  std::cerr << "flce-numerics: " << error.message << "\n";
  return 2;
}
