#include "harness/cli/doctor.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <thread>

#include "harness/base/subprocess.h"
#include "harness/base/text.h"
#include "harness/cli/gpu_probe.h"
#include "harness/cli/locations.h"
#include "harness/cli/messages.h"
#include "harness/provision/provisioner.h"

namespace flce {
namespace {

/// What one check found. A missing thing says what it costs and the command that brings it.
struct Check {
  enum class State { kGood, kMissing, kOptional } state = State::kGood;
  std::string subject, found, cost, command;
};

Check Good(std::string subject, std::string found) { return {Check::State::kGood, std::move(subject), std::move(found), "", ""}; }

/// First line of a program's output, or nullopt.
std::optional<std::string> Ask(std::vector<std::string> argv) {
  ProcessOptions options;
  options.argv = std::move(argv);
  options.deadline_s = 20;
  const Result<ProcessResult> result = RunProcess(options);
  if (!result || !result->ok()) return std::nullopt;
  return FirstLine(result->out.empty() ? result->err : result->out);
}

Check CheckMachine() {
  utsname name{};
  ::uname(&name);
  const uint64_t memory = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGE_SIZE));
  const std::string found = std::string(name.sysname) + " " + name.release + " " + name.machine + ", " +
                            std::to_string(std::thread::hardware_concurrency()) + " cores, " + HumanBytes(memory) + " memory";
  if (std::string_view(name.machine) == "x86_64") return Good("machine", found);
  return {Check::State::kMissing, "machine", found, "the emulated device is written for x86-64", "use an x86-64 machine"};
}

Check CheckProgram(const std::string& subject, std::vector<std::string> argv, const std::string& cost, const std::string& command) {
  if (const std::optional<std::string> answer = Ask(std::move(argv))) return Good(subject, *answer);
  return {Check::State::kMissing, subject, "not found", cost, command};
}

Check CheckBuilt(const std::string& subject, const fs::path& file, Check::State state, const std::string& cost, const std::string& command) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) return Good(subject, "built");
  return {state, subject, "not built", cost, command};
}

Check CheckDisk(const Locations& at) {
  constexpr uint64_t kNeeded = 4'000'000'000;  // a lean environment, its part of uv's cache, and room to unpack
  const uint64_t free = FreeBytes(at.state).value_or(0);
  const std::string found = HumanBytes(free) + " free for " + at.state.string();
  if (free >= kNeeded) return Good("disk", found);
  return {Check::State::kMissing, "disk", found, "one lean environment takes 1.9 GB, and as much again while it is made",
          "free some space, or set FLCE_REPRO_HOME to another disk"};
}

Check CheckState(const Locations& at) {
  if (const Status prepared = PrepareState(at); !prepared)
    return {Check::State::kMissing, "state directory", prepared.error().message, "nothing can be kept", "set FLCE_REPRO_HOME"};
  ProvisionOptions options;
  options.state_dir = at.state;
  options.cases_dir = at.cases();
  const Result<std::unique_ptr<Provisioner>> provisioner = Provisioner::Open(options);
  if (!provisioner) return {Check::State::kMissing, "state directory", provisioner.error().message, "no environment can be made", ""};
  uint64_t bytes = 0;
  size_t count = 0;
  for (const UsedEnvironment& environment : (*provisioner)->UsedEnvironments()) bytes += environment.bytes, ++count;
  return Good("state directory", at.state.string() + ": " + std::to_string(count) + " environments, " + HumanBytes(bytes));
}

Check CheckNetwork(const Locations& at) {
  ProvisionOptions options;
  options.state_dir = at.state;
  options.cases_dir = at.cases();
  Result<std::unique_ptr<Provisioner>> provisioner = Provisioner::Open(options);
  std::string why = provisioner ? "" : provisioner.error().message;
  if (provisioner) {
    const Result<std::string> newest = (*provisioner)->ResolveTorch("newest");
    if (newest && (*provisioner)->note().empty()) return Good("package index", "answers; newest torch " + *newest);
    why = newest ? (*provisioner)->note() : newest.error().message;
  }
  return {Check::State::kMissing, "package index", why, "only installed releases can be used (--offline)", "check the network or the index settings of uv"};
}

Check CheckGpu() {
  std::string why;
  if (const std::optional<RealGpu> gpu = ProbeGpu(&why))
    return Good("GPU", gpu->name + ", compute capability " + gpu->capability + ", driver for CUDA " + std::to_string(gpu->driver / 1000) + "." +
                           std::to_string(gpu->driver % 1000 / 10));
  return {Check::State::kOptional, "GPU", why, "verdicts come from the emulated device; values and times are not computed", ""};
}

int RunDoctor() {
  const Result<Locations> at = FindLocations();
  if (!at) return PrintError(at.error());
  const char* kApt = "apt-get install -y ";
  const Check checks[] = {
      CheckMachine(),
      CheckProgram("C compiler", {"cc", "--version"}, "Triton and the stub libraries need one", std::string(kApt) + "gcc"),
      CheckProgram("Python headers", {"/usr/bin/python3", "-c",
                                      "import sysconfig, os, sys; p = os.path.join(sysconfig.get_paths()['include'], 'Python.h'); "
                                      "print(sys.version.split()[0], p) if os.path.exists(p) else sys.exit(1)"},
                   "Triton builds a helper against Python.h", std::string(kApt) + "python3-dev"),
      CheckProgram("uv", {(at->state / "toolchain" / "bin" / "uv").string(), "--version"}, "no environment can be made", "scripts/flce-repro"),
      CheckBuilt("flce-worker", at->worker, Check::State::kMissing, "no cell can run", "scripts/flce-repro"),
      CheckBuilt("emulated device", at->emulator, Check::State::kMissing, "only a real GPU can run cells", "scripts/flce-repro"),
      CheckBuilt("flce-numerics", at->binaries / "flce-numerics-torch", Check::State::kOptional,
                 "cells on a real GPU are not judged by their numbers", "scripts/build-numerics"),
      CheckDisk(*at),
      CheckState(*at),
      CheckNetwork(*at),
      CheckGpu(),
  };
  bool good = true;
  for (const Check& check : checks) {
    const char* mark = check.state == Check::State::kGood ? "ok " : check.state == Check::State::kOptional ? "-  " : "NO ";
    std::printf("%s %-16s %s\n", mark, check.subject.c_str(), check.found.c_str());
    if (check.state == Check::State::kGood) continue;
    std::printf("    %-16s %s\n", "", check.cost.c_str());
    if (!check.command.empty()) std::printf("    %-16s to mend it: %s\n", "", check.command.c_str());
    good &= check.state == Check::State::kOptional;
  }
  return good ? 0 : 4;
}

}  // namespace

void SetupDoctor(CLI::App& app, Command& chosen) {
  CLI::App* sub = app.add_subcommand("doctor", "check this machine: what is missing, what it costs, the command that brings it");
  sub->footer("Exit codes: 0 everything needed is there, 4 something is missing.");
  sub->callback([&chosen] { chosen = [](const std::vector<std::string>&) { return RunDoctor(); }; });
}

}  // namespace flce
