#include "harness/cli/rules.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "harness/cli/diff.h"
#include "harness/cli/locations.h"
#include "harness/cli/messages.h"
#include "harness/dispatch/history.h"
#include "harness/model/json_reader.h"
#include "harness/provision/provisioner.h"
#include "harness/verdict/rules.h"

namespace flce {
namespace {

struct RulesOptions {
  std::vector<std::string> from;
  HistoryFilter filter;
  bool releases = false;
  std::string json;
};

Result<std::vector<CellRecord>> Cells(const Locations& at, const RulesOptions& options) {
  std::vector<CellRecord> cells;
  for (const std::string& run : options.from) {
    FLCE_TRY(std::vector<CellRecord> more, LoadCells(at, run));
    cells.insert(cells.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (!options.from.empty()) return cells;
  FLCE_TRY_DO(PrepareState(at));
  FLCE_TRY(const History history, History::Open(at.state / "history.sqlite"));
  FLCE_TRY(std::vector<HistoryEntry> latest, history.Latest(options.filter));
  for (HistoryEntry& entry : latest) cells.push_back(std::move(entry.record));
  return cells;
}

/// What the package index knows, to name releases that nobody tested.
Result<KnownReleases> AskReleases(const Locations& at) {
  ProvisionOptions provision;
  provision.state_dir = at.state;
  provision.cases_dir = at.cases();
  FLCE_TRY(const std::unique_ptr<Provisioner> provisioner, Provisioner::Open(std::move(provision)));
  KnownReleases known;
  FLCE_TRY(known.torch, provisioner->ExpandTorch("all"));
  FLCE_TRY(known.liger, provisioner->ExpandLiger("all"));
  return known;
}

std::string TextOf(const std::vector<RuleGroup>& groups) {
  std::string text;
  for (const RuleGroup& group : groups) {
    text += group.case_name + ", fix " + group.fix + ", " + group.device + " (" + std::to_string(group.cells) + " cells)\n";
    size_t width = 0;
    for (const DerivedRule& rule : group.rules) width = std::max(width, rule.when.size());
    for (const DerivedRule& rule : group.rules)
      text += "  " + rule.when + std::string(width - rule.when.size(), ' ') + "  =>  " + rule.identity + "  (" + std::to_string(rule.cells) + ")\n";
    for (const std::string& line : group.contradictions) text += "  contradiction: " + line + "\n";
    for (const std::string& line : group.gaps) text += "  gap: " + line + "\n";
  }
  return text;
}

Json JsonOf(const std::vector<RuleGroup>& groups) {
  Json json = Json::array();
  for (const RuleGroup& group : groups) {
    Json rules = Json::array();
    for (const DerivedRule& rule : group.rules) rules.push_back({{"when", rule.when}, {"result", rule.identity}, {"cells", rule.cells}});
    json.push_back({{"case", group.case_name}, {"fix", group.fix}, {"device", group.device}, {"cells", group.cells}, {"rules", std::move(rules)},
                    {"contradictions", group.contradictions}, {"gaps", group.gaps}});
  }
  return json;
}

Result<int> Execute(const RulesOptions& options) {
  FLCE_TRY(const Locations at, FindLocations());
  FLCE_TRY(const std::vector<CellRecord> cells, Cells(at, options));
  if (cells.empty()) return Error{ErrorKind::kNotFound, "no cell is known: run a grid first, or name a report.json"};
  KnownReleases known;
  if (options.releases) {
    FLCE_TRY(known, AskReleases(at));
  }
  const std::vector<RuleGroup> groups = DeriveRules(cells, known);
  const std::string json = JsonOf(groups).dump(1) + "\n";
  if (!options.json.empty() && options.json != "-") FLCE_TRY_DO(WriteFileAtomically(options.json, json));
  std::fputs(options.json == "-" ? json.c_str() : TextOf(groups).c_str(), stdout);
  for (const RuleGroup& group : groups)
    if (!group.contradictions.empty()) return 1;
  return 0;
}

}  // namespace

void SetupRules(CLI::App& app, Command& chosen) {
  const auto options = std::make_shared<RulesOptions>();
  CLI::App* sub = app.add_subcommand("rules", "the version predicates that explain the cells known, and what is not tested");
  sub->add_option("FROM", options->from, "runs or report.json files; the newest result of each cell in the history if none is named");
  sub->add_option("--case", options->filter.case_name, "only this case (* is a wildcard)")->type_name("NAME");
  sub->add_option("--fix", options->filter.fix, "only this fix")->type_name("NAME");
  sub->add_flag("--releases", options->releases, "ask the package index, and name releases that were not tested");
  sub->add_option("--json", options->json, "write it as JSON (- is standard output)")->type_name("F");
  sub->footer("Exit codes: 0, or 1 if the same cell has different results.");
  sub->callback([&chosen, options] {
    chosen = [options](const std::vector<std::string>&) {
      const Result<int> result = Execute(*options);
      return result ? *result : PrintError(result.error());
    };
  });
}

}  // namespace flce
