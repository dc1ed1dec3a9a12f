#include "harness/cli/diff.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "harness/base/text.h"
#include "harness/cli/messages.h"
#include "harness/cli/table.h"
#include "harness/dispatch/history.h"
#include "harness/model/json_reader.h"
#include "harness/verdict/run_diff.h"

namespace flce {
namespace {

struct DiffOptions {
  std::string a, b, json;
  bool all = false;
};

int CodeOf(const std::vector<CellDifference>& differences) {
  bool fixed = false;
  for (const CellDifference& difference : differences) {
    if (difference.kind == Difference::kBroke || difference.kind == Difference::kChanged) return 1;
    fixed |= difference.kind == Difference::kFixed;
  }
  return fixed ? 3 : 0;
}

std::string TextOf(const std::vector<CellDifference>& differences, bool all) {
  Table table({"what", "cell", "before", "after"});
  std::map<Difference, int> counts;
  for (const CellDifference& d : differences) {
    ++counts[d.kind];
    if (d.kind != Difference::kSame || all) table.Add({std::string(Text(d.kind)), d.cell, d.before.empty() ? "-" : d.before, d.after.empty() ? "-" : d.after});
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : counts) parts.push_back(std::to_string(count) + " " + std::string(Text(kind)));
  const bool rows = all || counts.size() > 1 || counts.count(Difference::kSame) == 0;
  return (rows && !differences.empty() ? table.Render() : "") + (parts.empty() ? "no cell in either run" : Join(parts, ", ")) + "\n";
}

Json JsonOf(const std::vector<CellDifference>& differences) {
  Json json = Json::array();
  for (const CellDifference& d : differences)
    json.push_back({{"kind", Text(d.kind)}, {"cell", d.cell}, {"before", d.before}, {"after", d.after}});
  return json;
}

Result<int> Execute(const DiffOptions& options) {
  FLCE_TRY(const Locations at, FindLocations());
  FLCE_TRY(const std::vector<CellRecord> before, LoadCells(at, options.a));
  FLCE_TRY(const std::vector<CellRecord> after, LoadCells(at, options.b));
  const std::vector<CellDifference> differences = DiffRuns(before, after);
  if (options.json == "-") {
    std::fputs((JsonOf(differences).dump(1) + "\n").c_str(), stdout);
  } else {
    if (!options.json.empty()) FLCE_TRY_DO(WriteFileAtomically(options.json, JsonOf(differences).dump(1) + "\n"));
    std::fputs(TextOf(differences, options.all).c_str(), stdout);
  }
  return CodeOf(differences);
}

}  // namespace

Result<std::vector<CellRecord>> LoadCells(const Locations& at, const std::string& run_or_report) {
  std::error_code code;
  if (fs::is_regular_file(run_or_report, code) || run_or_report.find('/') != std::string::npos) {
    FLCE_TRY(const std::string text, ReadFile(run_or_report));
    FLCE_TRY(const Json json, ParseJson(text, run_or_report));
    FLCE_TRY(RunRecord run, RunRecordFromJson(json));
    return std::move(run.cells);
  }
  FLCE_TRY_DO(PrepareState(at));
  FLCE_TRY(const History history, History::Open(at.state / "history.sqlite"));
  return history.CellsOf(run_or_report);
}

void SetupDiff(CLI::App& app, Command& chosen) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App* sub = app.add_subcommand("diff", "what broke, was fixed or changed between two runs");
  sub->add_option("A", options->a, "the earlier run: its id, last~1, or a report.json")->required();
  sub->add_option("B", options->b, "the later one: its id, last, or a report.json")->required();
  sub->add_option("--json", options->json, "write it as JSON (- is standard output)")->type_name("F");
  sub->add_flag("--all", options->all, "also cells that are the same");
  sub->footer("Exit codes: 0 nothing broke or changed, 1 something did, 3 some were fixed and nothing else.");
  sub->callback([&chosen, options] {
    chosen = [options](const std::vector<std::string>&) {
      const Result<int> result = Execute(*options);
      return result ? *result : PrintError(result.error());
    };
  });
}

}  // namespace flce
