#include "harness/cli/run_options.h"

#include <CLI/CLI.hpp>

namespace flce {

void AddRunOptions(CLI::App& app, RunOptions& o) {
  const char* what = "What to run";
  app.add_option("--torch", o.torch, "PyTorch releases: 2.13 (its newest patch release), 2.13.0, 2.8..2.15, newest, all")
      ->delimiter(',')->type_name("V,..")->capture_default_str()->group(what);
  app.add_option("--liger", o.liger, "Liger-Kernel releases, or the path of a checkout: 0.8.5, 0.8.0..0.8.5, newest, all, ./Liger-Kernel")
      ->delimiter(',')->type_name("V|PATH,..")->capture_default_str()->group(what);
  app.add_option("--case", o.cases, "cases by name (flce-repro list cases), a tag, or all")
      ->delimiter(',')->type_name("NAME,..")->capture_default_str()->group(what);
  app.add_option("--fix", o.fixes, "fixes by name (flce-repro list fixes), or a patch against Liger or torch")
      ->delimiter(',')->type_name("NAME|FILE.diff,..")->capture_default_str()->group(what);
  app.add_option("--shape", o.shapes, "tokens x hidden size x vocabulary instead of the case's own")
      ->delimiter(',')->type_name("BTxHxV,..")->group(what);
  app.add_option("--seed", o.seeds, "seeds of the inputs, ignored rows among them (default: 1327)")
      ->delimiter(',')->check(CLI::Range(int64_t{0}, int64_t{1} << 53))->type_name("N,..")->group(what);
  app.add_option("--exclude", o.exclude, "leave out cells, e.g. torch=2.7.1 or \"liger=0.8.0 fix=guard\"")->type_name("RULE")->group(what);

  const char* where = "Where to run it";
  app.add_option("--device", o.device, "auto (a real GPU if one answers, else emulated), cuda, emulated, or a card by id (flce-repro list devices)")
      ->type_name("DEVICE")->capture_default_str()->group(where);
  app.add_option("--capability", o.capability, "compute capabilities of the emulated device: 8.0,9.0,12.1, all")
      ->delimiter(',')->type_name("M.m,..")->group(where);
  app.add_option("--device-count", o.device_count, "emulated devices a cell sees")->check(CLI::Range(1, 16))->capture_default_str()->group(where);
  app.add_option("--python", o.python, "interpreter of an existing environment with torch: used as it is, nothing is installed")
      ->type_name("PATH")->group(where);
  app.add_option("--torch-index", o.torch_index, "package index for torch and triton (nightlies, mirrors)")->type_name("URL")->group(where);
  app.add_option("--find-links", o.find_links, "folder or page with wheels")->type_name("DIR")->group(where);
  app.add_flag("--offline", o.offline, "use what is installed and name what is missing")->group(where);
  app.add_option("--jobs", o.jobs, "cells at a time (default: one per core, one alone on a real GPU)")->check(CLI::Range(1, 64))->group(where);
  app.add_option("--timeout", o.timeout_s, "seconds a cell may take")->check(CLI::Range(1.0, 86400.0))->capture_default_str()->group(where);
  app.add_option("--max-memory", o.max_memory, "host memory a cell on the emulated device may take; 0 for no limit")->type_name("SIZE")->capture_default_str()->group(where);
  app.add_option("--engine", o.engine, "what runs the cells")->check(CLI::IsMember({"local"}))->capture_default_str()->group(where);
  app.add_flag("--cold", o.cold, "a fresh process for every cell instead of a warmed one")->group(where);
  app.add_option("--max-disk", o.max_disk, "drop the environments used longest ago beyond this size, e.g. 40GB")->type_name("SIZE")->group(where);

  const char* output = "What comes out";
  app.add_option("--json", o.json, "write the JSON report (- is standard output)")->type_name("F")->group(output);
  app.add_option("--junit", o.junit, "write JUnit XML")->type_name("F")->group(output);
  app.add_option("--markdown", o.markdown, "write a comment for an issue")->type_name("F")->group(output);
  app.add_option("--html", o.html, "write a page")->type_name("F")->group(output);
  app.add_option("--trace", o.trace, "write what was launched as a Chrome trace (one cell)")->type_name("F")->group(output);
  app.add_option("--memory-budget", o.memory_budget, "compiled peak memory allowed, times the eager one; peaks below 64 MiB are not judged (default: cases/tolerances.json)")
      ->check(CLI::PositiveNumber)->type_name("RATIO")->group(output);
  app.add_option("--exit-profile", o.exit_profile, "gate, seed or git-bisect: see the exit codes below")
      ->check(CLI::IsMember({"gate", "seed", "git-bisect"}))->capture_default_str()->group(output);
  app.add_option("--controls", o.controls, "cells that must come out clean, failing, crashed and timed out, run beside the others: auto (with two cells or more), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))->capture_default_str()->group(output);
  app.add_option("--resume", o.resume, "go on with an interrupted run; what is still valid is not repeated")->type_name("RUN")->group(output);
  app.add_flag("-q,--quiet", o.quiet, "print only the verdict")->group(output);
  app.add_flag("-v,--verbose", o.verbose, "print the exception chain, the launches and where the evidence lies")->group(output);
}

}  // namespace flce
