// Implementation details: up to 0.8.2 the chunk is next_power_of_2(ceil(bt / ceil(v / h))); from 0.8.3 on the
// inner quotient is ceil(v / (budget * h)) and the chunk is capped at bt. The cap changes no cut, so that
// with a budget of 1 both are one rule.
#include "kernels/flce/chunks.h"

#include <algorithm>
#include <bit>

namespace flce {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

Result<ChunkRule> ChunkRule::Of(const Version& liger, std::optional<int64_t> budget) {
  if (budget && *budget < 1) return Error{ErrorKind::kUsage, "a chunk budget is at least 1"};
  static const Version kFirstWithBudget = *Version::Parse("0.8.3.dev0");
  if (budget && *budget != 1 && liger < kFirstWithBudget) {
    return Error{ErrorKind::kUsage,
                 "Liger " + liger.text() + " has no chunk budget; the first release with one is 0.8.3"};
  }
  return ChunkRule{budget.value_or(1)};
}

std::vector<Chunk> Chunks(int64_t bt, int64_t h, int64_t v, const ChunkRule& rule) {
  const int64_t parts = CeilDiv(v, rule.budget * h);
  const auto rows = static_cast<uint64_t>(CeilDiv(bt, parts));
  const auto size = std::min(static_cast<int64_t>(std::bit_ceil(rows)), bt);
  std::vector<Chunk> chunks;
  for (int64_t begin = 0; begin < bt; begin += size) chunks.push_back({begin, std::min(begin + size, bt)});
  return chunks;
}

}  // namespace flce
