#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/dispatch/engine.h"

namespace flce {

/// Cells that wait for one environment.
struct PipelineGroup {
  std::string environment;
  std::vector<size_t> cells;  ///< the caller's numbers
};

struct PipelineHooks {
  /// Makes the group's environment ready. Called on a second thread, one group after the other, while cells run.
  std::function<Status(const PipelineGroup& group)> provision;
  /// Called on the caller's thread once the environment is ready.
  std::function<Result<CellJob>(size_t cell)> make_job;
  /// A cell ended. False gives up what is left (the journal's disk is full).
  std::function<bool(size_t cell, CellResult result)> on_result;
  /// A cell that cannot be run: its environment or its job could not be made. False gives up what is left.
  std::function<bool(size_t cell, const Error& error)> on_failure;
  /// Now and then, from the caller's thread: for a progress display. May be empty.
  std::function<void()> on_tick;
};

/// Runs groups in order, provisioning at most `lookahead` groups ahead of the ones whose cells are not all handed in, so
/// that the disk does not fill with environments nobody uses yet. Returns when everything ended, was given up, or an
/// interrupt was dealt with.
void RunPipeline(Engine& engine, const std::vector<PipelineGroup>& groups, const PipelineHooks& hooks, size_t lookahead = 2);

}  // namespace flce
