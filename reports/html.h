#pragma once

#include <string>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

namespace flce {

/// The run as one self-contained page without network access: a heat map of torch, Liger and capability per case and
/// fix, filters, and every cell in full. `before`, if given, is an earlier run to compare with: what differs is marked.
/// Texts reach the page as data only, never as markup.
std::string RenderHtml(const RunRecord& run, const ReportOptions& options, const RunRecord* before);
std::string RenderHtml(const RunRecord& run, const ReportOptions& options);

/// JSON that may stand in a <script> element: "<" and the line separators of JavaScript are escaped.
std::string JsonForScript(std::string json);

}  // namespace flce
