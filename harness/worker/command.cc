#include "harness/worker/command.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "harness/worker/cell.h"
#include "harness/worker/request.h"
#include "harness/worker/serve.h"

namespace flce::worker {

Result<Command> ParseCommand(int argc, char** argv) {
  Command command;
  int serve = -1;
  CLI::App app("Runs one cell of flce-repro in an embedded Python and writes observation.json.", "flce-worker");
  app.add_option("--request", command.request, "worker request (JSON); the cell's results go to its output_dir");
  app.add_option("--serve", serve, "file descriptor to read requests from")->check(CLI::NonNegativeNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) {
    return Error{ErrorKind::kUsage, error.what()};
  }
  if (serve >= 0) command.serve = serve;
  if (command.request.empty() == !command.serve.has_value()) {
    return Error{ErrorKind::kUsage, "give either --request FILE or --serve FD"};
  }
  return command;
}

int Main(int argc, char** argv) {
  Result<Command> command = ParseCommand(argc, argv);
  if (!command) {
    fprintf(stderr, "flce-worker: %s\n", command.error().message.c_str());
    return kBadRequest;
  }
  if (command->serve) return Serve(*command->serve);
  Result<Request> request = ReadRequest(command->request);
  if (!request) {
    fprintf(stderr, "flce-worker: %s: %s\n", command->request.c_str(), request.error().message.c_str());
    return kBadRequest;
  }
  RunCellAndExit(*request);
}

}  // namespace flce::worker
