#pragma once

#include <filesystem>
#include <optional>

#include "harness/base/result.h"

namespace flce::worker {

/// Exit codes of flce-worker. They tell the driver whether an observation can be expected.
enum ExitCode {
  kObserved = 0,       ///< observation.json is written
  kBadRequest = 2,     ///< the request cannot be read; nothing is written
  kNoInterpreter = 3,  ///< this worker cannot embed the environment's Python; observation.json says why
  kBroken = 70,        ///< the worker itself failed; observation.json holds the error if it could be written
};

/// What the command line asks for.
struct Command {
  std::filesystem::path request;  ///< --request FILE: run one cell
  std::optional<int> serve;       ///< --serve FD: read requests there (harness/worker/serve.h)
};

/// Reads the command line. An error's message is one line; --help and --version print and end the process.
Result<Command> ParseCommand(int argc, char** argv);

/// The program: parses, runs, and turns whatever happens into an ExitCode.
int Main(int argc, char** argv);

}  // namespace flce::worker
