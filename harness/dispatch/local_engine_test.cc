#include "harness/dispatch/local_engine.h"

#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "harness/model/json_reader.h"

namespace flce {
namespace {

/// Records what it was asked for; processes end when the test says so.
class FakeHost final : public ProcessHost {
 public:
  Result<int> Start(ProcessOptions options) override {
    if (refuse) return Error{ErrorKind::kEnvironment, "cannot run worker: No such file or directory"};
    started.push_back(std::move(options));
    return static_cast<int>(started.size());
  }
  std::vector<std::pair<int, ProcessResult>> Wait(double wait_s) override {
    waited += wait_s;
    for (int handle : stopped) ending[handle].state = Signaled{SIGTERM};
    std::vector<std::pair<int, ProcessResult>> ended(ending.begin(), ending.end());
    ending.clear();
    stopped.clear();
    return ended;
  }
  void Stop(int handle) override { stopped.insert(handle); }
  uint64_t ResidentBytes(int) override { return resident; }

  bool refuse = false;
  uint64_t resident = 0;
  double waited = 0;
  std::vector<ProcessOptions> started;
  std::map<int, ProcessResult> ending;
  std::set<int> stopped;
};

ProcessResult Ended(ExitState state) {
  ProcessResult result;
  result.state = state;
  return result;
}

class LocalEngineTest : public ::testing::Test {
 protected:
  CellJob Job(const std::string& name) {
    CellJob job;
    job.request.cell_id = name;
    job.request.output_dir = dir_.path() / name;
    job.request.case_document = R"({"name":"c","shape":{"bt":1,"h":1,"v":1}})";
    job.request.profile_document = R"({"id":"l4","capability":"8.9"})";
    job.request.deadline_s = 60;
    job.worker = "/bin/worker";
    job.emulator = "/lib/libflce_emulated_cuda.so";
    job.stubs = "/stubs";
    return job;
  }
  /// A real child that runs a shell script in place of the worker: $2 is the request file.
  CellJob Script(const std::string& name, const std::string& text) {
    CellJob job = Job(name);
    job.worker = dir_.path() / (name + ".sh");
    job.emulator.clear();
    job.request.device.kind = DeviceKind::kCuda;
    EXPECT_TRUE(WriteFileAtomically(job.worker, "#!/bin/sh\ncell=$(dirname \"$2\")\n" + text + "\n").ok());
    fs::permissions(job.worker, fs::perms::owner_all);
    return job;
  }
  static constexpr const char* kWriteObservation =
      "echo '{\"format\":1,\"complete\":true,\"case\":\"c\"}' > $cell/o && mv $cell/o $cell/observation.json";

  TempDir dir_ = TempDir::Make(fs::temp_directory_path(), "engine").value();
};

TEST_F(LocalEngineTest, StartsNoMoreThanJobsAtOnceAndInOrder) {
  FakeHost host;
  LocalEngine engine(host, 2);
  for (const char* name : {"a", "b", "c"}) engine.Submit(Job(name));
  EXPECT_TRUE(engine.Wait(0).empty());
  ASSERT_EQ(host.started.size(), 2u);
  EXPECT_EQ(engine.Running(), 2u);
  host.ending[2] = Ended(Exited{0});
  std::vector<CellResult> ended = engine.Wait(1);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].job.request.cell_id, "b");
  EXPECT_TRUE(engine.Wait(0).empty());
  ASSERT_EQ(host.started.size(), 3u);
  EXPECT_EQ(host.started[2].argv, (std::vector<std::string>{"/bin/worker", "--request", (dir_.path() / "c" / "request.json").string()}));
  EXPECT_EQ(engine.Unfinished(), 2u);
}

TEST_F(LocalEngineTest, TheProcessIsSetUpAsTheContractSays) {
  FakeHost host;
  LocalEngine engine(host, 1);
  engine.Submit(Job("a"));
  engine.Wait(0);
  const ProcessOptions& options = host.started.at(0);
  const fs::path own = dir_.path() / "a" / "private";
  EXPECT_EQ(options.environment.at("LD_PRELOAD"), "/lib/libflce_emulated_cuda.so");
  EXPECT_EQ(options.environment.at("LD_LIBRARY_PATH"), (own / "cuda").string() + ":/stubs");
  EXPECT_EQ(options.environment.at("TRITON_LIBCUDA_PATH"), (own / "cuda").string());
  EXPECT_EQ(fs::read_symlink(own / "cuda" / "libcuda.so"), "/lib/libflce_emulated_cuda.so");
  EXPECT_EQ(options.environment.at("FLCE_EMU_PROFILE"), "capability=8.9;count=1");
  for (const char* name : {"HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"})
    EXPECT_TRUE(fs::is_directory(*options.environment.at(name))) << name;
  EXPECT_EQ(options.environment.at("TORCHINDUCTOR_COMPILE_THREADS"), "1");
  EXPECT_EQ(options.environment.at("PYTHONNOUSERSITE"), "1");
  EXPECT_EQ(options.environment.at("PYTHONPATH"), std::nullopt);
  EXPECT_EQ(options.environment.at("CUDA_VISIBLE_DEVICES"), std::nullopt);
  EXPECT_EQ(options.deadline_s, 60);
  EXPECT_EQ(options.stdout_file, dir_.path() / "a" / "stdout.txt");
  EXPECT_EQ(options.environment.at("PYTHONDONTWRITEBYTECODE"), "1") << "an installation that is not ours is left as it is";
}

TEST_F(LocalEngineTest, BytecodeAndHostModulesAreKeptBesideAnEnvironmentOfOurs) {
  CellJob job = Job("a");
  EXPECT_EQ(WorkerEnvironment(job)->at("TRITON_CACHE_MANAGER"), std::nullopt) << "a user's own may read another cell's kernels";
  job.kept = "/state/envs/e";
  auto environment = *WorkerEnvironment(job);
  EXPECT_EQ(environment.at("TRITON_CACHE_MANAGER"), "flce_worker.host_modules:HostModules");
  EXPECT_EQ(environment.at("FLCE_HOST_MODULES"), "/state/envs/e/host-modules");
  EXPECT_EQ(environment.at("TRITON_CACHE_DIR"), (dir_.path() / "a" / "private" / "triton").string()) << "kernels stay the cell's own";
  EXPECT_EQ(environment.at("PYTHONPYCACHEPREFIX"), "/state/envs/e/bytecode");
  EXPECT_EQ(environment.at("PYTHONDONTWRITEBYTECODE"), std::nullopt) << "a user's own setting would keep every import slow";
  job.request.device.kind = DeviceKind::kCuda;
  environment = *WorkerEnvironment(job);
  EXPECT_EQ(environment.at("TRITON_CACHE_MANAGER"), std::nullopt) << "what is linked with the emulator is not for a real GPU";
  EXPECT_EQ(environment.count("FLCE_HOST_MODULES"), 0u);
}

TEST_F(LocalEngineTest, ARealGpuKeepsItsVariables) {
  CellJob job = Job("a");
  job.request.device.kind = DeviceKind::kCuda;
  job.emulator.clear();
  const auto environment = *WorkerEnvironment(job);
  for (const char* name : {"LD_PRELOAD", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "FLCE_EMU_PROFILE"})
    EXPECT_EQ(environment.find(name), environment.end()) << name;
}

TEST_F(LocalEngineTest, AWorkerThatCannotStartIsAResult) {
  FakeHost host;
  host.refuse = true;
  LocalEngine engine(host, 1);
  engine.Submit(Job("a"));
  std::vector<CellResult> ended = engine.Wait(1);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].observation.end.kind, ProcessEnd::Kind::kNotStarted);
  EXPECT_EQ(ended[0].observation.end.detail, "cannot run worker: No such file or directory");
}

TEST_F(LocalEngineTest, AnEarlierTrysFilesAreGone) {
  ASSERT_TRUE(MakeDirectories(dir_.path() / "a").ok());
  ASSERT_TRUE(WriteFileAtomically(dir_.path() / "a" / "observation.json", R"({"format":1,"complete":true})").ok());
  FakeHost host;
  LocalEngine engine(host, 1);
  engine.Submit(Job("a"));
  engine.Wait(0);
  host.ending[1] = Ended(Signaled{SIGSEGV});
  EXPECT_FALSE(engine.Wait(1).at(0).observation.complete);
}

TEST_F(LocalEngineTest, ACellThatIsKilledFromOutsideRunsAgain) {
  FakeHost host;
  LocalEngine engine(host, 1);
  engine.Submit(Job("a"));
  for (int kill = 1; kill <= kKillsForgiven; ++kill) {
    engine.Wait(0);
    host.ending[kill] = Ended(Signaled{SIGKILL});
    EXPECT_TRUE(engine.Wait(0).empty());
  }
  engine.Wait(0);
  ASSERT_EQ(host.started.size(), static_cast<size_t>(1 + kKillsForgiven));
  host.ending[1 + kKillsForgiven] = Ended(Signaled{SIGKILL});
  const std::vector<CellResult> ended = engine.Wait(0);
  ASSERT_EQ(ended.size(), 1u) << "not for ever";
  EXPECT_EQ(ended[0].observation.end.code, SIGKILL);
}

TEST_F(LocalEngineTest, ACellAboveItsMemoryLimitIsStoppedAndSaysSo) {
  FakeHost host;
  host.resident = 3000000000;
  LocalEngine engine(host, 1);
  CellJob job = Job("a");
  job.memory_limit_bytes = 2000000000;
  engine.Submit(job);
  std::vector<CellResult> ended = engine.Wait(10);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_LT(host.waited, 1) << "the memory is looked at more often than results are asked for";
  EXPECT_FALSE(ended[0].interrupted);
  EXPECT_EQ(ended[0].observation.end.detail, "stopped: it used 3.00 GB of memory, above the limit of 2.00 GB");
}

TEST_F(LocalEngineTest, RealChildrenThatWriteCrashHangOverflowAndLeave) {
  LocalProcessHost host;
  LocalEngine engine(host, 3);
  std::vector<CellJob> jobs;
  jobs.push_back(Script("good", kWriteObservation));
  jobs.push_back(Script("crash", "echo '{\"stage\":\"eager\",\"t\":1}' > $cell/progress.ndjson; echo boom >&2; kill -SEGV $$"));
  jobs.push_back(Script("hang", "trap '' TERM; sleep 600 & while :; do sleep 600; done"));
  jobs.back().request.deadline_s = 0.2;
  jobs.push_back(Script("overflow", std::string("head -c 5000000 /dev/zero >&2; ") + kWriteObservation));
  jobs.push_back(Script("leave", "exit 7"));
  std::map<std::string, CellResult> results;
  RunAll(engine, std::move(jobs), [&](CellResult result) {
    const std::string id = result.job.request.cell_id;
    results.emplace(id, std::move(result));
    return true;
  });
  ASSERT_EQ(results.size(), 5u);
  EXPECT_TRUE(results.at("good").observation.complete);
  EXPECT_FALSE(fs::exists(dir_.path() / "good" / "private")) << "caches do not pile up";
  const Observation& crash = results.at("crash").observation;
  EXPECT_EQ(crash.end.kind, ProcessEnd::Kind::kSignaled);
  EXPECT_EQ(crash.end.code, SIGSEGV);
  EXPECT_EQ(crash.end.stderr_tail, "boom\n");
  EXPECT_EQ(crash.stage, Stage::kEager);
  EXPECT_EQ(results.at("hang").observation.end.kind, ProcessEnd::Kind::kTimedOut);
  EXPECT_TRUE(results.at("overflow").observation.complete);
  EXPECT_EQ(results.at("leave").observation.end.code, 7);
}

TEST_F(LocalEngineTest, RealMemoryIsSeen) {
  LocalProcessHost host;
  LocalEngine engine(host, 1);
  CellJob job = Script("hog", "head -c 200000000 /dev/zero | tail -c 200000000 | sleep 600");
  job.memory_limit_bytes = 50000000;
  engine.Submit(job);
  std::vector<CellResult> ended;
  while (ended.empty()) ended = engine.Wait(60);
  EXPECT_EQ(ended[0].observation.end.detail.substr(0, 17), "stopped: it used ");
}

TEST_F(LocalEngineTest, AnInterruptGivesBackEverythingAsInterrupted) {
  Interrupt::Install();
  LocalProcessHost host;
  LocalEngine engine(host, 1);
  engine.Submit(Script("a", "sleep 600"));
  engine.Submit(Script("b", "sleep 600"));
  EXPECT_TRUE(engine.Wait(0).empty());
  ::raise(SIGTERM);
  size_t interrupted = 0;
  while (engine.Unfinished() > 0)
    for (const CellResult& result : engine.Wait(60)) interrupted += result.interrupted;
  Interrupt::ResetForTest();
  EXPECT_EQ(interrupted, 2u);
}

}  // namespace
}  // namespace flce
