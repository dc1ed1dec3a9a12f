#pragma once

#include <string>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

namespace flce {

/// GitHub shows at most so many annotations of a kind per step.
constexpr size_t kAnnotationLimit = 10;
/// GitHub refuses a larger step summary (1 MiB); some room is left for what else the step writes.
constexpr size_t kStepSummaryLimit = 1000 * 1000;

/// Workflow commands for what needs attention, for standard output: regressions and failures as errors, changes,
/// improvements and inconclusive cells as warnings, and one notice with the headline. The last of a kind counts the rest.
std::string RenderGithubAnnotations(const RunRecord& run, const ReportOptions& options);
/// Markdown for $GITHUB_STEP_SUMMARY.
std::string RenderGithubSummary(const RunRecord& run, const ReportOptions& options);

}  // namespace flce
