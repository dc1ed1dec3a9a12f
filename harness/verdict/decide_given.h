#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/verdict/decide.h"

// What the tests of Decide share: an observation that is `fixed`, and the ways to spoil it.
namespace flce {

inline constexpr const char* kModule = "liger_kernel/ops/fused_linear_cross_entropy.py";
inline constexpr const char* kTier1 = "tier1-addmm-dtype-decomposition";
inline constexpr const char* kTier2 = "tier2-addmm-dtype-lowering";

inline CaseFacts Flce() { return {"flce", {"addmm", {"dtype_out", "dtype"}, kModule, {"bf16", "f16"}, "f32"}, {}}; }

inline GemmCall Gemm(const std::string& operand, const std::string& result) {
  return {"cublasGemmEx", "n", "t", operand, operand, result, "f32", 16, 32, 4, 1, true};
}

inline ExceptionRecord Raised(const std::string& type, const std::string& message, const std::string& user_file = kModule) {
  return {{{type, message, "raised", {{"torch/x.py", 1, "f"}}}}, "", {{user_file, 341, "forward"}}};
}

inline FailureReading Reading(std::optional<Match> match, std::optional<Stage> stage = std::nullopt) {
  return {std::move(match), {"0123456789ab", "what failed"}, stage};
}

inline Match MatchOf(const std::string& id, Family family, std::vector<std::string> operators = {}) {
  Match match;
  match.signature = id;
  match.title = "Title of " + id;
  match.family = family;
  match.operators = std::move(operators);
  return match;
}

/// Everything a verdict is made from. Begins as a run that is `fixed`: each test changes what it is about.
struct Given {
  CaseFacts facts = Flce();
  Observation o;
  Readings readings;
  std::optional<NumericsRecord> numerics;
  std::optional<double> budget;

  Given() {
    o.complete = true;
    o.torch = "2.13.0";
    o.liger = "0.8.5";
    o.capability = "9.0";
    o.overloads = {"default", "dtype", "dtype_out", "out"};
    o.call_present = true;
    o.probe_ran = true;
    o.probe_calls = {{"aten.addmm.dtype_out", {kModule, 341, "forward"}, 2, "bf16", "f32"}};
    o.eager.status = o.compiled.status = Phase::Status::kOk;
    Launches launches;
    launches.gemms = {Gemm("bf16", "bf16"), Gemm("bf16", "f32")};
    launches.gemm_count = 2;
    o.eager.launches = launches;
    o.compiled.graphs.captured = o.compiled.graphs.compiled = 2;
    o.compiled.graphs.nodes_from = {{kModule, 40}};
    o.compiled.graphs.ops = {{"addmm(out_dtype)", 1}};
  }

  void FailCompiled(std::optional<Match> match, std::optional<Stage> stage = std::nullopt, const std::string& user_file = kModule) {
    o.compiled.status = Phase::Status::kRaised;
    o.compiled.exception = Raised("torch._inductor.exc.InductorError", "LoweringException: first line\nsecond", user_file);
    readings.compiled = Reading(std::move(match), stage);
  }
  void FailEager(std::optional<Match> match) {
    o.eager.status = Phase::Status::kRaised;
    o.eager.exception = Raised("builtins.RuntimeError", "first line\nsecond");
    readings.eager = Reading(std::move(match));
    o.stage = Stage::kEager;
  }
  void Die(ProcessEnd::Kind kind, int code) {
    o.complete = false;
    o.end.kind = kind;
    o.end.code = code;
    o.end.seconds = 300;
    o.end.detail = "no such file";
    o.stages = {Stage::kImport, Stage::kEager};
    readings.process = Reading(std::nullopt);
  }
  Verdict Decided() const { return Decide(facts, o, readings, numerics ? &*numerics : nullptr, budget); }
};

}  // namespace flce
