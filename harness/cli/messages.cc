#include "harness/cli/messages.h"

#include <cstdio>

#include "harness/base/text.h"

namespace flce {

int PrintError(const Error& error) {
  std::fprintf(stderr, "flce-repro: %s\n", ReplaceAll(error.message, "\n", "\n  ").c_str());
  return ExitCodeOf(error.kind);
}

}  // namespace flce
