#include "harness/cli/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/cli/locations.h"
#include "harness/model/json_reader.h"
#include "harness/plan/case_catalogue.h"
#include "harness/plan/device_catalogue.h"
#include "harness/provision/provisioner.h"

namespace flce {
namespace {

/// Values by the name of the option or argument that takes them. What cannot be read has none: a shell that starts must
/// not fail because of it.
using KnownValues = std::map<std::string, std::vector<std::string>>;

/// What an index said before: full releases of `package`.
std::set<std::string> AnsweredReleases(const fs::path& catalogue, const std::string& package) {
  std::set<std::string> releases;
  const Result<std::string> text = ReadFile(catalogue);
  const Result<Json> json = text ? ParseJson(*text, "catalogue.json") : Result<Json>(text.error());
  if (!json || !json->is_object() || !json->contains("answers") || !(*json)["answers"].is_object()) return releases;
  for (const auto& [query, answer] : (*json)["answers"].items())
    if (query.rfind(package, 0) == 0 && answer.is_object() && answer.contains("version") && answer["version"].is_string())
      releases.insert(answer["version"].get<std::string>());
  return releases;
}

bool NewerVersion(const std::string& a, const std::string& b) {
  const std::optional<Version> left = Version::Parse(a), right = Version::Parse(b);
  return left && right ? *left > *right : a > b;
}

std::vector<std::string> Releases(std::set<std::string> answered, const Result<std::vector<std::string>>& installed) {
  if (installed) answered.insert(installed->begin(), installed->end());
  std::vector<std::string> releases(answered.begin(), answered.end());
  // The newest are asked for most; names stand behind them.
  std::sort(releases.begin(), releases.end(), [](const std::string& a, const std::string& b) { return NewerVersion(a, b); });
  releases.insert(releases.end(), {"newest", "all"});
  return releases;
}

KnownValues FindKnownValues() {
  KnownValues known;
  known["WHAT"] = {"cases", "signatures", "fixes", "devices", "torch", "liger"};
  known["--torch"] = known["--liger"] = {"newest", "all"};
  known["--device"] = {"auto", "cuda", "emulated"};
  const Result<Locations> at = FindLocations();
  if (!at) return known;
  std::set<std::string> tags;
  if (const Result<CaseCatalogue> cases = CaseCatalogue::Load(at->cases())) {
    for (const CaseFile& file : cases->cases()) {
      known["--case"].push_back(file.name);
      tags.insert(file.tags.begin(), file.tags.end());
    }
  }
  known["--case"].insert(known["--case"].end(), tags.begin(), tags.end());
  known["--case"].emplace_back("all");
  if (const Result<std::vector<FixDescription>> fixes = LoadFixes(at->cases()))
    for (const FixDescription& fix : *fixes) known["--fix"].push_back(fix.name);
  known["--fix"].emplace_back("all");
  if (const Result<DeviceCatalogue> devices = DeviceCatalogue::Load(at->cases() / "devices.json")) {
    for (const DeviceProfile& device : devices->devices()) known["--device"].push_back(device.id);
    known["--capability"] = devices->Capabilities();
    known["--capability"].emplace_back("all");
  }
  std::error_code ignored;
  if (!fs::is_directory(at->state, ignored)) return known;  // starting a shell makes no state
  ProvisionOptions offline;
  offline.state_dir = at->state;
  offline.cases_dir = at->cases();
  offline.offline = true;
  if (const Result<std::unique_ptr<Provisioner>> provisioner = Provisioner::Open(std::move(offline))) {
    known["--torch"] = Releases(AnsweredReleases(at->state / "catalogue.json", "torch"), (*provisioner)->ExpandTorch("all"));
    known["--liger"] = Releases(AnsweredReleases(at->state / "catalogue.json", "liger-kernel"), (*provisioner)->ExpandLiger("all"));
  }
  return known;
}

/// CLI11 says the words an option is checked against only in its type: "TEXT:{gate,seed,git-bisect}".
std::vector<std::string> CheckedWords(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return Split(std::string_view(type).substr(open + 1, close - open - 1), ',');
}

/// Types of which a path is one form, as the options declare them: "F", "DIR", "PATH", "V|PATH,..", "NAME|FILE.diff,..".
bool TakesFiles(const std::string& type, const std::string& argument) {
  for (const char* word : {"PATH", "FILE", "DIR"})
    if (type.find(word) != std::string::npos) return true;
  static const std::set<std::string> kArguments = {"LOG", "A", "B", "REPORT", "FROM", "PROGRAM"};
  return type == "F" || kArguments.count(argument) != 0;
}

CompletionCommand Describe(const CLI::App& app, const std::string& name, const KnownValues& known) {
  CompletionCommand command{name, app.get_description(), {}};
  for (const CLI::Option* option : app.get_options()) {
    CompletionOption out;
    for (const std::string& word : option->get_lnames()) out.names.push_back("--" + word);
    for (const std::string& word : option->get_snames()) out.names.push_back("-" + word);
    const std::string type = option->get_type_name(), argument = out.names.empty() ? option->get_name() : "";
    out.description = option->get_description();
    out.takes_value = option->get_expected_max() != 0;
    out.is_list = option->get_delimiter() == ',';
    const auto values = known.find(out.names.empty() ? argument : out.names.front());
    out.values = values != known.end() ? values->second : CheckedWords(type);
    out.takes_files = out.takes_value && TakesFiles(type, argument);
    command.options.push_back(std::move(out));
  }
  return command;
}

}  // namespace

void SetupCompletion(CLI::App& app, Command& chosen) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("completion", "print a script that completes this program's options in your shell");
  sub->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->footer("In ~/.bashrc or ~/.zshrc:       source <(flce-repro completion bash)   # or zsh\n"
              "In ~/.config/fish/config.fish:  flce-repro completion fish | source");
  sub->callback([&chosen, &app, shell] {
    chosen = [&app, shell](const std::vector<std::string>&) {
      const KnownValues known = FindKnownValues();
      std::vector<CompletionCommand> commands = {Describe(app, "", known)};
      for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) commands.push_back(Describe(*command, command->get_name(), known));
      std::fputs(CompletionScript(*shell, commands).c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace flce
