#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "harness/dispatch/engine.h"
#include "harness/dispatch/process_host.h"

namespace flce {

/// One fresh process a cell, at most `jobs` at once. The only engine for real GPUs: a process that has touched CUDA
/// cannot fork.
class LocalEngine final : public Engine {
 public:
  LocalEngine(ProcessHost& host, int jobs) : host_(host), jobs_(jobs < 1 ? 1 : jobs) {}

  void Submit(CellJob job) override { queue_.push_back(std::move(job)); }
  size_t Unfinished() const override { return queue_.size() + running_.size(); }
  size_t Running() const override { return running_.size(); }
  std::vector<CellResult> Wait(double wait_s) override;

 private:
  struct RunningCell {
    CellJob job;
    uint64_t over_limit_bytes = 0;  // what it used when it was stopped for its memory; 0: it was not
  };
  static bool WasKilledFromOutside(const RunningCell& cell, const ProcessResult& process);
  void StartNext(std::vector<CellResult>& ended);
  void CheckMemory();
  CellResult Finish(RunningCell cell, const ProcessResult& result);

  ProcessHost& host_;
  size_t jobs_;
  std::deque<CellJob> queue_;
  std::map<int, RunningCell> running_;
};

}  // namespace flce
