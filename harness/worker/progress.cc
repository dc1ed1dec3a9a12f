#include "harness/worker/progress.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

namespace flce::worker {
namespace {

double Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

ProgressLog::ProgressLog(const std::filesystem::path& output_dir)
    : fd_(open((output_dir / "progress.ndjson").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)), started_(Now()) {}

ProgressLog::~ProgressLog() {
  if (fd_ >= 0) close(fd_);
}

void ProgressLog::Begin(std::string_view stage) {
  nlohmann::ordered_json line{{"stage", stage}, {"t", std::round((Now() - started_) * 1e3) / 1e3}};
  // One write, so that a line is whole even if two processes append.
  std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  [[maybe_unused]] ssize_t written = write(fd_, text.data(), text.size());
}

}  // namespace flce::worker
