#include "harness/cli/app.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>

#include "harness/base/subprocess.h"
#include "harness/base/text.h"
#include "harness/cli/bisect.h"
#include "harness/cli/compare.h"
#include "harness/cli/completion.h"
#include "harness/cli/diff.h"
#include "harness/cli/doctor.h"
#include "harness/cli/exec.h"
#include "harness/cli/explain.h"
#include "harness/cli/gpu_probe.h"
#include "harness/cli/history.h"
#include "harness/cli/list.h"
#include "harness/cli/report.h"
#include "harness/cli/rules.h"
#include "harness/cli/run.h"
#include "harness/cli/schema.h"

namespace flce {
namespace {

constexpr const char* kFooter =
    "Exit codes (gate): 0 all as expected, 1 unexpected failure or numerics, 2 usage, 3 only improvements,\n"
    "  4 inconclusive (environment, time-out, no GPU where one is required), 5 nothing selected, 70 internal,\n"
    "  130 interrupted and resumable.  seed: 0 reproduced, 1 not, 2 skipped.  git-bisect: 0 good, 1 bad, 125 skip, 128 usage.\n"
    "State lives in $FLCE_REPRO_HOME (default ~/.cache/flce-repro).\n\n"
    "Examples:\n"
    "  flce-repro --torch 2.13                                  the verdict of the newest 2.13 release, without a GPU\n"
    "  flce-repro --torch 2.8..2.15 --capability 8.0,9.0,12.1   a grid\n"
    "  flce-repro --torch 2.13 --fix guard,custom-op --shape 2048x1024x151936   what a fix costs in memory\n"
    "  flce-repro explain train.log                             which failure a log shows";

/// Every subcommand, in the order --help lists them.
constexpr void (*kCommands[])(CLI::App&, Command&) = {
    SetupRun,    SetupList,  SetupExplain, SetupCompare, SetupReport, SetupExec, SetupBisect,
    SetupRules,  SetupHistory, SetupDiff,  SetupDoctor,  SetupSchema, SetupCompletion,
};

/// A misspelt option gets the nearest one, since CLI11 only says that it was not expected.
std::string NearestOption(const CLI::App& app, const std::string& unknown) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return NearestName(unknown, names);
}

/// One line for a command line that cannot be meant, and the usage exit code of the profile in use.
int UsageError(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string message = ReplaceAll(error.what(), "\n", " ");
  // git-bisect reads 1..127 as "bad": a usage error must abort it instead.
  bool bisecting = false;
  std::string unknown;
  for (int i = 1; i < argc; ++i) {
    bisecting |= std::strcmp(argv[i], "git-bisect") == 0 || std::strcmp(argv[i], "--exit-profile=git-bisect") == 0;
    if (unknown.empty() && message.find(argv[i]) != std::string::npos) unknown = argv[i];
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unknown.empty()) {
    const std::string name = unknown.substr(0, unknown.find('='));
    message = "unknown " + std::string(name.rfind("-", 0) == 0 ? "option " : "command ") + name;
    const CLI::App* scope = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
    const std::string nearest = NearestOption(*scope, name);
    message += nearest.empty() ? "; see flce-repro --help" : "; did you mean " + nearest + "?";
  }
  std::fprintf(stderr, "flce-repro: %s\n", message.c_str());
  return bisecting ? 128 : 2;
}

}  // namespace

int FlceReproMain(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--probe-gpu") == 0) return GpuProbeMain();
  Interrupt::Install();
  CLI::App app("Reproduces and regression-tests the torch.compile failures of Liger-Kernel's fused linear cross entropy.", "flce-repro");
  app.set_version_flag("--version", std::string("flce-repro ") + FLCE_VERSION);
  app.footer(kFooter);
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);

  Command command;
  for (void (*set_up)(CLI::App&, Command&) : kCommands) set_up(app, command);
  try {
    app.parse(argc, argv);
    return command(std::vector<std::string>(argv, argv + argc));
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error, argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "flce-repro: out of memory\n");
    return 70;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flce-repro: internal error: %s\n", error.what());
    return 70;
  }
}

}  // namespace flce
