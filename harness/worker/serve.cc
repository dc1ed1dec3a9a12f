#include "harness/worker/serve.h"

#include <fcntl.h>
#include <poll.h>
#include <pybind11/embed.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/worker/command.h"
#include "harness/worker/interpreter.h"
#include "harness/worker/line_channel.h"
#include "harness/worker/native_module.h"
#include "harness/worker/nursery.h"
#include "harness/worker/python_fork.h"
#include "harness/worker/warm_parent.h"
#include "harness/worker/zygote_protocol.h"

namespace flce::worker {
namespace {

namespace py = pybind11;

// A cell whose warmed parent dies is given to one new parent.
constexpr int kMostTries = 2;

struct Waiting {
  std::string cell_id, text;
  int tries = 1;
};

struct WarmParent {
  pid_t pid;
  LineChannel channel;
  std::string device_key, device;
  std::list<Waiting> waiting;
};

class Zygote {
 public:
  explicit Zygote(int fd) : driver_(fd), emulator_(EmulatorLink::Find()) {}
  int Run();

 private:
  std::optional<StartLine> Start();
  void FromDriver(const std::string& text);
  void FromParent(WarmParent& parent);
  void Give(const std::string& device_key, const std::string& device, Waiting cell);
  WarmParent* ParentFor(const std::string& device_key, const std::string& device);
  void Lost(WarmParent& parent);
  void End();

  LineChannel driver_;
  EmulatorLink emulator_;
  StartLine start_;
  std::list<WarmParent> parents_;
};

std::optional<StartLine> Zygote::Start() {
  std::vector<std::string> lines;
  while (lines.empty() && !driver_.ended()) lines = driver_.Read();
  if (lines.empty()) return std::nullopt;
  Result<StartLine> start = ParseStart(lines[0]);
  if (!start) {
    driver_.Write(FormatNotReady(start.error().message));
    return std::nullopt;
  }
  double began = MonotonicNow();
  Result<std::unique_ptr<Interpreter>> interpreter = Interpreter::Start(start->python);
  if (!interpreter) {
    driver_.Write(FormatNotReady(interpreter.error().message));
    return std::nullopt;
  }
  try {
    py::list path = py::module_::import("sys").attr("path");
    path.insert(0, start->package_dir.string());
    std::string versions = py::module_::import("flce_worker.zygote").attr("start")(start->text).cast<std::string>();
    driver_.Write(FormatReady(MonotonicNow() - began, versions));
  } catch (py::error_already_set& error) {
    driver_.Write(FormatNotReady(error.what()));
    return std::nullopt;
  }
  start_ = *start;
  for (size_t i = 1; i < lines.size(); ++i) FromDriver(lines[i]);
  return start_;
}

int Zygote::Run() {
  if (!Start()) return kNoInterpreter;
  while (!driver_.ended()) {
    std::vector<pollfd> watched{{driver_.fd(), POLLIN, 0}};
    for (const WarmParent& parent : parents_) watched.push_back({parent.channel.fd(), POLLIN, 0});
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    // The parents first: reading the driver may add to their list.
    std::list<WarmParent*> readable;
    size_t index = 1;
    for (WarmParent& parent : parents_) {
      if (watched[index++].revents != 0) readable.push_back(&parent);
    }
    for (WarmParent* parent : readable) FromParent(*parent);
    if (watched[0].revents == 0) continue;
    for (const std::string& text : driver_.Read()) FromDriver(text);
  }
  End();
  return kObserved;
}

void Zygote::FromDriver(const std::string& text) {
  auto line = ParseLine(text);
  if (!line) {
    driver_.Write(FormatRefused(CellIdOf(text), line.error().message));
    return;
  }
  if (const auto* cancel = std::get_if<CancelLine>(&*line)) {
    for (WarmParent& parent : parents_) {
      for (const Waiting& cell : parent.waiting) {
        if (cell.cell_id == cancel->cell_id) parent.channel.Write(text);
      }
    }
    return;
  }
  const CellLine& cell = std::get<CellLine>(*line);
  if (!Serves(start_.identity, cell.identity)) {
    driver_.Write(FormatRefused(cell.request.cell_id, "its python, the end of its sys_path or its fix to torch is not this zygote's"));
  } else if (cell.device_kind != "emulated") {
    // A CUDA context does not survive a fork.
    driver_.Write(FormatRefused(cell.request.cell_id, "only emulated devices can be served; run it with --request"));
  } else {
    Give(cell.device_key, cell.device, {cell.request.cell_id, text});
  }
}

void Zygote::Give(const std::string& device_key, const std::string& device, Waiting cell) {
  WarmParent* parent = ParentFor(device_key, device);
  if (parent == nullptr) {
    driver_.Write(FormatLost(cell.cell_id, "the zygote could not fork"));
    return;
  }
  // Should it be gone already, its end of file comes next and the cell is given again.
  parent->channel.Write(cell.text);
  parent->waiting.push_back(std::move(cell));
}

WarmParent* Zygote::ParentFor(const std::string& device_key, const std::string& device) {
  for (WarmParent& parent : parents_) {
    if (parent.device_key == device_key) return &parent;
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
  LineChannel ours(ends[0]), theirs(ends[1]);
  pid_t self = getpid();
  pid_t pid = ForkPython();
  if (pid < 0) return nullptr;
  if (pid == 0) {
    BecomeGroupLeader(self);
    driver_.Close();
    ours.Close();
    for (WarmParent& other : parents_) other.channel.Close();
    LiveAsWarmParent(std::move(theirs), device, emulator_);
  }
  parents_.push_back({pid, std::move(ours), device_key, device, {}});
  return &parents_.back();
}

void Zygote::FromParent(WarmParent& parent) {
  for (const std::string& text : parent.channel.Read()) {
    std::string cell_id = CellIdOf(text);
    parent.waiting.remove_if([&](const Waiting& cell) { return cell.cell_id == cell_id; });
    driver_.Write(text);
  }
  if (parent.channel.ended()) Lost(parent);
}

void Zygote::Lost(WarmParent& parent) {
  kill(-parent.pid, SIGKILL);
  int status = 0;
  waitpid(parent.pid, &status, 0);
  std::string why = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                        : "exit code " + std::to_string(WEXITSTATUS(status));
  std::list<Waiting> waiting = std::move(parent.waiting);
  std::string device_key = parent.device_key, device = parent.device;
  parents_.remove_if([&](const WarmParent& other) { return &other == &parent; });
  for (Waiting& cell : waiting) {
    if (++cell.tries > kMostTries) {
      driver_.Write(FormatLost(cell.cell_id, "its parent died twice, last of " + why));
    } else {
      Give(device_key, device, std::move(cell));
    }
  }
}

void Zygote::End() {
  for (WarmParent& parent : parents_) {
    parent.channel.Close();  // it ends itself and kills its cells
    waitpid(parent.pid, nullptr, 0);
  }
}

}  // namespace

int Serve(int fd) {
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  Zygote zygote(fd);
  int code = zygote.Run();
  fflush(nullptr);
  _exit(code);
}

}  // namespace flce::worker
