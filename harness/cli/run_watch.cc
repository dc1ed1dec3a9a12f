#include "harness/cli/run_watch.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {

RunProgress::Options ProgressOnStderr(bool quiet, bool verbose) {
  RunProgress::Options options;
  const char* term = std::getenv("TERM");
  options.live = ::isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb" && *term != '\0';
  options.quiet = quiet;
  options.terminal = DetectTerminal(STDERR_FILENO);
  options.terminal.verbose = verbose;
  return options;
}

size_t StderrWidth() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void WriteToStderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::string LastStage(const fs::path& folder) {
  const std::string tail = ReadTail(folder / "progress.ndjson", 512);
  const std::vector<std::string_view> lines = Lines(tail);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const Result<Json> json = ParseJson(*line, "progress");  // the last line may be half written
    if (json && json->is_object() && json->contains("stage") && (*json)["stage"].is_string()) return (*json)["stage"].get<std::string>();
  }
  return "";
}

}  // namespace flce
