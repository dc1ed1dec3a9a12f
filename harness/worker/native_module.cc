#include "harness/worker/native_module.h"

#include <pybind11/embed.h>
#include <pybind11/stl.h>

#include <stdexcept>

#include "harness/worker/emulator_link.h"
#include "harness/worker/progress.h"

namespace flce::worker {
namespace {

NativeTargets targets;

}  // namespace

void SetNativeTargets(NativeTargets value) { targets = value; }

}  // namespace flce::worker

PYBIND11_EMBEDDED_MODULE(flce_native, m) {
  namespace worker = flce::worker;
  m.doc() = "The process around the interpreter: stages of the cell and the emulated device.";
  m.def("stage", [](const std::string& name) {
    if (worker::targets.progress != nullptr) worker::targets.progress->Begin(name);
  });
  m.def("emulator_abi", []() -> std::optional<int> {
    return worker::targets.emulator != nullptr ? worker::targets.emulator->abi() : std::nullopt;
  });
  m.def("emulator_set_profile", [](const std::string& text) {
    if (worker::targets.emulator == nullptr) return;
    flce::Status status = worker::targets.emulator->SetProfile(text);
    if (!status) throw std::runtime_error(status.error().message);
  });
  m.def("emulator_reset_log", [] {
    if (worker::targets.emulator != nullptr) worker::targets.emulator->ResetLog();
  });
  m.def("emulator_read_log", []() -> std::optional<std::string> {
    return worker::targets.emulator != nullptr ? worker::targets.emulator->ReadLog() : std::nullopt;
  });
}
