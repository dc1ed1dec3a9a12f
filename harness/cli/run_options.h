#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"

namespace CLI {
class App;
}

namespace flce {

/// What `flce-repro [run]` was asked for, as written; lists were split at commas.
struct RunOptions {
  std::vector<std::string> torch = {"newest"};
  std::vector<std::string> liger = {"newest"};
  std::string device = "auto";
  std::vector<std::string> capability;
  std::vector<std::string> cases = {"flce-bf16-fp32-accum"};
  std::vector<std::string> fixes = {"none"};
  std::vector<std::string> exclude;
  std::vector<std::string> shapes;
  std::vector<int64_t> seeds;
  std::string json, junit, markdown, html, sarif, trace;
  int jobs = 0;  ///< 0: a cell per core on emulated devices, one at a time on a real GPU
  int device_count = 1;
  double timeout_s = 600;
  std::string resume;
  bool offline = false;
  std::string exit_profile = "gate";
  std::string engine = "local";
  std::string python;  ///< an existing environment's interpreter: used as it is
  std::string torch_index;
  std::vector<std::string> find_links;
  std::optional<double> memory_budget;
  std::string max_disk;
  std::string max_memory = "8GB";  ///< resident, of a cell on the emulated device
  std::string controls = "auto";
  bool quiet = false, verbose = false, cold = false;
};

/// Declares the options on `app`, which is the root or the subcommand `run`.
void AddRunOptions(CLI::App& app, RunOptions& options);

/// The main job: plans, provisions, runs, judges, reports. Returns the exit code of the chosen profile.
int RunCells(const RunOptions& options, const std::vector<std::string>& argv);

}  // namespace flce
