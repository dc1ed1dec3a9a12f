#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

/// What more than one format says about a cell or a run, said in one place.
namespace flce {

/// How a cell looks in a matrix. Classes are what colours are chosen by; the sign tells them apart without colour.
enum class MarkClass {
  kSignature,     ///< reproduced: the sign is the signature's own mark
  kFixed,
  kNotAffected,
  kNotExercised,
  kNotCompiled,
  kUnexpected,
  kSkipped,
  kEagerFailed,
  kNumerics,
  kEnvironment,
  kCrashed,
  kTimedOut,
};
struct Mark {
  MarkClass mark_class = MarkClass::kEnvironment;
  std::string sign;        ///< "1", "✓", ...
  std::string ascii_sign;  ///< the same for terminals without UTF-8
  std::string label;       ///< "Tier 1", "fixed", "not affected", ...
};
Mark MarkOf(const CellRecord& cell, const ReportOptions& options);

/// The texts of a signature; without an entry the id serves as label and title.
SignatureText SignatureOf(const std::string& id, const ReportOptions& options);

/// "REPRODUCED", "NOT REPRODUCED (fixed)", ...: the seed's word, with the reason that qualifies it.
std::string VerdictWords(const CellRecord& cell);
/// "2.13.0+cu130" -> "2.13.0".
std::string PublicVersion(const std::string& version);
/// "emulated 9.0", "NVIDIA H200 (9.0)".
std::string DeviceWords(const CellRecord& cell);
/// "torch 2.13.0, Liger 0.8.5, fix guard, emulated 9.0, 2048x1024x151936": what tells the cell from its neighbours.
std::string CellWords(const CellRecord& cell);
/// What the result is worth, in a sentence.
std::string EvidenceWords(const CellRecord& cell);
/// "eager 627.60 MB, compiled 39.52 GB: 62.98 x", with the budget when there is one; "" without peaks.
std::string MemoryWords(const CellRecord& cell);
bool OverBudget(const CellRecord& cell);
/// "loss within bound (max 4.8e-07), grad_x bitwise, grad_w ..."; "" when nothing was compared.
std::string NumericsWords(const CellRecord& cell);
/// First line that says what failed: the line of the outermost exception that names the innermost one, so that a
/// message that opens with a general sentence still shows its cause. "" without an exception.
std::string FailureLine(const CellRecord& cell);
/// "as expected", "regressed: ...", ...; "" without a standing.
std::string StandingWords(const CellRecord& cell);

/// "4 of 4 came out as they must (clean, failing, crashed, timed_out)"; names those that did not. "" without controls.
std::string ControlsWords(const RunRecord& run);

/// Neighbouring tested versions with the same result.
struct Stretch {
  std::string from, to;  ///< as short as is unambiguous: "2.8", "2.12"
  bool to_newest = false;
  bool failing = false;
  std::string what;      ///< "Tier 1", "not affected"
};
/// Along torch, for one case without a fix (all Ligers and devices together: a failure anywhere counts).
std::vector<Stretch> TorchStretches(const RunRecord& run, const std::string& case_name, const ReportOptions& options);
/// "Tier 1 on torch 2.8 to 2.12, Tier 2 since 2.13 (newest tried: 2.15); not affected on 2.7."
std::string Headline(const RunRecord& run, const ReportOptions& options);

/// What is known of one fix over all its cells of one case.
struct FixSummary {
  std::string fix;
  int affected = 0, fixed = 0, failing = 0;    ///< affected: the call was made and compiled
  uint64_t eager_peak = 0, compiled_peak = 0;  ///< of the cell with the largest ratio
  double ratio = 0;                            ///< 0 when not measured
  bool over_budget = false;
  std::string shape;                           ///< of that cell
  std::string numerics;                        ///< of the cell with the largest difference in grad_w
  std::string verdict;                         ///< "fixed", "fixed in 3 cells, wrong numbers in 1"
  bool executed = false;                       ///< a real GPU ran some of it: times and values count
  /// Medians over those cells, milliseconds; nullopt where not measured. The first call holds the compile.
  std::optional<double> eager_ms, compiled_ms, first_ms;
};
std::vector<FixSummary> FixSummaries(const RunRecord& run, const std::string& case_name);
/// A warning where every measured peak is of toy tensors; "" otherwise.
std::string FixMemoryNote(const std::vector<FixSummary>& fixes);

/// The fixes of one case and shape beside each other, for a reader who has to choose.
struct FixTable {
  std::string case_name, shape;  ///< shape "" : the case's own
  std::vector<FixSummary> rows;
};
/// One for each case and shape that was run with a fix.
std::vector<FixTable> FixTables(const RunRecord& run, const ReportOptions& options);
/// "85 -> 46.6 ms, 1.84 s first"; "not measured" where no real GPU ran it.
std::string TimeWords(const FixSummary& fix);
/// "eager 85 ms, compiled 46.6 ms; first call, compile included, 1.84 s"; "" on the emulated device.
std::string TimeWords(const CellRecord& cell);

/// Distinct values in order of first appearance; versions in version order.
std::vector<std::string> CaseNames(const RunRecord& run);
std::vector<std::string> SortedVersions(std::vector<std::string> versions);
/// The cell a report opens with: what needs attention first, else a failure without a fix, else the first. Null for none.
const CellRecord* LeadingCell(const RunRecord& run);
/// True for cells a maintainer must look at: regressed, changed, improved, unexpected, broken numbers.
bool NeedsAttention(const CellRecord& cell);

}  // namespace flce
