// flce-numerics-torch: the commands of flce-numerics that compute. Started by flce-numerics.
#include <ATen/Context.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "harness/base/text.h"
#include "harness/numerics/judge_command.h"
#include "harness/numerics/run_command.h"

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
      return 0;
    }
    return judge_app->parsed() ? flce::RunJudge(judge, std::cout, std::cerr)
                               : flce::RunNative(run, std::cerr);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    // LibTorch reports with exceptions: memory that runs out, a device that does not answer.
    std::cerr << "flce-numerics: LibTorch failed: " << flce::FirstLine(error.what()) << "\n";
    return 2;
  }
}
