#pragma once

#include <sys/types.h>

#include <functional>

#include "harness/base/result.h"
#include "harness/base/subprocess.h"

namespace flce {

/// Starts programs: the edge at which tests put a fake uv.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  /// Runs to the end. `on_tick` (may be empty) is called about twice a second while the program runs.
  virtual Result<ProcessResult> Run(const ProcessOptions& options, const std::function<void(pid_t)>& on_tick) = 0;
};

/// Real processes.
class SystemRunner : public ProcessRunner {
 public:
  Result<ProcessResult> Run(const ProcessOptions& options, const std::function<void(pid_t)>& on_tick) override;
};

}  // namespace flce
