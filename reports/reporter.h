#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

namespace flce {

/// One format of the report. Writers are pure: the caller writes the text to a file, whole or not at all.
struct Reporter {
  std::string_view name;       ///< as in "--json"
  std::string_view file_name;  ///< where it lies in a run's folder
  std::string_view what;       ///< one line for help
  std::string (*render)(const RunRecord& run, const ReportOptions& options);
};

/// json, junit, markdown, html, github-summary, github-annotations.
const std::vector<Reporter>& Reporters();
/// Null for an unknown name.
const Reporter* FindReporter(std::string_view name);

/// The report as reports/schema/report.schema.json describes it, every text as it was: what a run's folder keeps. The format
/// "json" above is the same without names of people and machines. Valid UTF-8 whatever the run holds.
std::string RenderRecord(const RunRecord& run);
/// The text of reports/schema/report.schema.json.
std::string_view ReportSchema();

}  // namespace flce
