#include "harness/dispatch/pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <set>

namespace flce {
namespace {

/// Ends a cell each time it is asked.
class InstantEngine final : public Engine {
 public:
  void Submit(CellJob job) override { queue.push_back(std::move(job)); }
  size_t Unfinished() const override { return queue.size(); }
  size_t Running() const override { return queue.size(); }
  std::vector<CellResult> Wait(double) override {
    CellResult result;
    result.job = std::move(queue.front());
    queue.pop_front();
    std::vector<CellResult> ended;
    ended.push_back(std::move(result));
    return ended;
  }
  std::deque<CellJob> queue;
};

Result<CellJob> MakeJob(size_t cell) {
  CellJob job;
  job.request.cell_id = "cell-" + std::to_string(cell);
  return job;
}

TEST(PipelineTest, EveryCellOfEveryGroupEnds) {
  InstantEngine engine;
  std::vector<std::string> provisioned;
  std::set<size_t> ended, failed;
  PipelineHooks hooks;
  hooks.provision = [&](const PipelineGroup& group) -> Status {
    provisioned.push_back(group.environment);
    if (group.environment == "broken") return Error{ErrorKind::kEnvironment, "no network"};
    return Done{};
  };
  hooks.make_job = [](size_t cell) -> Result<CellJob> {
    if (cell == 4) return Error{ErrorKind::kData, "fix does not apply"};
    return MakeJob(cell);
  };
  hooks.on_result = [&](size_t cell, CellResult result) {
    EXPECT_EQ(result.job.request.cell_id, "cell-" + std::to_string(cell));
    return ended.insert(cell).second;
  };
  hooks.on_failure = [&](size_t cell, const Error&) { return failed.insert(cell).second; };
  RunPipeline(engine, {{"a", {0, 1}}, {"broken", {2, 3}}, {"b", {4, 5}}}, hooks);
  EXPECT_EQ(provisioned, (std::vector<std::string>{"a", "broken", "b"}));
  EXPECT_EQ(ended, (std::set<size_t>{0, 1, 5}));
  EXPECT_EQ(failed, (std::set<size_t>{2, 3, 4}));
}

TEST(PipelineTest, TheNextEnvironmentIsMadeWhileCellsRun) {
  InstantEngine engine;
  std::promise<void> first_cell_ended;
  std::future<void> gate = first_cell_ended.get_future();
  PipelineHooks hooks;
  // The second environment waits for a cell of the first: only if both go on at once does this end.
  hooks.provision = [&](const PipelineGroup& group) -> Status {
    if (group.environment == "b") gate.wait();
    return Done{};
  };
  hooks.make_job = MakeJob;
  size_t ended = 0;
  hooks.on_result = [&](size_t, CellResult) {
    if (ended++ == 0) first_cell_ended.set_value();
    return true;
  };
  hooks.on_failure = [](size_t, const Error&) { return true; };
  RunPipeline(engine, {{"a", {0}}, {"b", {1}}}, hooks);
  EXPECT_EQ(ended, 2u);
}

TEST(PipelineTest, NoMoreThanTheLookaheadIsMadeAhead) {
  InstantEngine engine;
  std::atomic<int> made{0};
  int taken = 0, most_ahead = 0;
  PipelineHooks hooks;
  hooks.provision = [&](const PipelineGroup&) -> Status {
    ++made;
    return Done{};
  };
  hooks.make_job = [&](size_t cell) {
    ++taken;
    most_ahead = std::max(most_ahead, made.load() - taken);
    return MakeJob(cell);
  };
  hooks.on_result = [](size_t, CellResult) { return true; };
  hooks.on_failure = [](size_t, const Error&) { return true; };
  RunPipeline(engine, {{"a", {0}}, {"b", {1}}, {"c", {2}}, {"d", {3}}, {"e", {4}}}, hooks, 1);
  EXPECT_EQ(taken, 5);
  EXPECT_LE(most_ahead, 1);
}

TEST(PipelineTest, GivingUpEndsItEvenWhileAnEnvironmentIsMade) {
  InstantEngine engine;
  PipelineHooks hooks;
  hooks.provision = [](const PipelineGroup&) -> Status { return Done{}; };
  hooks.make_job = MakeJob;
  size_t results = 0;
  hooks.on_result = [&](size_t, CellResult) { return ++results < 2; };
  hooks.on_failure = [](size_t, const Error&) { return true; };
  RunPipeline(engine, {{"a", {0, 1, 2, 3}}, {"b", {4}}}, hooks);
  EXPECT_EQ(results, 2u);
}

}  // namespace
}  // namespace flce
