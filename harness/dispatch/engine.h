#pragma once

#include <functional>
#include <vector>

#include "harness/dispatch/cell_result.h"

namespace flce {

/// Runs cells. Jobs may be handed in while others run (an environment that has just become ready); results come as they
/// end, in any order.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void Submit(CellJob job) = 0;
  /// Jobs handed in whose result has not been returned.
  virtual size_t Unfinished() const = 0;
  /// Jobs that are running now.
  virtual size_t Running() const = 0;
  /// Moves on until a cell ends or `wait_s` passes, and returns those that ended. After an interrupt everything that is
  /// left comes back as interrupted.
  virtual std::vector<CellResult> Wait(double wait_s) = 0;
};

/// Runs all jobs; `on_result` sees each as it ends and returns false to give up the rest (the journal's disk is full).
void RunAll(Engine& engine, std::vector<CellJob> jobs, const std::function<bool(CellResult)>& on_result);

}  // namespace flce
