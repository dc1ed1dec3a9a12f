#include "reports/testing/sample_run.h"

#include "reports/testing/sample_cells.h"
#include "reports/words.h"

namespace flce::testing {
namespace {

void AddOneOfEachOutcome(RunRecord& run) {
  const TorchRow& newest = kTorches[8];
  const auto add = [&](const char* case_name, Outcome outcome, Reason reason, std::optional<Stage> stage, Standing standing, const char* why, const char* type, const char* message) {
    CellRecord cell = BaseCell(newest, "0.8.5", "none", "9.0");
    cell.case_name = case_name;
    cell.id = std::string(case_name) + cell.id.substr(cell.id.find('/'));
    cell.verdict.outcome = outcome;
    cell.verdict.reason = reason;
    cell.verdict.stage = stage;
    cell.verdict.explanation = why;
    cell.standing = standing;
    cell.expectation = "";
    if (type != nullptr) {
      cell.exception = ExceptionRecord{{{type, message, "raised", {{"torch/_inductor/lowering.py", 3120, "expand", "assert len(sizes) == len(x.get_size())"}}}}, "", {}};
      cell.verdict.fingerprint = "c0ffee12ab34";
    }
    run.cells.push_back(std::move(cell));
  };
  add("addmm-beta-zero", Outcome::kUnexpected, Reason::kNone, Stage::kLowering, Standing::kUnlisted, "A failure of no known signature", "torch._inductor.exc.InductorError",
      "LoweringException: AssertionError: Broadcast failed in ExpandView([7], [3, 11]) on dimension 1");
  add("flce-cpu-tensors", Outcome::kEagerFailed, Reason::kNone, Stage::kEager, Standing::kExpected, "Eager fails too: not a bug of the compiler", "NotImplementedError",
      "Could not run 'aten::addmm.dtype_out' with arguments from the 'CPU' backend");
  add("flce-reduction-none", Outcome::kNumericsMismatch, Reason::kNone, Stage::kNumerics, Standing::kRegressed, "grad_w differs from the fp64 reference by more than rounding can explain", nullptr, nullptr);
  run.cells.back().verdict.evidence = Evidence::kExecuted;
  add("flce-large-vocabulary", Outcome::kEnvironment, Reason::kOutOfMemory, Stage::kEager, Standing::kUnlisted, "The device's memory does not suffice", "torch.OutOfMemoryError",
      "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.21 GiB is free.");
  add("flce-dtensor", Outcome::kCrashed, Reason::kNone, Stage::kLaunch, Standing::kUnlisted, "The worker died of signal 11 while it ran the compiled step", nullptr, nullptr);
  add("flce-max-autotune", Outcome::kTimedOut, Reason::kNone, Stage::kCodegen, Standing::kUnlisted, "The deadline of 300 s passed", nullptr, nullptr);
  add("flce-rocm", Outcome::kSkipped, Reason::kUnsupported, std::nullopt, Standing::kUnlisted, "This build of torch is for ROCm", nullptr, nullptr);
  add("flce-suppressed", Outcome::kNotReproduced, Reason::kNotCompiled, std::nullopt, Standing::kUnlisted, "Errors are suppressed: the code ran in eager", nullptr, nullptr);
}

RunRecord EmptyRun(const char* id, const char* started, const char* finished) {
  RunRecord run;
  run.tool_version = "0.1.0";
  run.id = id;
  run.started = started;
  run.finished = finished;
  run.argv = {"flce-repro", "run", "--torch", "all", "--liger", "0.8.0,0.8.2,0.8.5", "--capability", "7.5,8.0,9.0,12.1", "--fix", "none,guard,custom-op"};
  run.host = {{"os", "Debian GNU/Linux 12 (bookworm)"}, {"kernel", "6.1.0-x86_64"}, {"cpus", "2"}};
  return run;
}

}  // namespace

RunRecord SampleRun() {
  RunRecord run = EmptyRun("20260926-021500-a1b2", "2026-09-26T02:15:00Z", "2026-09-26T02:31:40Z");
  for (const std::string fix : {"none", "guard"})
    for (const TorchRow& row : kTorches)
      for (const char* liger : {"0.8.0", "0.8.2", "0.8.5"})
        for (const std::string capability : {"7.5", "8.0", "9.0", "12.1"})
          if (fix == "none" || capability != "12.1") run.cells.push_back(MatrixCell(row, liger, fix, capability));
  for (const TorchRow* row : {&kTorches[4], &kTorches[6]})
    for (bool executed : {false, true}) {
      run.cells.push_back(FixCell(*row, "guard", 39523000000, executed));
      run.cells.push_back(FixCell(*row, "custom-op", 931000000, executed));
      run.cells.push_back(FixCell(*row, "core-decomposition", 79725000000, executed));
    }
  AddOneOfEachOutcome(run);
  run.exit_code = 1;
  return run;
}

RunRecord LaterSampleRun() {
  RunRecord run = SampleRun();
  run.id = "20260927-021500-c3d4";
  run.started = "2026-09-27T02:15:00Z";
  run.finished = "2026-09-27T02:30:12Z";
  for (CellRecord& cell : run.cells) {
    if (cell.case_name != kSampleCase || cell.liger != "0.8.5" || PublicVersion(cell.torch) != "2.15.0") continue;
    if (cell.verdict.outcome == Outcome::kReproduced) {
      cell.verdict = Verdict{};
      cell.verdict.outcome = Outcome::kNotReproduced;
      cell.verdict.reason = Reason::kFixed;
      cell.verdict.explanation = "The call was reached in eager, its function was compiled, and nothing failed";
      cell.exception.reset();
      cell.standing = Standing::kImproved;
      cell.memory.compiled_peak_bytes = 14848;
    } else if (cell.fix == "guard" && cell.capability == "9.0") {
      MakeTier(cell, 2, true);
      cell.standing = Standing::kRegressed;
    }
  }
  return run;
}

RunRecord LargeRun(size_t cells) {
  RunRecord run = EmptyRun("large", "2026-09-26T02:15:00Z", "2026-09-26T04:15:00Z");
  for (int number = 1; run.cells.size() < cells; ++number)
    for (const char* fix : {"none", "guard", "custom-op"})
      for (const TorchRow& row : kTorches)
        for (const char* liger : {"0.8.0", "0.8.1", "0.8.2", "0.8.3", "0.8.5"})
          for (const char* capability : {"7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "12.0", "12.1"}) {
            CellRecord cell = MatrixCell(row, liger, fix, capability);
            if (number > 1) cell.case_name += "-" + std::to_string(number);
            cell.id = cell.case_name + cell.id.substr(cell.id.find('/'));
            run.cells.push_back(std::move(cell));
          }
  return run;
}

RunRecord ManyCasesRun() {
  RunRecord run = SampleRun();
  run.cells.clear();
  const auto add = [&](const std::string& name, const char* capability, std::optional<uint64_t> seed) {
    for (size_t torch : {0, 5, 8}) {
      CellRecord cell = MatrixCell(kTorches[torch], "0.8.5", "none", capability);
      cell.case_name = name;
      cell.seed = seed;
      cell.id = name + cell.id.substr(cell.id.find('/')) + (seed ? "/seed-" + std::to_string(*seed) : "");
      run.cells.push_back(std::move(cell));
    }
  };
  for (const char* name : {"addmm-out-dtype", kSampleCase, "flce-bias"}) add(name, "9.0", std::nullopt);
  for (uint64_t seed : {1, 2}) add("flce-softcap", "9.0", seed);
  for (const char* capability : {"7.5", "9.0"}) add("flce-sum", capability, std::nullopt);
  return run;
}

CellRecord TierTwoCell() { return MatrixCell(kTorches[6], "0.8.5", "none", "9.0"); }

ReportOptions SampleOptions() {
  ReportOptions options;
  options.signatures["tier1-addmm-dtype-decomposition"] = {
      "Tier 1: addmm with out_dtype stops in torch's core decomposition", "", "", "since torch 2.8, fixed in 2.13 (where Tier 2 takes its place)",
      "Keep the call out of the graph: the custom-op fix holds eager's memory, the guard does not. Torch 2.13 only replaces this failure by Tier 2.",
      {R"(unsupported operand type\(s\) for \*: 'torch\.dtype' and 'FakeTensor')"}, {"https://github.com/pytorch/pytorch/pull/179634"}};
  options.signatures["tier2-addmm-dtype-lowering"] = {
      "Tier 2: addmm with out_dtype stops in Inductor's lowering", "", "", "since torch 2.13, no release is fixed",
      "Keep the call out of the graph: the custom-op fix holds eager's memory, the guard does not. Or set accum_dtype=None.",
      {R"(tuned_addmm\(\) takes \d+ positional arguments but \d+ were given)"}, {"https://github.com/linkedin/Liger-Kernel/issues/1327", "https://github.com/pytorch/pytorch/pull/190936"}};
  options.cases[kSampleCase] = {"Fused linear cross entropy, bf16 with an fp32 gradient accumulator", "flce_case", R"({"dtype": "bfloat16", "accum_dtype": "float32"})",
                                R"({"fullgraph": false, "dynamic": null, "mode": null, "capture_scalar_outputs": true})", {8, 16, 32}, 1327};
  options.locks["5b1f0c4e9a7d3f62c8e1b0a94d7f6e5c3b2a19087f6e5d4c3b2a190817263544"] = "torch==2.13.0 --hash=sha256:0011\ntriton==3.7.1 --hash=sha256:2233\n";
  return options;
}

}  // namespace flce::testing
