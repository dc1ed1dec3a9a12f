#pragma once

#include <string>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

namespace flce {

/// JUnit XML as GitLab, Jenkins and the viewers on GitHub read it. A suite per case, a test per cell.
///
/// | cell                                                    | element                                        |
/// | ------------------------------------------------------- | ---------------------------------------------- |
/// | fails as expected                                       | skipped, type flce.xfail, message "XFAIL: ..." |
/// | improved                                                | failure, type flce.xpass, message "XPASS: ..." |
/// | regressed, changed, or an unlisted failure              | failure, type flce.<outcome>                   |
/// | environment or time-out that is not expected            | error, type flce.<outcome>                     |
/// | skipped                                                 | skipped, type flce.skipped                     |
/// | anything else                                           | passes                                         |
std::string RenderJunit(const RunRecord& run, const ReportOptions& options);

/// Text for XML: what XML 1.0 does not allow and what would end a section becomes visible text.
std::string XmlText(std::string_view text);

}  // namespace flce
