#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/base/version.h"

namespace flce {

/// Rows [begin, end) of the input that are worked on together.
struct Chunk {
  int64_t begin = 0;
  int64_t end = 0;
};

/// How a Liger release cuts its rows. `budget` bounds a chunk's logits to about budget x bt x h elements.
struct ChunkRule {
  int64_t budget = 1;

  /// Releases before 0.8.3 know no budget: it is 1 there, and kUsage if another one is asked for.
  static Result<ChunkRule> Of(const Version& liger, std::optional<int64_t> budget);
};

/// The chunks of `bt` rows of `h` columns against a vocabulary of `v`; all at least 1.
std::vector<Chunk> Chunks(int64_t bt, int64_t h, int64_t v, const ChunkRule& rule);

}  // namespace flce
