#include "harness/verdict/run_diff.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "harness/model/identity.h"

namespace flce {
namespace {

struct Row {
  Difference value;
  std::string_view text;
};
constexpr std::array kRows = {Row{Difference::kBroke, "broke"},         Row{Difference::kFixed, "fixed"}, Row{Difference::kChanged, "changed"},
                              Row{Difference::kUndecided, "undecided"}, Row{Difference::kNew, "new"},     Row{Difference::kGone, "gone"},
                              Row{Difference::kSame, "same"}};

bool IsSoundPass(const Verdict& verdict) {
  return verdict.outcome == Outcome::kNotReproduced && (verdict.reason == Reason::kFixed || verdict.reason == Reason::kNotAffected);
}

Difference Compare(const Verdict& before, const Verdict& after) {
  if (IdentityOf(before) == IdentityOf(after)) return Difference::kSame;
  if (!Decides(before) || !Decides(after)) return Decides(before) == Decides(after) ? Difference::kChanged : Difference::kUndecided;
  if (!IsFailure(before.outcome) && IsFailure(after.outcome)) return Difference::kBroke;
  if (IsFailure(before.outcome) && IsSoundPass(after)) return Difference::kFixed;
  return Difference::kChanged;
}

}  // namespace

std::string_view Text(Difference value) {
  for (const Row& row : kRows)
    if (row.value == value) return row.text;
  return "";
}

std::vector<CellDifference> DiffRuns(const std::vector<CellRecord>& before, const std::vector<CellRecord>& after) {
  std::map<std::string, std::pair<const CellRecord*, const CellRecord*>> cells;
  for (const CellRecord& cell : before) cells[cell.id].first = &cell;
  for (const CellRecord& cell : after) cells[cell.id].second = &cell;
  std::vector<CellDifference> differences;
  for (const auto& [id, pair] : cells) {
    const auto& [old, now] = pair;
    CellDifference difference;
    difference.cell = id;
    if (old != nullptr) difference.before = IdentityOf(old->verdict);
    if (now != nullptr) difference.after = IdentityOf(now->verdict);
    difference.kind = old == nullptr ? Difference::kNew : now == nullptr ? Difference::kGone : Compare(old->verdict, now->verdict);
    differences.push_back(std::move(difference));
  }
  std::stable_sort(differences.begin(), differences.end(), [](const CellDifference& a, const CellDifference& b) { return a.kind < b.kind; });
  return differences;
}

std::vector<size_t> ChangesOverTime(const std::vector<const CellRecord*>& results) {
  std::vector<size_t> changes;
  std::optional<std::string> last;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!Decides(results[i]->verdict)) continue;
    const std::string identity = IdentityOf(results[i]->verdict);
    if (last != identity) changes.push_back(i);
    last = identity;
  }
  return changes;
}

}  // namespace flce
