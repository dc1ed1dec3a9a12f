#include "harness/cli/exec.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "harness/base/text.h"
#include "harness/cli/cell_jobs.h"
#include "harness/cli/messages.h"
#include "harness/cli/run_plan.h"
#include "harness/model/json_reader.h"

extern char** environ;

namespace flce {
namespace {

/// A folder that goes when the program has ended.
class ScratchFolder {
 public:
  explicit ScratchFolder(fs::path path) : path_(std::move(path)) {}
  ~ScratchFolder() { (void)RemoveTree(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Python reads this module before the program: it puts the fixed files of torch in the place of torch's own.
std::string SiteModule(const WorkerRequest& request) {
  Json hooks = Json::array();
  for (const auto& hook : request.fix.hooks) hooks.push_back({{"module", hook.module}, {"file", hook.file.string()}});
  return "from flce_worker import hooks\nhooks.install({\"name\": \"fix\", \"hooks\": " + hooks.dump() + "})\n";
}

Result<std::vector<std::string>> ChildEnvironment(const CellJob& job, const fs::path& site) {
  FLCE_TRY(auto changes, WorkerEnvironment(job));
  // The program is the user's: it keeps their home and temporary files. Only compiler caches stay apart.
  for (const char* name : {"HOME", "XDG_CACHE_HOME", "TMPDIR", "PYTHONDONTWRITEBYTECODE"}) changes.erase(name);
  std::string modules;
  const auto add = [&](const fs::path& folder) { modules += (modules.empty() ? "" : ":") + folder.string(); };
  if (!job.request.fix.hooks.empty()) {
    FLCE_TRY_DO(MakeDirectories(site));
    FLCE_TRY_DO(WriteFileAtomically(site / "sitecustomize.py", SiteModule(job.request)));
    add(site);
  }
  for (const fs::path& folder : job.request.sys_path) add(folder);
  changes["PYTHONPATH"] = modules;
  const char* path = std::getenv("PATH");
  changes["PATH"] = job.request.python.parent_path().string() + ":" + (path == nullptr ? "/usr/bin:/bin" : path);

  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    if (changes.count(std::string(variable.substr(0, variable.find('=')))) == 0) variables.emplace_back(variable);
  }
  for (const auto& [name, value] : changes)
    if (value) variables.push_back(name + "=" + *value);
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The program's own exit status; 128 + the signal that ended it, as a shell says it.
Result<int> RunProgram(const CellJob& job, std::vector<std::string> argv, std::vector<std::string> variables) {
  // The environment of this process names no such Python.
  if (argv.front() == "python" || argv.front() == "python3") argv.front() = job.request.python.string();
  pid_t child = -1;
  const int failed = ::posix_spawnp(&child, argv.front().c_str(), nullptr, nullptr, Pointers(argv).data(), Pointers(variables).data());
  if (failed != 0) return Error{ErrorKind::kUsage, "cannot start " + argv.front() + ": " + std::strerror(failed)};
  // A Ctrl-C reaches the program too, and it decides.
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return Error{ErrorKind::kInternal, std::string("waitpid: ") + std::strerror(errno)};
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<int> Execute(const RunOptions& options, const std::vector<std::string>& argv) {
  FLCE_TRY(const Locations at, FindLocations());
  FLCE_TRY(const RunData data, RunData::Load(at));
  FLCE_TRY_DO(PrepareState(at));
  FLCE_TRY(const DeviceChoice devices, ChooseDevices(options, data.devices));
  ProvisionOptions provision;
  provision.state_dir = at.state;
  provision.cases_dir = at.cases();
  provision.torch_index = options.torch_index;
  provision.find_links = options.find_links;
  provision.offline = options.offline;
  provision.on_progress = [told = std::string()](const Progress& step) mutable {
    const std::string line = step.subject + ": " + step.stage;
    if (line != told && step.stage != "ready") std::fprintf(stderr, "%s\n", line.c_str());
    told = line;
  };
  FLCE_TRY(const std::unique_ptr<Provisioner> provisioner, Provisioner::Open(std::move(provision)));
  FLCE_TRY(const std::vector<Cell> cells, PlanCells(options, data, devices, at.cases(), *provisioner));
  if (cells.size() != 1)
    return Error{ErrorKind::kUsage, "exec runs a program in one environment, and these options select " + std::to_string(cells.size())};
  Supply supply(*provisioner, data.cases, at.cases(), devices.flavour, options.python);
  FLCE_TRY(const CellSupply supplied, supply.For(cells.front()));
  if (!supplied.overlay->applies) return Error{ErrorKind::kUsage, "the fix '" + supplied.overlay->name + "' does not apply: " + supplied.overlay->reason};

  const ScratchFolder scratch(at.state / "exec" / std::to_string(::getpid()));
  FLCE_TRY(const CellJob job, MakeJob(at, data, options, cells.front(), supplied, scratch.path()));
  FLCE_TRY_DO(PrepareCellFolder(job));
  FLCE_TRY(std::vector<std::string> variables, ChildEnvironment(job, scratch.path() / "site"));
  return RunProgram(job, argv, std::move(variables));
}

}  // namespace

void SetupExec(CLI::App& app, Command& chosen) {
  struct ExecOptions {
    RunOptions cell;
    std::vector<std::string> argv;
  };
  const auto options = std::make_shared<ExecOptions>();
  RunOptions& o = options->cell;
  CLI::App* sub = app.add_subcommand("exec", "run a program of yours in a cell's environment: its torch, Liger, fix and device");
  sub->add_option("--torch", o.torch, "PyTorch release")->type_name("V")->capture_default_str();
  sub->add_option("--liger", o.liger, "Liger-Kernel release, or the path of a checkout")->type_name("V|PATH")->capture_default_str();
  sub->add_option("--fix", o.fixes, "a fix by name, or a patch")->type_name("NAME|FILE.diff")->capture_default_str();
  sub->add_option("--device", o.device, "auto, cuda, emulated, or a card by id")->type_name("DEVICE")->capture_default_str();
  sub->add_option("--capability", o.capability, "compute capability of the emulated device")->type_name("M.m");
  sub->add_option("--python", o.python, "interpreter of an existing environment with torch")->type_name("PATH");
  sub->add_option("--torch-index", o.torch_index, "package index for torch and triton")->type_name("URL");
  sub->add_flag("--offline", o.offline, "use what is installed");
  sub->add_option("PROGRAM", options->argv, "the program and its arguments, behind --; python is the environment's")->required();
  sub->footer("Example: flce-repro exec --torch 2.13 --fix guard --capability 9.0 -- python train.py\n"
              "The exit code is the program's. An emulated device computes no values.");
  sub->callback([&chosen, options] {
    chosen = [options](const std::vector<std::string>&) {
      const Result<int> result = Execute(options->cell, options->argv);
      return result ? *result : PrintError(result.error());
    };
  });
}

}  // namespace flce
