#pragma once

#include <filesystem>
#include <string_view>

namespace flce::worker {

/// Stages as they begin, a line each in `output_dir/progress.ndjson`: {"stage":"eager","t":1.234}, seconds since the
/// cell began. What is written before a crash stays. Failing to write is not an error: the case comes first.
class ProgressLog {
 public:
  explicit ProgressLog(const std::filesystem::path& output_dir);
  ProgressLog(const ProgressLog&) = delete;
  ProgressLog& operator=(const ProgressLog&) = delete;
  ~ProgressLog();

  void Begin(std::string_view stage);

 private:
  int fd_;
  double started_;
};

}  // namespace flce::worker
