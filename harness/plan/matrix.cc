#include "harness/plan/matrix.h"

#include <algorithm>
#include <set>

namespace flce {
namespace {

bool MatchesAny(const std::vector<CellPattern>& patterns, const CellFacts& facts) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const CellPattern& pattern) { return pattern.Matches(facts); });
}

}  // namespace

Result<std::vector<Cell>> ExpandMatrix(const SelectionSpec& spec) {
  const std::pair<const char*, bool> axes[] = {{"torch", spec.torch.empty()},   {"liger", spec.liger.empty()},
                                               {"fix", spec.fixes.empty()},     {"device", spec.devices.empty()},
                                               {"case", spec.cases.empty()},    {"shape", spec.shapes.empty()},
                                               {"seed", spec.seeds.empty()}};
  for (const auto& [name, empty] : axes)
    if (empty) return Error{ErrorKind::kUsage, std::string("nothing is selected: the list of --") + name + " is empty"};

  std::vector<Cell> cells;
  std::set<std::string> seen;
  for (const std::string& torch : spec.torch)
    for (const std::string& liger : spec.liger)
      for (const std::string& fix : spec.fixes)
        for (const DeviceSpec& device : spec.devices)
          for (const std::string& case_name : spec.cases)
            for (const std::optional<Shape>& shape : spec.shapes)
              for (const std::optional<int64_t>& seed : spec.seeds) {
                Cell cell{case_name, torch, liger, fix, device, shape, seed};
                const CellFacts facts = FactsOf(cell);
                if (MatchesAny(spec.exclude, facts) || (!spec.only.empty() && !MatchesAny(spec.only, facts))) continue;
                if (seen.insert(cell.Id()).second) cells.push_back(std::move(cell));
              }
  return cells;
}

}  // namespace flce
