#pragma once

#include <string>
#include <vector>

#include "harness/model/run_record.h"

namespace flce {

/// `run` for the eyes of others: free text and paths (messages, frames, argv, host, the Liger tree) without what names a
/// person or a machine, as Scrub does it with `private_words`. Figures, ids, vocabulary words and order stay as they are.
RunRecord Publishable(RunRecord run, const std::vector<std::string>& private_words);

}  // namespace flce
