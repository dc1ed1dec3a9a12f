#pragma once

#include "harness/cli/locations.h"
#include "harness/cli/run_data.h"
#include "harness/cli/run_options.h"
#include "harness/model/run_record.h"
#include "reports/report_options.h"

namespace flce {

/// Where each format goes; "" none, "-" standard output.
struct OutputFiles {
  std::string json, junit, markdown, html;
};

/// What the writers say about signatures, cases, fixes and locks, from the data files and the state directory.
ReportOptions MakeReportOptions(const Locations& at, const RunData& data, const RunRecord& run);

/// Standard output can take one format, and no terminal text beside it: kUsage otherwise.
Status CheckOutputs(const OutputFiles& files);

/// Writes every format that was asked for, whole or not at all, and GitHub's when run under Actions.
Status WriteOutputs(const RunRecord& run, const ReportOptions& options, const OutputFiles& files);

/// The verdict on the terminal; nothing when a format was sent to standard output.
void PrintVerdict(const RunRecord& run, const ReportOptions& options, const OutputFiles& files, bool quiet, bool verbose);

}  // namespace flce
