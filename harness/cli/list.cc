#include "harness/cli/list.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>

#include "harness/base/text.h"
#include "harness/classify/signature_book.h"
#include "harness/cli/locations.h"
#include "harness/cli/messages.h"
#include "harness/cli/table.h"
#include "harness/model/json_reader.h"
#include "harness/plan/case_catalogue.h"
#include "harness/plan/device_catalogue.h"
#include "harness/provision/provisioner.h"

namespace flce {
namespace {

struct ListOptions {
  std::string what;
  bool offline = false;
  std::string torch_index;
};

Result<std::string> ListCases(const Locations& at) {
  FLCE_TRY(const CaseCatalogue catalogue, CaseCatalogue::Load(at.cases()));
  Table table({"name", "kind", "shape", "tags", "title"});
  for (const CaseFile& file : catalogue.cases()) table.Add({file.name, file.kind, Text(file.shape), Join(file.tags, ","), file.title});
  return table.Render();
}

/// The catalogue keeps a card's figures as its JSON entry, since only the emulator computes with them.
std::string MemoryOf(const DeviceProfile& device) {
  uint64_t bytes = 0;
  if (const Result<Json> json = ParseJson(device.document, device.id)) JsonReader(*json, device.id).Read("memory_bytes", bytes);
  return HumanBytes(bytes);
}

Result<std::string> ListDevices(const Locations& at) {
  FLCE_TRY(const DeviceCatalogue catalogue, DeviceCatalogue::Load(at.cases() / "devices.json"));
  Table table({"id", "capability", "memory", "name"});
  for (const DeviceProfile& device : catalogue.devices())
    table.Add({device.id, device.capability, MemoryOf(device), device.name});
  return table.Render();
}

Result<std::string> ListFixes(const Locations& at) {
  FLCE_TRY(const std::vector<FixDescription> fixes, LoadFixes(at.cases()));
  Table table({"name", "patches", "title"});
  for (const FixDescription& fix : fixes) table.Add({fix.name, fix.target, fix.title});
  return table.Render();
}

Result<std::string> ListSignatures(const Locations& at) {
  FLCE_TRY(const SignatureBook book, SignatureBook::Load(at.cases() / "signatures.json"));
  Table table({"id", "family", "stage", "title"});
  for (const Signature& signature : book.signatures())
    table.Add({signature.id, std::string(Text(signature.family)), signature.stage ? std::string(Text(*signature.stage)) : "-", signature.title});
  return table.Render();
}

ProvisionOptions OptionsFor(const Locations& at, const ListOptions& options) {
  ProvisionOptions provision;
  provision.state_dir = at.state;
  provision.cases_dir = at.cases();
  provision.torch_index = options.torch_index;
  provision.offline = options.offline;
  return provision;
}

Result<std::string> ListTorch(const Locations& at, const ListOptions& options) {
  FLCE_TRY(const std::unique_ptr<Provisioner> provisioner, Provisioner::Open(OptionsFor(at, options)));
  FLCE_TRY(const std::vector<std::string> releases, provisioner->ExpandTorch("all"));
  const std::vector<UsedEnvironment> installed = provisioner->UsedEnvironments();
  Table table({"torch", "installed", "size", "last used"});
  for (const std::string& release : releases) {
    std::string state = "no", size, used;
    for (const UsedEnvironment& environment : installed) {
      if (environment.torch_version != release || !environment.complete) continue;
      state = environment.id;
      size = HumanBytes(environment.bytes);
      const std::time_t when = environment.last_used_s;
      char text[32];
      std::strftime(text, sizeof text, "%F %R", std::localtime(&when));
      used = text;
    }
    table.Add({release, state, size, used});
  }
  const std::string note = provisioner->note();
  return table.Render() + (note.empty() ? "" : note + "\n");
}

Result<std::string> ListLiger(const Locations& at, const ListOptions& options) {
  FLCE_TRY(const std::unique_ptr<Provisioner> provisioner, Provisioner::Open(OptionsFor(at, options)));
  FLCE_TRY(const std::vector<std::string> releases, provisioner->ExpandLiger("all"));
  return Join(releases, "\n") + "\n";
}

Result<std::string> List(const ListOptions& options) {
  FLCE_TRY(const Locations at, FindLocations());
  if (options.what == "cases") return ListCases(at);
  if (options.what == "signatures") return ListSignatures(at);
  if (options.what == "fixes") return ListFixes(at);
  if (options.what == "devices") return ListDevices(at);
  if (options.what == "torch") return ListTorch(at, options);
  if (options.what == "liger") return ListLiger(at, options);
  return Error{ErrorKind::kUsage, UnknownName("list", options.what, {"cases", "signatures", "fixes", "devices", "torch", "liger"})};
}

}  // namespace

void SetupList(CLI::App& app, Command& chosen) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* sub = app.add_subcommand("list", "what is known: cases, signatures, fixes, devices, torch, liger");
  sub->add_option("WHAT", options->what, "cases, signatures, fixes, devices, torch or liger")->required();
  sub->add_flag("--offline", options->offline, "list what is installed");
  sub->add_option("--torch-index", options->torch_index, "package index for torch")->type_name("URL");
  sub->callback([&chosen, options] {
    chosen = [options](const std::vector<std::string>&) {
      const Result<std::string> text = List(*options);
      if (!text) return PrintError(text.error());
      std::fputs(text->c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace flce
