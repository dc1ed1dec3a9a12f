// Provisions what its arguments name and prints what is there: the provisioner alone, on the real network.
//   provision-environment [--offline] [--full] [--torch SPEC]... [--liger SPEC]... [--torch-index URL] [--find-links DIR]
//                         [--fix NAME] [--python PATH] [--list] [--evict BYTES]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "harness/base/text.h"
#include "harness/provision/provisioner.h"

namespace flce {
namespace {

int Fail(const Error& error) {
  std::cerr << "provision-environment: " << error.message << "\n";
  return ExitCodeOf(error.kind);
}

void Print(const Environment& e) {
  std::cout << e.id << (e.reused ? " (reused)" : " (made)") << "\n  torch " << e.torch_build << " git " << e.torch_git.substr(0, 12) << ", triton "
            << e.triton_version << ", cuda " << e.cuda << ", python " << e.python_version << "\n  " << e.site_packages.string() << "\n  lock "
            << e.lock_sha256 << "\n";
  for (const fs::path& dir : e.library_dirs) std::cout << "  libraries " << dir.string() << "\n";
}

}  // namespace
}  // namespace flce

int main(int argc, char** argv) {
  using namespace flce;  // NOLINT(google-build-using-namespace): the whole file is this program
  Interrupt::Install();
  ProvisionOptions options;
  options.state_dir = StateDirectory();
  options.cases_dir = FLCE_SOURCE_DIR "/cases";
  std::vector<std::string> torches, ligers, fixes;
  std::string external;
  bool full = false, list = false;
  uint64_t evict = UINT64_MAX;
  CLI::App app("Provision torch and Liger");
  app.add_option("--torch", torches);
  app.add_option("--liger", ligers);
  app.add_option("--fix", fixes);
  app.add_option("--external", external);
  app.add_option("--python", options.python);
  app.add_option("--torch-index", options.torch_index);
  app.add_option("--find-links", options.find_links);
  app.add_option("--evict", evict);
  app.add_flag("--full", full);
  app.add_flag("--offline", options.offline);
  app.add_flag("--list", list);
  CLI11_PARSE(app, argc, argv);
  std::string last;
  options.on_progress = [&](const Progress& p) {
    std::string line = p.subject + ": " + p.stage;
    if (p.total > 0) line += " " + HumanBytes(p.done) + " of " + HumanBytes(p.total);
    if (line != last) std::cerr << (last = line) << std::endl;
  };

  Result<std::unique_ptr<Provisioner>> provisioner = Provisioner::Open(options);
  if (!provisioner) return Fail(provisioner.error());
  Provisioner& p = **provisioner;
  const Flavour flavour = full ? Flavour::kFull : Flavour::kLean;
  std::optional<Environment> environment;
  std::optional<LigerTree> liger;
  for (const std::string& spec : torches) {
    Result<std::vector<std::string>> versions = p.ExpandTorch(spec, flavour);
    if (!versions) return Fail(versions.error());
    for (const std::string& version : *versions) {
      Result<Environment> made = p.ProvideTorch(version, flavour);
      if (!made) return Fail(made.error());
      Print(*made);
      environment = *made;
    }
  }
  if (!external.empty()) {
    Result<Environment> found = p.ProvideExternal(external);
    if (!found) return Fail(found.error());
    Print(*found);
    environment = *found;
  }
  for (const std::string& spec : ligers) {
    Result<std::vector<std::string>> versions = p.ExpandLiger(spec);
    if (!versions) return Fail(versions.error());
    for (const std::string& version : *versions) {
      Result<LigerTree> made = p.ProvideLiger(version);
      if (!made) return Fail(made.error());
      std::cout << "Liger " << made->Label() << (made->reused ? " (reused) " : " (made) ") << made->root.string() << "\n";
      liger = *made;
    }
  }
  if (!p.note().empty()) std::cerr << p.note() << "\n";
  for (const std::string& name : fixes) {
    if (!environment || !liger) return Fail({ErrorKind::kUsage, "--fix needs --torch and --liger"});
    Result<FixDescription> fix = FindFix(name, options.cases_dir);
    if (!fix) return Fail(fix.error());
    Result<FixOverlay> overlay = p.ProvideFix(*fix, *liger, *environment);
    if (!overlay) return Fail(overlay.error());
    std::cout << "fix " << overlay->name << (overlay->applies ? " applies " : " does not apply: " + overlay->reason + "\n" + overlay->reject)
              << overlay->sys_path.string() << "\n";
    for (const FixOverlay::Hook& hook : overlay->hooks) std::cout << "  " << hook.module << " -> " << hook.file.string() << "\n";
  }
  if (evict != UINT64_MAX) {
    Result<std::vector<std::string>> removed = p.Evict(evict);
    if (!removed) return Fail(removed.error());
    for (const std::string& id : *removed) std::cout << "removed " << id << "\n";
  }
  if (list)
    for (const UsedEnvironment& e : p.UsedEnvironments())
      std::cout << e.id << "  " << HumanBytes(e.bytes) << "  used " << e.last_used_s << (e.complete ? "" : "  incomplete") << "\n";
  return 0;
}
