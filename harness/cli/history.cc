#include "harness/cli/history.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "harness/base/text.h"
#include "harness/cli/locations.h"
#include "harness/cli/messages.h"
#include "harness/cli/table.h"
#include "harness/dispatch/history.h"
#include "harness/model/identity.h"
#include "harness/model/json_reader.h"
#include "harness/verdict/run_diff.h"

namespace flce {
namespace {

struct HistoryOptions {
  HistoryFilter filter;
  bool runs = false, all = false;
  std::string json;
};

/// Consecutive entries of one cell.
struct CellHistory {
  std::vector<const HistoryEntry*> entries;
  std::vector<size_t> changes;
};

std::vector<CellHistory> ByCell(const std::vector<HistoryEntry>& entries) {
  std::vector<CellHistory> cells;
  for (const HistoryEntry& entry : entries) {
    if (cells.empty() || cells.back().entries.back()->record.id != entry.record.id) cells.emplace_back();
    cells.back().entries.push_back(&entry);
  }
  for (CellHistory& cell : cells) {
    std::vector<const CellRecord*> records;
    for (const HistoryEntry* entry : cell.entries) records.push_back(&entry->record);
    cell.changes = ChangesOverTime(records);
  }
  return cells;
}

Json CellsJson(const std::vector<CellHistory>& cells) {
  Json json = Json::array();
  for (const CellHistory& cell : cells) {
    Json changes = Json::array();
    for (size_t index : cell.changes) {
      const HistoryEntry& entry = *cell.entries[index];
      changes.push_back({{"at", entry.at}, {"run", entry.run}, {"result", IdentityOf(entry.record.verdict)}});
    }
    json.push_back({{"cell", cell.entries.front()->record.id}, {"runs", cell.entries.size()}, {"changes", std::move(changes)}});
  }
  return json;
}

Result<std::string> RunsText(const History& history) {
  FLCE_TRY(const std::vector<HistoryRun> runs, history.Runs());
  Table table({"run", "started", "cells", "exit", "command"});
  for (const HistoryRun& run : runs)
    table.Add({run.id, run.started, std::to_string(run.cells), std::to_string(run.exit_code), Join(run.argv, " ")});
  return table.Render();
}

std::string CellsText(const std::vector<CellHistory>& cells, bool all) {
  Table table({"cell", "since", "run", "result"});
  size_t steady = 0;
  for (const CellHistory& cell : cells) {
    // A cell that always gave the same is one line with --all, and a number without.
    if (cell.changes.size() < 2 && !all) {
      ++steady;
      continue;
    }
    for (size_t index : cell.changes) {
      const HistoryEntry& entry = *cell.entries[index];
      table.Add({index == cell.changes.front() ? entry.record.id : "", entry.at, entry.run, IdentityOf(entry.record.verdict)});
    }
  }
  std::string text = steady == cells.size() ? "" : table.Render();
  if (steady > 0) text += std::to_string(steady) + " of " + std::to_string(cells.size()) + " cells never changed (--all lists them)\n";
  return text;
}

Result<std::string> Render(const HistoryOptions& options) {
  FLCE_TRY(const Locations at, FindLocations());
  FLCE_TRY_DO(PrepareState(at));
  FLCE_TRY(const History history, History::Open(at.state / "history.sqlite"));
  if (options.runs) return RunsText(history);
  FLCE_TRY(const std::vector<HistoryEntry> entries, history.Entries(options.filter));
  if (entries.empty()) return Error{ErrorKind::kNotFound, "the history holds no such cell"};
  const std::vector<CellHistory> cells = ByCell(entries);
  if (!options.json.empty()) return CellsJson(cells).dump(1) + "\n";
  return CellsText(cells, options.all);
}

int RunHistory(const HistoryOptions& options) {
  const Result<std::string> text = Render(options);
  if (!text) return PrintError(text.error());
  if (!options.json.empty() && options.json != "-") {
    const Status written = WriteFileAtomically(options.json, *text);
    return written ? 0 : PrintError(written.error());
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

void SetupHistory(CLI::App& app, Command& chosen) {
  const auto options = std::make_shared<HistoryOptions>();
  CLI::App* sub = app.add_subcommand("history", "when the result of each cell changed, over all runs");
  sub->add_option("--case", options->filter.case_name, "only this case (* is a wildcard, here and below)")->type_name("NAME");
  sub->add_option("--torch", options->filter.torch, "only this torch")->type_name("V");
  sub->add_option("--liger", options->filter.liger, "only this Liger")->type_name("V");
  sub->add_option("--fix", options->filter.fix, "only this fix")->type_name("NAME");
  sub->add_option("--capability", options->filter.capability, "only this capability")->type_name("M.m");
  sub->add_option("--cell", options->filter.cell, "only this cell")->type_name("ID");
  sub->add_flag("--runs", options->runs, "list the runs instead");
  sub->add_flag("--all", options->all, "also cells that never changed");
  sub->add_option("--json", options->json, "write it as JSON (- is standard output)")->type_name("F");
  sub->callback([&chosen, options] { chosen = [options](const std::vector<std::string>&) { return RunHistory(*options); }; });
}

}  // namespace flce
