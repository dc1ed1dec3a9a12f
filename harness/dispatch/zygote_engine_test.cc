#include "harness/dispatch/zygote_engine.h"

#include <gtest/gtest.h>

#include <csignal>

#include "harness/model/json_reader.h"

namespace flce {
namespace {

CellJob Job(const fs::path& folder, const std::string& name, const std::string& parameters = R"({"behaviour":"good"})") {
  CellJob job;
  job.request.cell_id = name;
  job.request.output_dir = folder / name;
  job.request.python = "/env/bin/python";
  job.request.sys_path = {"/liger", "/modules"};
  job.request.own_entries = 1;
  job.request.case_document = R"({"name":"c","parameters":)" + parameters + "}";
  job.request.profile_document = R"({"id":"l4","capability":"8.9"})";
  job.worker = fs::path(FLCE_BINARY_DIR) / "bin" / "fake_worker";
  return job;
}

TEST(ZygoteProtocolTest, LinesAreAsTheContractSays) {
  CellJob job = Job("/run", "a");
  job.memory_limit_bytes = 1000;
  EXPECT_EQ(*ZygoteStartLine(job),
            R"({"format":1,"start":{"python":"/env/bin/python","sys_path":["/modules"],"fix":{"hooks":[],"python":null}}})");
  const Json line = Json::parse(*ZygoteCellLine(job));
  EXPECT_EQ(line["cell_id"], "a");
  EXPECT_EQ(line["limits"]["memory_bytes"], 1000);
  EXPECT_EQ(line["environment"]["TRITON_CACHE_DIR"], "/run/a/private/triton");
  EXPECT_EQ(line["environment"].size(), 5u);
}

TEST(ZygoteProtocolTest, NewsAreTold) {
  using Kind = ZygoteNews::Kind;
  const auto parse = [](const char* line) { return ParseZygoteLine(line, 2000000000); };
  EXPECT_EQ(parse(R"({"ready":true,"pid":1})").kind, Kind::kReady);
  EXPECT_EQ(parse(R"({"ready":false,"error":"no torch"})").why, "no torch");
  EXPECT_EQ(parse(R"({"warmed":{"device":"9.0","ok":true}})").kind, Kind::kOther);
  EXPECT_EQ(parse("garbage").kind, Kind::kOther);
  ZygoteNews news = parse(R"({"cell_id":"a","exit":{"code":0},"seconds":1.5,"max_rss_bytes":77})");
  EXPECT_EQ(news.kind, Kind::kEnded);
  EXPECT_EQ(news.end.kind, ProcessEnd::Kind::kExited);
  EXPECT_EQ(news.end.seconds, 1.5);
  EXPECT_EQ(news.end.max_rss_bytes, 77u);
  EXPECT_EQ(parse(R"({"cell_id":"a","exit":{"signal":11}})").end.code, 11);
  EXPECT_EQ(parse(R"({"cell_id":"a","exit":{"timed_out":true}})").end.kind, ProcessEnd::Kind::kTimedOut);
  EXPECT_EQ(parse(R"({"cell_id":"a","exit":{"out_of_memory":true}})").end.detail,
            "stopped: it used more memory than its limit of 2.00 GB");
  EXPECT_TRUE(parse(R"({"cell_id":"a","exit":{"cancelled":true}})").cancelled);
  EXPECT_EQ(parse(R"({"cell_id":"a","lost":"parent died"})").kind, Kind::kLost);
  EXPECT_EQ(parse(R"({"cell_id":"a","refused":"other fix"})").why, "other fix");
}

class ZygoteEngineTest : public ::testing::Test {
 protected:
  CellJob Make(const std::string& name, const std::string& parameters = R"({"behaviour":"good"})") { return Job(dir_.path(), name, parameters); }
  std::map<std::string, CellResult> Run(ZygoteEngine& engine, std::vector<CellJob> jobs) {
    std::map<std::string, CellResult> results;
    RunAll(engine, std::move(jobs), [&](CellResult result) {
      const std::string id = result.job.request.cell_id;
      results.emplace(id, std::move(result));
      return true;
    });
    return results;
  }
  TempDir dir_ = TempDir::Make(fs::temp_directory_path(), "zygotes").value();
  LocalProcessHost zygotes_, cells_;
  ZygoteOptions options_{2, 2, dir_.path() / "scratch", 300, 30};
};

TEST_F(ZygoteEngineTest, WhileADeviceIsWarmedOtherDevicesHaveTheOtherPlaces) {
  ZygoteEngine engine(zygotes_, cells_, options_);
  std::vector<CellJob> jobs = {Make("first", R"({"behaviour":"hang"})"), Make("same"), Make("other")};
  jobs[0].request.deadline_s = 3;  // nothing has come back from its device meanwhile
  jobs[2].request.profile_document = R"({"id":"h100","capability":"9.0"})";
  std::vector<std::string> order;
  RunAll(engine, std::move(jobs), [&](CellResult result) {
    order.push_back(result.job.request.cell_id);
    return true;
  });
  // "same" stands before "other" in the queue, and is sent when no other device is left.
  EXPECT_EQ(order, (std::vector<std::string>{"other", "same", "first"}));
}

TEST_F(ZygoteEngineTest, ACellThatSleepsTakesNoPlace) {
  options_.jobs = 1;
  ZygoteEngine engine(zygotes_, cells_, options_);
  std::vector<CellJob> jobs = {Make("hang", R"({"behaviour":"hang"})"), Make("a"), Make("b")};
  jobs[0].request.deadline_s = 3;
  jobs[0].sleeps = true;
  std::vector<std::string> order;
  RunAll(engine, std::move(jobs), [&](CellResult result) {
    order.push_back(result.job.request.cell_id);
    return true;
  });
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "hang"}));
}

TEST_F(ZygoteEngineTest, CellsOfOneEnvironmentShareAZygoteAndCannotTouchEachOther) {
  ZygoteEngine engine(zygotes_, cells_, options_);
  std::vector<CellJob> jobs = {Make("good1"), Make("crash", R"({"behaviour":"crash"})"), Make("hang", R"({"behaviour":"hang"})"),
                               Make("leave", R"({"behaviour":"leave"})"), Make("good2")};
  jobs[2].request.deadline_s = 0.2;
  const auto results = Run(engine, jobs);
  ASSERT_EQ(results.size(), 5u);
  for (const char* name : {"good1", "good2"}) EXPECT_TRUE(results.at(name).observation.complete) << name;
  const Observation& crash = results.at("crash").observation;
  EXPECT_EQ(crash.end.kind, ProcessEnd::Kind::kSignaled);
  EXPECT_EQ(crash.end.code, SIGSEGV);
  EXPECT_EQ(crash.stage, Stage::kEager);
  EXPECT_EQ(results.at("hang").observation.end.kind, ProcessEnd::Kind::kTimedOut);
  EXPECT_EQ(results.at("leave").observation.end.code, 7);
  EXPECT_EQ(engine.statistics().started, 1);
  EXPECT_EQ(engine.statistics().cold_cells, 0);
  EXPECT_FALSE(fs::exists(dir_.path() / "good1" / "private"));
}

TEST_F(ZygoteEngineTest, AnotherChangeOfTorchIsAnotherZygoteAndAnotherLigerIsNot) {
  ZygoteEngine engine(zygotes_, cells_, options_);
  std::vector<CellJob> jobs;
  for (int i = 0; i < 12; ++i) {
    jobs.push_back(Make(std::to_string(i)));
    WorkerRequest& request = jobs.back().request;
    request.sys_path.front() = "/liger-" + std::to_string(i / 3);
    request.fix.name = "fix-" + std::to_string(i);
    if (i % 3 > 0) request.fix.hooks = {{"torch.part", "/fix/" + std::to_string(i % 3) + ".py"}};
  }
  EXPECT_EQ(Run(engine, jobs).size(), 12u);
  EXPECT_EQ(engine.statistics().started, 3);
  EXPECT_EQ(engine.statistics().died, 0);
}

TEST_F(ZygoteEngineTest, AZygoteThatDiesIsStartedAgainAndItsCellsWithIt) {
  ZygoteEngine engine(zygotes_, cells_, options_);
  const std::string until = (dir_.path() / "count").string();
  const auto results = Run(engine, {Make("killer", R"({"behaviour":"kill_zygote","times":1,"until":")" + until + "\"}"), Make("bystander"), Make("later")});
  ASSERT_EQ(results.size(), 3u);
  for (const auto& [name, result] : results) EXPECT_TRUE(result.observation.complete) << name;
  EXPECT_EQ(engine.statistics().died, 1);
  EXPECT_EQ(engine.statistics().started, 2);
}

TEST_F(ZygoteEngineTest, ACellThatKillsEveryZygoteRunsInAFreshProcess) {
  ZygoteEngine engine(zygotes_, cells_, options_);
  const std::string until = (dir_.path() / "count").string();
  const auto results = Run(engine, {Make("killer", R"({"behaviour":"kill_zygote","times":99,"until":")" + until + "\"}")});
  EXPECT_TRUE(results.at("killer").observation.complete);
  EXPECT_EQ(engine.statistics().died, 2);
  EXPECT_EQ(engine.statistics().cold_cells, 1);
}

TEST_F(ZygoteEngineTest, AnEnvironmentThatDoesNotImportRunsItsCellsFresh) {
  ZygoteEngine engine(zygotes_, cells_, options_);
  CellJob job = Make("a");
  job.request.fix.python = "does-not-import";
  EXPECT_TRUE(Run(engine, {job}).at("a").observation.complete);
  EXPECT_EQ(engine.statistics().cold_cells, 1);
}

TEST_F(ZygoteEngineTest, ARealGpuNeverForks) {
  ZygoteEngine engine(zygotes_, cells_, options_);
  CellJob job = Make("a");
  job.request.device.kind = DeviceKind::kCuda;
  EXPECT_TRUE(Run(engine, {job}).at("a").observation.complete);
  EXPECT_EQ(engine.statistics().started, 0);
}

TEST_F(ZygoteEngineTest, AMissingWorkerIsAResult) {
  ZygoteEngine engine(zygotes_, cells_, options_);
  CellJob job = Make("a");
  job.worker = "/nowhere/flce-worker";
  EXPECT_EQ(Run(engine, {job}).at("a").observation.end.kind, ProcessEnd::Kind::kNotStarted);
}

TEST_F(ZygoteEngineTest, AnInterruptGivesBackEverything) {
  Interrupt::Install();
  ZygoteEngine engine(zygotes_, cells_, options_);
  for (const char* name : {"a", "b", "c"}) engine.Submit(Make(name, R"({"behaviour":"hang"})"));
  while (engine.Running() < 2) EXPECT_TRUE(engine.Wait(0.01).empty());
  ::raise(SIGTERM);
  size_t interrupted = 0;
  while (engine.Unfinished() > 0)
    for (const CellResult& result : engine.Wait(60)) interrupted += result.interrupted;
  Interrupt::ResetForTest();
  EXPECT_EQ(interrupted, 3u);
}

}  // namespace
}  // namespace flce
