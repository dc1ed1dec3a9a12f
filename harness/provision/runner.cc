#include "harness/provision/runner.h"

namespace flce {

Result<ProcessResult> SystemRunner::Run(const ProcessOptions& options, const std::function<void(pid_t)>& on_tick) {
  constexpr double kTickSeconds = 0.5;
  FLCE_TRY(const std::unique_ptr<Subprocess> child, Subprocess::Start(options));
  ProcessSet set;
  set.Add(child.get());
  while (set.size() > 0) {
    set.Wait(kTickSeconds);
    if (on_tick && !child->finished()) on_tick(child->pid());
  }
  return child->result();
}

}  // namespace flce
