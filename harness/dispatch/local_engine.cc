#include "harness/dispatch/local_engine.h"

#include <algorithm>
#include <csignal>

#include "harness/base/text.h"

namespace flce {
namespace {

/// Between two looks at the memory of cells that have a limit.
constexpr double kMemoryPeriod = 0.25;

CellResult NotStarted(CellJob job, const Error& error) {
  ProcessEnd end;
  end.kind = ProcessEnd::Kind::kNotStarted;
  end.detail = error.message;
  CellResult result;
  result.observation = CollectObservation(job, end);
  result.job = std::move(job);
  return result;
}

}  // namespace

void LocalEngine::StartNext(std::vector<CellResult>& ended) {
  CellJob job = std::move(queue_.front());
  queue_.pop_front();
  const Status prepared = PrepareCellFolder(job);
  if (!prepared) return ended.push_back(NotStarted(std::move(job), prepared.error()));
  Result<ProcessOptions> options = WorkerProcess(job);
  if (!options) return ended.push_back(NotStarted(std::move(job), options.error()));
  Result<int> handle = host_.Start(std::move(*options));
  if (!handle) return ended.push_back(NotStarted(std::move(job), handle.error()));
  running_.emplace(*handle, RunningCell{std::move(job)});
}

void LocalEngine::CheckMemory() {
  for (auto& [handle, cell] : running_) {
    if (cell.job.memory_limit_bytes == 0 || cell.over_limit_bytes > 0) continue;
    const uint64_t used = host_.ResidentBytes(handle);
    if (used <= cell.job.memory_limit_bytes) continue;
    cell.over_limit_bytes = used;
    host_.Stop(handle);
  }
}

bool LocalEngine::WasKilledFromOutside(const RunningCell& cell, const ProcessResult& process) {
  const auto* signaled = std::get_if<Signaled>(&process.state);
  return signaled != nullptr && signaled->signal == SIGKILL && cell.over_limit_bytes == 0 && cell.job.kills < kKillsForgiven &&
         !Interrupt::Requested();
}

CellResult LocalEngine::Finish(RunningCell cell, const ProcessResult& process) {
  const CellFiles files(cell.job.request.output_dir);
  ProcessEnd end = EndOf(process, files.err);
  CellResult result;
  result.interrupted = std::holds_alternative<Stopped>(process.state) && cell.over_limit_bytes == 0;
  if (cell.over_limit_bytes > 0) {
    end.kind = ProcessEnd::Kind::kSignaled;
    end.code = SIGKILL;
    end.detail = "stopped: it used " + HumanBytes(cell.over_limit_bytes) + " of memory, above the limit of " +
                 HumanBytes(cell.job.memory_limit_bytes);
  }
  result.observation = CollectObservation(cell.job, end);
  if (!cell.job.keep_private) (void)RemoveTree(files.private_files);
  result.job = std::move(cell.job);
  return result;
}

std::vector<CellResult> LocalEngine::Wait(double wait_s) {
  std::vector<CellResult> ended;
  double left = wait_s;
  for (;;) {
    if (Interrupt::Requested()) {
      while (!queue_.empty()) {
        CellResult result;
        result.interrupted = true;
        result.job = std::move(queue_.front());
        queue_.pop_front();
        ended.push_back(std::move(result));
      }
    }
    while (running_.size() < jobs_ && !queue_.empty()) StartNext(ended);
    if (!ended.empty() || running_.empty() || left < 0) return ended;
    bool watch = false;
    for (const auto& [handle, cell] : running_) watch |= cell.job.memory_limit_bytes > 0;
    const double slice = watch ? std::min(left, kMemoryPeriod) : left;
    for (const auto& [handle, process] : host_.Wait(slice)) {
      auto node = running_.extract(handle);
      if (node.empty()) continue;
      if (WasKilledFromOutside(node.mapped(), process)) {
        ++node.mapped().job.kills;
        queue_.push_front(std::move(node.mapped().job));
      } else {
        ended.push_back(Finish(std::move(node.mapped()), process));
      }
    }
    CheckMemory();
    left -= slice;
    if (left <= 0 && ended.empty()) return ended;
  }
}

void RunAll(Engine& engine, std::vector<CellJob> jobs, const std::function<bool(CellResult)>& on_result) {
  for (CellJob& job : jobs) engine.Submit(std::move(job));
  while (engine.Unfinished() > 0)
    for (CellResult& result : engine.Wait(60))
      if (!on_result(std::move(result))) return;
}

}  // namespace flce
