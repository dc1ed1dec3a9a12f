#include "harness/worker/warm_parent.h"

#include <fcntl.h>
#include <poll.h>
#include <pybind11/embed.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/worker/cell.h"
#include "harness/worker/command.h"
#include "harness/worker/native_module.h"
#include "harness/worker/nursery.h"
#include "harness/worker/python_fork.h"
#include "harness/worker/zygote_protocol.h"

namespace flce::worker {
namespace {

namespace py = pybind11;

// The line {"warmed":{..}}. A device on which the warm-up fails is served all the same: its cells say what is wrong.
std::string Warm(const std::string& device) {
  try {
    return py::module_::import("flce_worker.zygote").attr("warm")(device).cast<std::string>();
  } catch (py::error_already_set& error) {
    nlohmann::ordered_json news{{"warmed", {{"ok", false}, {"error", error.what()}}}};
    return news.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
}

void Redirect(const std::filesystem::path& file, int stream) {
  int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return;
  dup2(fd, stream);
  close(fd);
}

[[noreturn]] void LiveAsCell(const CellLine& cell, pid_t parent, const EmulatorLink& emulator) {
  BecomeGroupLeader(parent);
  Redirect(cell.request.output_dir / "stdout.txt", STDOUT_FILENO);
  Redirect(cell.request.output_dir / "stderr.txt", STDERR_FILENO);
  try {
    // Through Python, so that both os.environ and the process's environment have them.
    py::module_::import("flce_worker.zygote").attr("enter_cell")(cell.environment);
  } catch (const std::exception& error) {
    fprintf(stderr, "flce-worker: %s\n", error.what());
    _exit(kBroken);
  }
  RunForkedCellAndExit(cell.request, emulator);
}

}  // namespace

void LiveAsWarmParent(LineChannel channel, const std::string& device, const EmulatorLink& emulator) {
  SetNativeTargets({nullptr, &emulator});
  channel.Write(Warm(device));
  pid_t self = getpid();
  Nursery cells;
  while (!channel.ended()) {
    std::vector<pollfd> watched{{channel.fd(), POLLIN, 0}};
    int timeout = -1;
    cells.Prepare(&watched, &timeout);
    poll(watched.data(), watched.size(), timeout);
    for (const CellEnd& end : cells.Reap()) channel.Write(Format(end));
    if (watched[0].revents == 0) continue;
    for (const std::string& text : channel.Read()) {
      auto line = ParseLine(text);
      if (!line) continue;  // the zygote has checked it
      if (const auto* cancel = std::get_if<CancelLine>(&*line)) {
        cells.Cancel(cancel->cell_id);
        continue;
      }
      const CellLine& cell = std::get<CellLine>(*line);
      pid_t pid = ForkPython();
      if (pid == 0) {
        channel.Close();
        LiveAsCell(cell, self, emulator);
      }
      if (pid < 0) {
        channel.Write(FormatLost(cell.request.cell_id, "the zygote could not fork"));
      } else {
        cells.Adopt(pid, cell.request.cell_id, cell.deadline_s, cell.memory_bytes);
      }
    }
  }
  // Without this process's destructors the cells would outlive it for a moment.
  cells.~Nursery();
  _exit(0);
}

}  // namespace flce::worker
