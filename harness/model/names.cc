#include "harness/model/names.h"

#include <array>

namespace flce {
namespace {

struct OutcomeRow {
  Outcome value;
  std::string_view text, label;
  bool is_failure, is_inconclusive;
};
constexpr OutcomeRow kOutcomes[] = {
    {Outcome::kReproduced, "reproduced", "REPRODUCED", true, false},
    {Outcome::kNotReproduced, "not_reproduced", "NOT REPRODUCED", false, false},
    {Outcome::kUnexpected, "unexpected", "UNEXPECTED", true, false},
    {Outcome::kSkipped, "skipped", "SKIP", false, false},
    {Outcome::kEagerFailed, "eager_failed", "EAGER FAILED", true, false},
    {Outcome::kNumericsMismatch, "numerics_mismatch", "NUMERICS MISMATCH", true, false},
    {Outcome::kEnvironment, "environment", "ENVIRONMENT", false, true},
    {Outcome::kCrashed, "crashed", "CRASHED", true, false},
    {Outcome::kTimedOut, "timed_out", "TIMED OUT", false, true},
};

template <typename E>
struct Row {
  E value;
  std::string_view text;
};
constexpr Row<Reason> kReasons[] = {
    {Reason::kNone, ""},
    {Reason::kFixed, "fixed"},
    {Reason::kNotAffected, "not_affected"},
    {Reason::kNotExercised, "not_exercised"},
    {Reason::kNotCompiled, "not_compiled"},
    {Reason::kFixDoesNotApply, "fix_does_not_apply"},
    {Reason::kFixNoEffect, "fix_no_effect"},
    {Reason::kUnsupported, "unsupported"},
    {Reason::kNotProvisioned, "not_provisioned"},
    {Reason::kOutOfMemory, "out_of_memory"},
};
constexpr Row<Standing> kStandings[] = {{Standing::kExpected, "expected"},
                                        {Standing::kRegressed, "regressed"},
                                        {Standing::kImproved, "improved"},
                                        {Standing::kChanged, "changed"},
                                        {Standing::kUnlisted, "unlisted"}};
constexpr Row<Evidence> kEvidences[] = {{Evidence::kExecuted, "executed"}, {Evidence::kEmulated, "emulated"}};
constexpr Row<Stage> kStages[] = {{Stage::kImport, "import"},     {Stage::kDevice, "device"},
                                  {Stage::kEager, "eager"},       {Stage::kDynamo, "dynamo"},
                                  {Stage::kDecomposition, "decomposition"}, {Stage::kLowering, "lowering"},
                                  {Stage::kCodegen, "codegen"},   {Stage::kLaunch, "launch"},
                                  {Stage::kBackward, "backward"}, {Stage::kNumerics, "numerics"}};
constexpr Row<DeviceKind> kDeviceKinds[] = {{DeviceKind::kEmulated, "emulated"}, {DeviceKind::kCuda, "cuda"}};

template <typename Table, typename E>
const auto& RowOf(const Table& table, E value) {
  for (const auto& row : table)
    if (row.value == value) return row;
  return table[0];
}

template <typename E, typename Table>
std::optional<E> Find(const Table& table, std::string_view text) {
  for (const auto& row : table)
    if (row.text == text) return row.value;
  return std::nullopt;
}

template <typename E, typename Table>
std::vector<E> Values(const Table& table) {
  std::vector<E> values;
  for (const auto& row : table) values.push_back(row.value);
  return values;
}

}  // namespace

std::string_view Text(Outcome value) { return RowOf(kOutcomes, value).text; }
std::string_view Text(Reason value) { return RowOf(kReasons, value).text; }
std::string_view Text(Standing value) { return RowOf(kStandings, value).text; }
std::string_view Text(Evidence value) { return RowOf(kEvidences, value).text; }
std::string_view Text(Stage value) { return RowOf(kStages, value).text; }
std::string_view Text(DeviceKind value) { return RowOf(kDeviceKinds, value).text; }

std::string_view Label(Outcome value) { return RowOf(kOutcomes, value).label; }
bool IsFailure(Outcome value) { return RowOf(kOutcomes, value).is_failure; }
bool IsInconclusive(Outcome value) { return RowOf(kOutcomes, value).is_inconclusive; }

std::optional<Outcome> ParseOutcome(std::string_view text) { return Find<Outcome>(kOutcomes, text); }
std::optional<Reason> ParseReason(std::string_view text) { return Find<Reason>(kReasons, text); }
std::optional<Standing> ParseStanding(std::string_view text) { return Find<Standing>(kStandings, text); }
std::optional<Evidence> ParseEvidence(std::string_view text) { return Find<Evidence>(kEvidences, text); }
std::optional<Stage> ParseStage(std::string_view text) { return Find<Stage>(kStages, text); }
std::optional<DeviceKind> ParseDeviceKind(std::string_view text) { return Find<DeviceKind>(kDeviceKinds, text); }

const std::vector<Outcome>& AllOutcomes() {
  static const std::vector<Outcome> all = Values<Outcome>(kOutcomes);
  return all;
}
const std::vector<Standing>& AllStandings() {
  static const std::vector<Standing> all = Values<Standing>(kStandings);
  return all;
}

}  // namespace flce
