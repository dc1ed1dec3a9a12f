#pragma once

#include <string>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

namespace flce {

/// GitHub refuses a comment of more characters.
constexpr size_t kCommentLimit = 65536;

/// The run as an issue comment, below `limit` bytes: verdict, environment, proof, fixes, matrix, script, lock. What does
/// not fit goes, least important first, and is named. Nothing in it names a person or a machine.
std::string RenderMarkdown(const RunRecord& run, const ReportOptions& options, size_t limit);
std::string RenderMarkdown(const RunRecord& run, const ReportOptions& options);

}  // namespace flce
