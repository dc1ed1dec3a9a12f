// flce-numerics-torch: the commands of flce-numerics that compute. Started by flce-numerics.
#include <ATen/Context.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "harness/base/text.h"
#include "harness/numerics/judge_command.h"
#include "harness/numerics/run_command.h"

namespace {

// Ends without destructors: what LibTorch's CUDA half tears down at exit has been seen to abort a process whose result was
// complete.
[[noreturn]] void End(int code) {
  std::cout.flush();
  std::cerr.flush();
  std::_Exit(code);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Judges tensors of FLCE runs bit by bit", "flce-numerics");
  program.require_subcommand(1);
  flce::JudgeCommand judge;
  flce::RunCommand run;
  CLI::App* judge_app = flce::SetUpJudge(program, judge);
  CLI::App* devices_app = program.add_subcommand("devices", "Name the devices that judge and run can compute on, one a line");
  flce::SetUpRun(program, run);
  try {
    program.parse(argc, argv);
    if (devices_app->parsed()) {
      // CUDA is there when this build is linked with LibTorch's CUDA half and a GPU answers.
      std::cout << "cpu\n" << (at::hasCUDA() ? "cuda\n" : "");
      End(0);
    }
    End(judge_app->parsed() ? flce::RunJudge(judge, std::cout, std::cerr) : flce::RunNative(run, std::cerr));
  } catch (const CLI::ParseError& error) {
    End(program.exit(error) == 0 ? 0 : 2);
  } catch (const std::exception& error) {
    // LibTorch reports with exceptions: memory that runs out, a device that does not answer.
    std::cerr << "flce-numerics: LibTorch failed: " << flce::FirstLine(error.what()) << "\n";
    End(2);
  }
}
