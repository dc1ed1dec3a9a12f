#include "harness/dispatch/pipeline.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace flce {
namespace {

/// How often a waiting engine is asked while an environment is being made.
constexpr double kPeriod = 0.1;

/// Makes environments on a thread of its own and hands over the groups that are ready.
class Provisioner {
 public:
  Provisioner(const std::vector<PipelineGroup>& groups, const std::function<Status(const PipelineGroup&)>& provision, size_t lookahead)
      : groups_(groups), provision_(provision), allowed_(lookahead), thread_([this] { Work(); }) {}
  ~Provisioner() {
    Stop();
    thread_.join();
  }

  /// The next group that is ready (or failed), if there is one now.
  std::optional<std::pair<size_t, Status>> Take() {
    const std::lock_guard lock(mutex_);
    if (ready_.empty()) return std::nullopt;
    auto next = std::move(ready_.front());
    ready_.pop_front();
    ++taken_;
    ++allowed_;
    changed_.notify_all();
    return next;
  }
  bool AllTaken() {
    const std::lock_guard lock(mutex_);
    return stopped_ ? ready_.empty() && finished_ : taken_ == groups_.size();
  }
  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  void Work() {
    for (size_t i = 0; i < groups_.size(); ++i) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || i < allowed_; });
        if (stopped_) break;
      }
      Status status = provision_(groups_[i]);
      const std::lock_guard lock(mutex_);
      ready_.emplace_back(i, std::move(status));
    }
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }

  const std::vector<PipelineGroup>& groups_;
  const std::function<Status(const PipelineGroup&)>& provision_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<size_t, Status>> ready_;
  size_t allowed_, taken_ = 0;
  bool stopped_ = false, finished_ = false;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace

void RunPipeline(Engine& engine, const std::vector<PipelineGroup>& groups, const PipelineHooks& hooks, size_t lookahead) {
  Provisioner provisioner(groups, hooks.provision, lookahead < 1 ? 1 : lookahead);
  std::map<std::string, size_t> cell_of;  // by cell id
  const auto submit = [&](const PipelineGroup& group) {
    for (size_t cell : group.cells) {
      Result<CellJob> job = hooks.make_job(cell);
      if (!job) {
        if (!hooks.on_failure(cell, job.error())) return false;
        continue;
      }
      cell_of[job->request.cell_id] = cell;
      engine.Submit(std::move(*job));
    }
    return true;
  };
  while (!provisioner.AllTaken() || engine.Unfinished() > 0) {
    if (Interrupt::Requested()) provisioner.Stop();
    while (auto ready = provisioner.Take()) {
      const PipelineGroup& group = groups[ready->first];
      if (ready->second) {
        if (!submit(group)) return;
        continue;
      }
      for (size_t cell : group.cells)
        if (!hooks.on_failure(cell, ready->second.error())) return;
    }
    if (engine.Unfinished() == 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(kPeriod));
    } else {
      for (CellResult& result : engine.Wait(kPeriod)) {
        const size_t cell = cell_of.at(result.job.request.cell_id);
        if (!hooks.on_result(cell, std::move(result))) return;
      }
    }
    if (hooks.on_tick) hooks.on_tick();
  }
}

}  // namespace flce
