#pragma once

#include <cstdint>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

/// Runs for tests and pictures. Figures and texts are those of real cells; the runs themselves are made up.
namespace flce::testing {

/// Two tiers, three Ligers, four capabilities, fixes, and one cell of every outcome: about 200 cells.
RunRecord SampleRun();
/// The same matrix a night later: cells fixed on the newest torch, and some regressed.
RunRecord LaterSampleRun();
/// At least `cells` cells, as a matrix.
RunRecord LargeRun(size_t cells);
/// Four cases on three torches at one place, one of them with two seeds, and one case at two places.
RunRecord ManyCasesRun();
/// The seed's cell on torch 2.13.0: Tier 2.
CellRecord TierTwoCell();
/// A run whose texts are hostile in every member that comes from outside: markup, control characters, bidirectional text,
/// long lines, invalid UTF-8. The same for the same `seed`.
RunRecord HostileRun(uint64_t seed);
/// Texts of the signatures and cases of SampleRun.
ReportOptions SampleOptions();

}  // namespace flce::testing
