#include "harness/worker/cell.h"

#include <pybind11/embed.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/base/files.h"
#include "harness/base/text.h"
#include "harness/worker/command.h"
#include "harness/worker/emulator_link.h"
#include "harness/worker/interpreter.h"
#include "harness/worker/native_module.h"
#include "harness/worker/progress.h"

namespace flce::worker {
namespace {

namespace py = pybind11;

// The driver kills the process group at the deadline. Should the driver itself be gone, the alarm ends the process.
constexpr unsigned kGraceSeconds = 60;

int Write(const Request& request, std::string_view observation, int code) {
  Status written = WriteFileAtomically(request.output_dir / "observation.json", observation);
  if (written) return code;
  fprintf(stderr, "flce-worker: %s\n", written.error().message.c_str());
  return kBroken;
}

// An observation of a cell that this worker could not run at all.
int WriteFailure(const Request& request, const std::string& message, int code) {
  fprintf(stderr, "flce-worker: %s\n", message.c_str());
  nlohmann::ordered_json failure{{"format", 1},        {"cell_id", request.cell_id}, {"complete", false},
                                 {"stage", "import"}, {"error", ToValidUtf8(message)}};
  return Write(request, failure.dump(), code);
}

void Watch(const Request& request) {
  // The stack of a hang, on stderr, shortly before the deadline; the stack of a crash when it happens.
  py::module_ faulthandler = py::module_::import("faulthandler");
  faulthandler.attr("enable")();
  if (request.deadline_s <= 0) return;
  faulthandler.attr("dump_traceback_later")(request.deadline_s * 0.9, py::arg("exit") = false);
  alarm(static_cast<unsigned>(std::ceil(request.deadline_s)) + kGraceSeconds);
}

std::string Observe(const Request& request) {
  Watch(request);
  py::list path = py::module_::import("sys").attr("path");
  if (!path.contains(request.package_dir.string())) path.insert(0, request.package_dir.string());
  py::object observation = py::module_::import("flce_worker.cell").attr("run")(request.text);
  return observation.cast<std::string>();
}

// Python is not finalised and no destructor of torch runs: with compiler threads about that can hang or crash after the
// result is safe on disk.
[[noreturn]] void Exit(int code) {
  SetNativeTargets({});
  fflush(nullptr);
  _exit(code);
}

}  // namespace

void RunForkedCellAndExit(const Request& request, const EmulatorLink& emulator) {
  ProgressLog progress(request.output_dir);
  SetNativeTargets({&progress, &emulator});
  try {
    Exit(Write(request, Observe(request), kObserved));
  } catch (py::error_already_set& error) {
    Exit(WriteFailure(request, error.what(), kBroken));
  } catch (const std::exception& error) {
    Exit(WriteFailure(request, error.what(), kBroken));
  }
}

void RunCellAndExit(const Request& request) {
  EmulatorLink emulator = EmulatorLink::Find();
  Result<std::unique_ptr<Interpreter>> interpreter = Interpreter::Start(request.python);
  if (!interpreter) Exit(WriteFailure(request, interpreter.error().message, kNoInterpreter));
  RunForkedCellAndExit(request, emulator);
}

}  // namespace flce::worker
