#include "harness/cli/report.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "harness/cli/messages.h"
#include "harness/cli/outputs.h"
#include "harness/model/json_reader.h"
#include "reports/html.h"

namespace flce {
namespace {

struct ReportCommand {
  std::vector<std::string> reports;
  OutputFiles files;
  std::string before;
  bool quiet = false, verbose = false;
};

Result<RunRecord> ReadReport(const std::string& file) {
  FLCE_TRY(const std::string text, ReadFile(file));
  FLCE_TRY(const Json json, ParseJson(text, file));
  Result<RunRecord> run = RunRecordFromJson(json);
  if (!run) return Error{run.error().kind, file + ": " + run.error().message};
  return run;
}

/// Several reports become one: the cells of all, a later report's cell in place of an earlier one with the same id.
Result<RunRecord> ReadReports(const std::vector<std::string>& files) {
  FLCE_TRY(RunRecord merged, ReadReport(files.front()));
  for (size_t i = 1; i < files.size(); ++i) {
    FLCE_TRY(const RunRecord next, ReadReport(files[i]));
    for (const CellRecord& cell : next.cells) {
      const auto same = [&](const CellRecord& known) { return known.id == cell.id; };
      const auto it = std::find_if(merged.cells.begin(), merged.cells.end(), same);
      if (it == merged.cells.end()) {
        merged.cells.push_back(cell);
      } else {
        *it = cell;
      }
    }
    merged.finished = std::max(merged.finished, next.finished);
    merged.exit_code = std::max(merged.exit_code, next.exit_code);
  }
  return merged;
}

Status Report(const ReportCommand& command) {
  FLCE_TRY_DO(CheckOutputs(command.files));
  FLCE_TRY(const Locations at, FindLocations());
  FLCE_TRY(const RunData data, RunData::Load(at));
  FLCE_TRY(const RunRecord run, ReadReports(command.reports));
  ReportOptions options = MakeReportOptions(at, data, run);
  options.report_path = command.reports.front();
  PrintVerdict(run, options, command.files, command.quiet, command.verbose);
  OutputFiles files = command.files;
  if (!command.before.empty()) {
    // The page alone draws two runs.
    if (files.html.empty() || files.html == "-") return Error{ErrorKind::kUsage, "--before " + command.before + ": the page compares; add --html FILE"};
    FLCE_TRY(const RunRecord before, ReadReport(command.before));
    FLCE_TRY_DO(WriteFileAtomically(files.html, RenderHtml(run, options, &before)));
    files.html.clear();
  }
  return WriteOutputs(run, options, files);
}

}  // namespace

void SetupReport(CLI::App& app, Command& chosen) {
  const auto command = std::make_shared<ReportCommand>();
  CLI::App* sub = app.add_subcommand("report", "show JSON reports, and write them in other formats");
  sub->add_option("REPORT", command->reports, "JSON reports; several are merged")->required();
  sub->add_option("--json", command->files.json, "write the merged JSON report (- is standard output)")->type_name("F");
  sub->add_option("--junit", command->files.junit, "write JUnit XML")->type_name("F");
  sub->add_option("--markdown", command->files.markdown, "write a comment for an issue")->type_name("F");
  sub->add_option("--html", command->files.html, "write a page")->type_name("F");
  sub->add_option("--before", command->before, "an earlier report, whose differences the page shows")->type_name("FILE.json");
  sub->add_flag("-q,--quiet", command->quiet, "print only the verdict");
  sub->add_flag("-v,--verbose", command->verbose, "print everything");
  sub->callback([&chosen, command] {
    chosen = [command](const std::vector<std::string>&) {
      const Status done = Report(*command);
      return done ? 0 : PrintError(done.error());
    };
  });
}

}  // namespace flce
