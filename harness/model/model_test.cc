#include <gtest/gtest.h>

#include <cmath>

#include "harness/model/json_reader.h"
#include "harness/model/run_record.h"

namespace flce {
namespace {

TEST(NamesTest, EveryWordReadsBack) {
  for (Outcome outcome : AllOutcomes()) EXPECT_EQ(ParseOutcome(Text(outcome)), outcome);
  for (Standing standing : AllStandings()) EXPECT_EQ(ParseStanding(Text(standing)), standing);
  for (int i = 0; i <= static_cast<int>(Reason::kOutOfMemory); ++i)
    EXPECT_EQ(ParseReason(Text(static_cast<Reason>(i))), static_cast<Reason>(i));
  for (int i = 0; i <= static_cast<int>(Stage::kNumerics); ++i)
    EXPECT_EQ(ParseStage(Text(static_cast<Stage>(i))), static_cast<Stage>(i));
  EXPECT_EQ(ParseOutcome("passed"), std::nullopt);
}

TEST(CellTest, IdIsStableAndNamesOnlyWhatWasChosen) {
  Cell cell{"flce-bf16-fp32-accum", "2.13.0", "0.8.5", "none", {DeviceKind::kEmulated, "9.0", "", 1}, std::nullopt};
  EXPECT_EQ(cell.Id(), "flce-bf16-fp32-accum/torch-2.13.0/liger-0.8.5/none/emulated-9.0");
  cell.fix = "/some/where/my.diff";
  cell.device.id = "l4";
  cell.shape = Shape{2048, 1024, 151936};
  EXPECT_EQ(cell.Id(), "flce-bf16-fp32-accum/torch-2.13.0/liger-0.8.5/my.diff/emulated-9.0-l4/2048x1024x151936");
  cell.seed = 7;
  EXPECT_EQ(cell.Id(), "flce-bf16-fp32-accum/torch-2.13.0/liger-0.8.5/my.diff/emulated-9.0-l4/2048x1024x151936/seed-7");
}

TEST(CellTest, ShapeRefusesWhatIsNoShape) {
  EXPECT_EQ(*ParseShape("8x16x32"), (Shape{8, 16, 32}));
  for (const char* text : {"", "8x16", "8x16x32x1", "8x16x0", "8x16x-1", "axbxc", "8x16x99999999999"})
    EXPECT_FALSE(ParseShape(text).ok()) << text;
}

TEST(ObservationTest, ReadsWhatItWrites) {
  Observation o;
  o.complete = true;
  o.cell_id = "id";
  o.case_name = "case";
  o.poisoned = true;
  o.fix = FixEffect{true, {{"liger_kernel/ops/a.py", "f", false}, {"liger_kernel/ops/a.py", "g", std::nullopt}}};
  o.torch = "2.13.0+cu130";
  o.overloads = {"default", "dtype_out"};
  o.call_present = true;
  o.call_site = Frame{"liger_kernel/ops/x.py", 341, "forward"};
  o.stages = {Stage::kImport, Stage::kEager, Stage::kLowering};
  o.stage = Stage::kLowering;
  o.probe_ran = true;
  o.probe_calls = {{"aten.addmm.dtype_out", {"a.py", 1, "f"}, 2, "bf16", "f32"}};
  o.eager.status = Phase::Status::kOk;
  o.eager.peak_bytes = 1234;
  Launches launches;
  launches.gemms = {{"cublasGemmEx", "n", "t", "bf16", "bf16", "f32", "f32", 16, 32, 4, 1, true}};
  launches.gemm_count = 1;
  launches.kernels = {{"kernel", 3}};
  launches.kernel_count = 3;
  o.eager.launches = launches;
  o.compiled.status = Phase::Status::kRaised;
  o.compiled.exception = ExceptionRecord{{{"a.B", "text\nmore", "raised", {{"f.py", 2, "g"}}}}, "aten.addmm.dtype", {{"u.py", 3, "h"}}};
  o.compiled.out_of_memory = OutOfMemory{1, 2, 3, "m"};
  o.compiled.graphs.nodes_from = {{"f.py", 4}};
  o.compiled.graphs.branch_nodes = 3;
  o.compiled.graphs.breaks = {{"item", "f.py:3"}};
  o.top_blocks = {{99, {{"f.py", 1, "g"}}}};
  o.refused = {{"cudaX", 2}};
  o.end.kind = ProcessEnd::Kind::kSignaled;
  o.end.code = 6;
  const Json json = ToJson(o);
  Result<Observation> read = ObservationFromJson(json);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(ToJson(*read), json);
  EXPECT_EQ(read->eager.launches->gemms.at(0), launches.gemms.at(0));
  EXPECT_EQ(read->call_site, o.call_site);
}

TEST(ObservationTest, NamesTheMemberOfAWrongType) {
  const auto message = [](const char* text) {
    Result<Observation> read = ObservationFromJson(Json::parse(text));
    return read.ok() ? std::string("ok") : read.error().message;
  };
  EXPECT_EQ(message(R"({"format": 2})"), "observation.format 2 is too new: this program reads format 1");
  EXPECT_EQ(message(R"({"complete": "yes"})"), "observation.complete: expected true or false");
  EXPECT_EQ(message(R"({"eager": {"status": "fine"}})"), "observation.eager.status: expected ok, raised or not_run, not 'fine'");
  EXPECT_EQ(message(R"({"stages": ["warp"]})"), "observation.stages[0]: expected a known stage");
  EXPECT_EQ(message(R"({"compiled": {"exception": {"chain": []}}})"), "exception.chain: expected at least one exception");
  EXPECT_EQ(message(R"([1])"), "observation: expected an object");
  EXPECT_EQ(message(R"({"later": 1, "memory": null})"), "ok");
  EXPECT_EQ(message(R"({"timings_ms": {"compiled": null, "eager": 3.2}, "tensors": {"inputs": null}})"), "ok");
  EXPECT_EQ(message(R"({"timings_ms": {"eager": "fast"}})"), "observation.timings_ms.eager: expected a number");
}

RunRecord SmallRun() {
  RunRecord run;
  run.tool_version = "0.1.0";
  run.id = "r1";
  run.argv = {"flce-repro", "--torch", "2.13"};
  run.host = {{"os", "Linux"}};
  CellRecord cell;
  cell.id = "c1";
  cell.case_name = "case";
  cell.fix = "guard";
  cell.torch = "2.13.0";
  cell.liger = "0.8.5";
  cell.call_site = "liger_kernel/ops/x.py:341";
  cell.capability = "9.0";
  cell.shape = Shape{8, 16, 32};
  cell.verdict.outcome = Outcome::kNumericsMismatch;
  cell.verdict.stage = Stage::kNumerics;
  cell.verdict.findings = {{"memory_budget", "62 x eager"}};
  cell.standing = Standing::kRegressed;
  cell.exception = ExceptionRecord{{{"a.B", "first\nsecond", "raised", {}}}, "", {}};
  NumericsRecord numerics;
  numerics.computed = true;
  TensorComparison comparison;
  comparison.max_abs = NAN;
  comparison.max_ulp = INFINITY;
  comparison.within_bound = false;
  comparison.ulp_histogram = {{"0", 5}, {"1", 2}};
  numerics.tensors["grad_w"] = comparison;
  cell.numerics = numerics;
  cell.memory.eager_peak_bytes = 100;
  cell.memory.compiled_peak_bytes = 250;
  cell.launches = Launches{};
  run.cells = {cell};
  run.controls = {{"crashed", "control-crash", Outcome::kCrashed, true, "as it must"}};
  run.exit_code = 1;
  return run;
}

TEST(RunRecordTest, ReadsWhatItWrites) {
  const Json json = ToJson(SmallRun());
  Result<RunRecord> read = RunRecordFromJson(json);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(ToJson(*read).dump(), json.dump());
}

TEST(RunRecordTest, KeepsTheContract) {
  const Json json = ToJson(SmallRun());
  EXPECT_EQ(json["schema_version"], "1.2");
  EXPECT_EQ(json["summary"], Json::parse(R"({"cells":1,"by_outcome":{"numerics_mismatch":1},"by_standing":{"regressed":1},"exit_code":1})"));
  const Json& cell = json["cells"][0];
  EXPECT_EQ(cell["memory"]["ratio"], 2.5);
  EXPECT_EQ(cell["exception"]["first_line"], "first");
  EXPECT_EQ(cell["numerics"]["grad_w"]["max_abs"], "nan") << "NaN is text: JSON has no such number";
  EXPECT_EQ(cell["shape"], "8x16x32");
}

TEST(RunRecordTest, RefusesOtherMajorVersions) {
  const auto message = [](const char* text) { return RunRecordFromJson(Json::parse(text)).error().message; };
  EXPECT_EQ(message(R"({"schema_version": "2.0"})"), "report: schema_version 2.0 is too new; this program reads 1.x");
  EXPECT_EQ(message(R"({"schema_version": "0.9"})"), "report: schema_version 0.9 is too old; this program reads 1.x");
  EXPECT_EQ(message("{}"), "report: no schema_version, so this is no report of flce-repro");
  EXPECT_TRUE(RunRecordFromJson(Json::parse(R"({"schema_version": "1.7", "cells": [{"id": "x", "added_later": 3}]})")).ok());
}

}  // namespace
}  // namespace flce
