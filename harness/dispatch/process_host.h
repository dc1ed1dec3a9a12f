#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/subprocess.h"

namespace flce {

/// Processes as an engine sees them; tests put a fake in its place.
class ProcessHost {
 public:
  virtual ~ProcessHost() = default;
  /// A handle for the new process. An Error means that it could not be started.
  virtual Result<int> Start(ProcessOptions options) = 0;
  /// Those that ended, after at most `wait_s`. An interrupt stops every process.
  virtual std::vector<std::pair<int, ProcessResult>> Wait(double wait_s) = 0;
  /// Begins the stop ladder of one process.
  virtual void Stop(int handle) = 0;
  /// Resident memory of the process and all of its group, in bytes; 0 if unknown.
  virtual uint64_t ResidentBytes(int handle) = 0;
};

/// Real processes.
class LocalProcessHost final : public ProcessHost {
 public:
  ~LocalProcessHost() override;
  Result<int> Start(ProcessOptions options) override;
  std::vector<std::pair<int, ProcessResult>> Wait(double wait_s) override;
  void Stop(int handle) override;
  uint64_t ResidentBytes(int handle) override;

 private:
  std::vector<std::pair<int, std::unique_ptr<Subprocess>>> children_;
  ProcessSet set_;
  int next_ = 1;
};

/// Resident memory of every process of a group, in bytes.
uint64_t GroupResidentBytes(pid_t group);

}  // namespace flce
