#include "harness/dispatch/resume.h"

#include "harness/base/text.h"

namespace flce {
namespace {

/// "the case file changed, worker build changed": the inputs that differ.
std::string Difference(const CellKey& now, const CellKey& before) {
  std::vector<std::string> changed;
  for (const auto& [name, hash] : now.inputs) {
    const auto old = before.inputs.find(name);
    if (old == before.inputs.end()) {
      changed.push_back(name + " is new");
    } else if (old->second != hash) {
      changed.push_back(name + " changed");
    }
  }
  for (const auto& [name, hash] : before.inputs)
    if (now.inputs.find(name) == now.inputs.end()) changed.push_back(name + " is gone");
  return Join(changed, ", ");
}

}  // namespace

std::vector<ResumeDecision> PlanResume(const std::vector<WantedCell>& wanted, const JournalContent* earlier) {
  std::vector<ResumeDecision> decisions;
  for (const WantedCell& cell : wanted) {
    const JournalEntry* entry = earlier == nullptr ? nullptr : earlier->Find(cell.key.cell_id);
    const bool same = entry != nullptr && entry->key == cell.key;
    ResumeDecision decision;
    if (same && entry->record.verdict.outcome != Outcome::kEnvironment) {
      decision = {CellAction::kReuse, "the same inputs gave " + std::string(Text(entry->record.verdict.outcome)) + " before", entry};
    } else if (!cell.cannot_run.empty()) {
      decision = {CellAction::kSkip, cell.cannot_run, nullptr};
    } else if (earlier == nullptr) {
      decision.why = "a new run";
    } else if (entry == nullptr) {
      decision.why = "not finished before";
    } else if (!same) {
      decision.why = Difference(cell.key, entry->key);
    } else {
      decision.why = "the environment failed before";
    }
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

}  // namespace flce
