#include "harness/verdict/decide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "harness/verdict/decide_given.h"

namespace flce {
namespace {

struct Row {
  const char* what;
  std::function<void(Given&)> change;
  Outcome outcome;
  Reason reason;
  const char* signature;
  const char* explanation;
};

const std::vector<Row>& Rows() {
  static const auto* rows = new std::vector<Row>{
      {"the call was reached and compiled, nothing failed", [](Given&) {}, Outcome::kNotReproduced, Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled with the call in the graph, and nothing failed."},
      {"a guard takes another way in the same compiled file", [](Given& g) { g.o.compiled.graphs.ops = {{"mm", 4}}; }, Outcome::kNotReproduced,
       Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled, by another way than the call, and nothing failed."},
      {"Tier 1 at the call", [](Given& g) { g.FailCompiled(MatchOf(kTier1, Family::kTier1, {"addmm"})); }, Outcome::kReproduced, Reason::kNone, kTier1,
       "Title of tier1-addmm-dtype-decomposition, at the call in liger_kernel/ops/fused_linear_cross_entropy.py."},
      {"Tier 2 at the call", [](Given& g) { g.FailCompiled(MatchOf(kTier2, Family::kTier2, {"addmm"})); }, Outcome::kReproduced, Reason::kNone, kTier2,
       "Title of tier2-addmm-dtype-lowering, at the call in liger_kernel/ops/fused_linear_cross_entropy.py."},
      {"a fix of which nothing ran, where nothing fails",
       [](Given& g) { g.o.fix = FixEffect{true, {{"liger_kernel/ops/swiglu.py", "swiglu_forward", false}}}; }, Outcome::kNotReproduced,
       Reason::kFixNoEffect, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled with the call in the graph, and nothing failed. The "
       "fix has no part in it: it changes swiglu_forward of liger_kernel/ops/swiglu.py, which never ran."},
      {"a fix of which nothing ran leaves the failure",
       [](Given& g) {
         g.FailCompiled(MatchOf(kTier2, Family::kTier2, {"addmm"}));
         g.o.fix = FixEffect{true, {}};
       },
       Outcome::kReproduced, Reason::kFixNoEffect, kTier2,
       "Title of tier2-addmm-dtype-lowering, at the call in liger_kernel/ops/fused_linear_cross_entropy.py. The fix has no part in it: it changes "
       "no code, only comments or layout."},
      {"a fix of which something ran", [](Given& g) { g.o.fix = FixEffect{true, {{"a.py", "f", false}, {"a.py", "g", true}}}; },
       Outcome::kNotReproduced, Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled with the call in the graph, and nothing failed."},
      {"a fix of which something cannot be seen", [](Given& g) { g.o.fix = FixEffect{true, {{"a.py", "f", std::nullopt}}}; }, Outcome::kNotReproduced,
       Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled with the call in the graph, and nothing failed."},
      {"a fix that nobody watched", [](Given& g) { g.o.fix = FixEffect{false, {{"a.py", "f", false}}}; }, Outcome::kNotReproduced, Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled with the call in the graph, and nothing failed."},
      {"Tier 2 of somebody else's addmm", [](Given& g) { g.FailCompiled(MatchOf(kTier2, Family::kTier2, {"addmm"}), {}, "user/model.py"); },
       Outcome::kUnexpected, Reason::kNone, kTier2,
       "The words of tier2-addmm-dtype-lowering, but raised outside liger_kernel/ops/fused_linear_cross_entropy.py."},
      {"a sibling's failure in this case", [](Given& g) { g.FailCompiled(MatchOf("sibling-mm", Family::kSibling, {"mm"})); }, Outcome::kUnexpected,
       Reason::kNone, "sibling-mm", "The compiled run failed with Title of sibling-mm (sibling-mm), which is not what flce asks for."},
      {"a sibling's failure in a case that asks for it",
       [](Given& g) {
         g.facts.reproduces = {"sibling-mm"};
         g.FailCompiled(MatchOf("sibling-mm", Family::kSibling, {"mm"}));
       },
       Outcome::kReproduced, Reason::kNone, "sibling-mm", "Title of sibling-mm, at the call in liger_kernel/ops/fused_linear_cross_entropy.py."},
      {"a sibling's failure in the case of that operator",
       [](Given& g) {
         g.facts.call = {"mm", {"dtype"}, "", {"bf16"}, "f32"};
         g.FailCompiled(MatchOf("sibling-mm", Family::kSibling, {"mm"}), {}, "cases/operator_case.py");
       },
       Outcome::kReproduced, Reason::kNone, "sibling-mm", "Title of sibling-mm."},
      {"a tier in a control",
       [](Given& g) {
         g.facts = {"control", {}, {}};
         g.FailCompiled(MatchOf(kTier1, Family::kTier1, {"addmm"}));
       },
       Outcome::kUnexpected, Reason::kNone, kTier1,
       "The compiled run failed with Title of tier1-addmm-dtype-decomposition (tier1-addmm-dtype-decomposition), which is not what control asks for."},
      {"a failure of no signature", [](Given& g) { g.FailCompiled(std::nullopt); }, Outcome::kUnexpected, Reason::kNone, "",
       "The compiled run failed, eager did not: torch._inductor.exc.InductorError: LoweringException: first line; no known signature."},
      {"a known failure of the compiler that is not the call's", [](Given& g) { g.FailCompiled(MatchOf("other-x", Family::kOtherCompile)); },
       Outcome::kUnexpected, Reason::kNone, "other-x", "The compiled run failed, eager did not: Title of other-x (other-x)."},
      {"a known eager failure that only the compiled run has", [](Given& g) { g.FailCompiled(MatchOf("eager-x", Family::kEager)); },
       Outcome::kUnexpected, Reason::kNone, "eager-x", "The compiled run failed, eager did not: Title of eager-x (eager-x)."},
      {"the toolchain fails the compiled run", [](Given& g) { g.FailCompiled(MatchOf("environment-ptxas-too-old", Family::kEnvironment)); },
       Outcome::kEnvironment, Reason::kNone, "environment-ptxas-too-old",
       "The toolchain or the machine failed, not the code: Title of environment-ptxas-too-old (environment-ptxas-too-old)."},
      {"unsupported hardware", [](Given& g) { g.FailCompiled(MatchOf("unsupported-x", Family::kUnsupported)); }, Outcome::kSkipped, Reason::kUnsupported,
       "unsupported-x", "Title of unsupported-x."},
      {"eager fails", [](Given& g) { g.FailEager(std::nullopt); }, Outcome::kEagerFailed, Reason::kNone, "",
       "Fails without torch.compile: builtins.RuntimeError: first line."},
      {"eager fails with a known signature", [](Given& g) { g.FailEager(MatchOf("eager-x", Family::kEager)); }, Outcome::kEagerFailed, Reason::kNone,
       "eager-x", "Fails without torch.compile: Title of eager-x (eager-x)."},
      {"eager fails and the compile stops at a tier all the same",
       [](Given& g) {
         g.FailEager(std::nullopt);
         g.FailCompiled(MatchOf(kTier1, Family::kTier1, {"addmm"}));
       },
       Outcome::kEagerFailed, Reason::kNone, "",
       "Fails without torch.compile: builtins.RuntimeError: first line; the compile stops at tier1-addmm-dtype-decomposition all the same."},
      {"the toolchain fails eager, and the tier is still named",
       [](Given& g) {
         g.FailEager(MatchOf("environment-ptxas-too-old", Family::kEnvironment));
         g.FailCompiled(MatchOf(kTier2, Family::kTier2, {"addmm"}));
       },
       Outcome::kEnvironment, Reason::kNone, "environment-ptxas-too-old",
       "The toolchain or the machine failed, not the code: Title of environment-ptxas-too-old (environment-ptxas-too-old); the compile stops at "
       "tier2-addmm-dtype-lowering all the same."},
      {"the words of a tier without any compile", [](Given& g) { g.FailEager(MatchOf(kTier1, Family::kTier1, {"addmm"})); }, Outcome::kEagerFailed,
       Reason::kNone, kTier1, "Fails without torch.compile: Title of tier1-addmm-dtype-decomposition (tier1-addmm-dtype-decomposition)."},
      {"the emulated device lacks an entry point",
       [](Given& g) {
         g.FailEager(std::nullopt);
         g.o.eager.exception = Raised("builtins.RuntimeError", "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasX");
         g.o.refused = {{"cublasX", 1}, {"cublasY", 2}};
       },
       Outcome::kEnvironment, Reason::kNone, "",
       "The emulated device does not have what was asked of it (cublasX, cublasY): CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling cublasX."},
      {"a refusal does not excuse another error",
       [](Given& g) {
         g.FailEager(std::nullopt);
         g.o.refused = {{"cublasX", 1}};
       },
       Outcome::kEagerFailed, Reason::kNone, "", "Fails without torch.compile: builtins.RuntimeError: first line."},
      {"a real GPU refuses nothing",
       [](Given& g) {
         g.FailEager(std::nullopt);
         g.o.device_kind = DeviceKind::kCuda;
         g.o.eager.exception = Raised("builtins.RuntimeError", "CUDA error: unknown");
         g.o.refused = {{"cublasX", 1}};
       },
       Outcome::kEagerFailed, Reason::kNone, "", "Fails without torch.compile: builtins.RuntimeError: CUDA error: unknown."},
      {"this torch refuses the argument",
       [](Given& g) {
         Match match = MatchOf("no-out-dtype-overload", Family::kUnsupported);
         match.reason = Reason::kNotAffected;
         g.FailEager(match);
       },
       Outcome::kNotReproduced, Reason::kNotAffected, "no-out-dtype-overload", "Title of no-out-dtype-overload."},
      {"the compiled run needs too much memory",
       [](Given& g) {
         g.FailCompiled(MatchOf("out-of-memory", Family::kOutOfMemory));
         g.o.compiled.out_of_memory = OutOfMemory{39000000000, 24000000000, 1000000000, "m"};
       },
       Outcome::kEnvironment, Reason::kOutOfMemory, "out-of-memory",
       "The compiled run needs more memory than the device has: 39.00 GB asked for with 1.00 GB in use of 24.00 GB; eager fits."},
      {"out of memory by its words alone", [](Given& g) { g.FailEager(MatchOf("out-of-memory", Family::kOutOfMemory)); }, Outcome::kEnvironment,
       Reason::kOutOfMemory, "out-of-memory", "Eager needs more memory than the device has."},
      {"out of memory in words that no signature knows",
       [](Given& g) {
         g.FailCompiled(std::nullopt);
         g.o.compiled.out_of_memory = OutOfMemory{};
       },
       Outcome::kEnvironment, Reason::kOutOfMemory, "", "The compiled run needs more memory than the device has; eager fits."},
      {"no such overload in this torch", [](Given& g) { g.o.overloads = {"default", "out"}; }, Outcome::kNotReproduced, Reason::kNotAffected, "",
       "torch 2.13.0 has no overload of addmm with out_dtype."},
      {"no such call in this Liger", [](Given& g) { g.o.call_present = false; }, Outcome::kNotReproduced, Reason::kNotAffected, "",
       "Liger 0.8.5 makes no such call in liger_kernel/ops/fused_linear_cross_entropy.py."},
      {"a control that passes", [](Given& g) { g.facts.call = {}; }, Outcome::kNotReproduced, Reason::kNotAffected, "",
       "The case makes no call that is known to fail; it compiled and ran."},
      {"the probe never saw the call", [](Given& g) { g.o.probe_calls.clear(); }, Outcome::kNotReproduced, Reason::kNotExercised, "",
       "Eager never reached addmm(out_dtype=...): capability 9.0, a frozen weight, or operands and accumulator of other types."},
      {"the probe saw another overload", [](Given& g) { g.o.probe_calls[0].op = "aten.addmm.out"; }, Outcome::kNotReproduced, Reason::kNotExercised, "",
       "Eager never reached addmm(out_dtype=...): capability 9.0, a frozen weight, or operands and accumulator of other types."},
      {"the probe saw the call elsewhere", [](Given& g) { g.o.probe_calls[0].site.file = "liger_kernel/ops/fused_linear_jsd.py"; },
       Outcome::kNotReproduced, Reason::kNotExercised, "",
       "Eager never reached addmm(out_dtype=...): capability 9.0, a frozen weight, or operands and accumulator of other types."},
      {"the launch log has no such product",
       [](Given& g) {
         g.o.eager.launches->gemms.pop_back();
         g.o.eager.launches->gemm_count = 1;
       },
       Outcome::kNotReproduced, Reason::kNotExercised, "", "The launch log of eager shows no product of bf16/f16 operands accumulated in f32."},
      {"nothing was watched",
       [](Given& g) {
         g.o.probe_ran = false;
         g.o.eager.launches.reset();
       },
       Outcome::kNotReproduced, Reason::kNotExercised, "", "Nothing shows that eager reached addmm(out_dtype=...): it was not watched."},
      {"a launch log that was cut cannot deny the product",
       [](Given& g) {
         g.o.eager.launches->gemms.pop_back();
         g.o.eager.launches->gemm_count = 5000;
       },
       Outcome::kNotReproduced, Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled with the call in the graph, and nothing failed."},
      {"torch.compile is disabled", [](Given& g) { g.o.compiled.graphs.disabled = true; }, Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "torch.compile is switched off."},
      {"TORCHDYNAMO_DISABLE", [](Given& g) { g.o.environment["TORCHDYNAMO_DISABLE"] = "1"; }, Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "torch.compile is switched off."},
      {"suppress_errors hid a failure", [](Given& g) { g.o.compiled.graphs.suppressed = 1; }, Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "Dynamo gave 1 failing frame(s) up and ran them eagerly (suppress_errors)."},
      {"no graph", [](Given& g) { g.o.compiled.graphs.captured = 0; }, Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "No graph was captured: the compiled run was an eager one."},
      {"captured, never compiled", [](Given& g) { g.o.compiled.graphs.compiled = 0; }, Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "No captured graph was compiled."},
      {"nothing of the file in a graph",
       [](Given& g) {
         g.o.compiled.graphs.nodes_from = {{"case", 3}};
         g.o.compiled.graphs.ops = {{"mul", 3}};
         g.o.compiled.graphs.breaks = {{"Skip calling `torch.compiler.disable()`d function", "cases/flce_case.py:30"}};
       },
       Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "No captured graph holds anything of liger_kernel/ops/fused_linear_cross_entropy.py (the graph is broken at "
       "cases/flce_case.py:30: Skip calling `torch.compiler.disable()`d function)."},
      {"the graph is broken on purpose in the file, and the call is in no graph",
       [](Given& g) {
         g.o.compiled.graphs.ops = {{"mm", 2}};
         g.o.compiled.graphs.breaks = {{"Call to `torch._dynamo.graph_break()`", std::string(kModule) + ":340"}};
       },
       Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "The call is in no captured graph (the graph is broken at liger_kernel/ops/fused_linear_cross_entropy.py:340: Call to "
       "`torch._dynamo.graph_break()`)."},
      {"an operator that failed to trace became a graph break",
       [](Given& g) {
         g.facts.call = {"mm", {"dtype"}, "", {"bf16"}, "f32"};
         g.o.overloads = {"dtype"};
         g.o.probe_calls = {{"aten.mm.dtype", {"cases/operator_case.py", 30, "step"}, 1, "bf16", "f32"}};
         g.o.compiled.graphs.nodes_from = {{"case", 1}};
         g.o.compiled.graphs.ops = {{"add", 1}, {"addmm(out_dtype)", 1}};
         g.o.compiled.graphs.breaks = {{"TypeError when making fake tensor call\n  Explanation: ", "cases/operator_case.py:30"}};
       },
       Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "The call is in no captured graph (the graph is broken at cases/operator_case.py:30: TypeError when making fake tensor call)."},
      {"a break that only ends a graph leaves a guarded call compiled",
       [](Given& g) {
         g.o.compiled.graphs.ops = {{"mm", 2}};
         g.o.compiled.graphs.breaks = {{"Unsupported Tensor.item() call with capture_scalar_outputs=False", std::string(kModule) + ":132"}};
       },
       Outcome::kNotReproduced, Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled, by another way than the call, and nothing failed."},
      {"the call ran eagerly beside compiled graphs",
       [](Given& g) {
         g.o.compiled.graphs.ops = {{"mm", 2}, {"aten.add.Tensor", 1}};
         g.o.compiled.launches = g.o.eager.launches;
       },
       Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "The compiled run launched the call's product, but no captured graph holds the call: it ran outside of the graphs."},
      {"a backward pass ran eagerly on a real GPU, which tells no launches",
       [](Given& g) {
         g.o.device_kind = DeviceKind::kCuda;
         g.o.eager.launches.reset();
         g.o.compiled.graphs.ops = {{"mm", 2}};
         g.o.compiled.graphs.branch_nodes = 0;
         g.o.compiled.graphs.breaks = {{"Unsupported hasattr call\n  Explanation: none", "liger_kernel/transformers/functional.py:118"},
                                       {"Unsupported hasattr call\n  Explanation: none", "liger_kernel/transformers/functional.py:118"},
                                       {"Unsupported method call", "torch/_dynamo/x.py:241"}};
       },
       Outcome::kNotReproduced, Reason::kNotCompiled, "",
       "No captured graph holds the call, nor anything that liger_kernel/ops/fused_linear_cross_entropy.py does in its place: it ran outside of "
       "the graphs (the graph is broken at liger_kernel/transformers/functional.py:118: Unsupported hasattr call; at torch/_dynamo/x.py:241: "
       "Unsupported method call)."},
      {"a guard's other branch was compiled on a real GPU",
       [](Given& g) {
         g.o.device_kind = DeviceKind::kCuda;
         g.o.eager.launches.reset();
         g.o.compiled.graphs.ops = {{"mm", 4}};
         g.o.compiled.graphs.branch_nodes = 3;
       },
       Outcome::kNotReproduced, Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled, by another way than the call, and nothing failed."},
      {"an operator of its own needs no other branch",
       [](Given& g) {
         g.o.eager.launches.reset();
         g.o.compiled.graphs.ops = {{"mm", 2}, {"flce_repro.add_product_in_fp32.default", 1}};
         g.o.compiled.graphs.branch_nodes = 0;
       },
       Outcome::kNotReproduced, Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled, by another way than the call, and nothing failed."},
      {"a fix makes the call inside an operator of its own",
       [](Given& g) {
         g.o.compiled.graphs.ops = {{"mm", 2}, {"flce_repro.add_product_in_fp32.default", 1}};
         g.o.compiled.launches = g.o.eager.launches;
       },
       Outcome::kNotReproduced, Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled, by another way than the call, and nothing failed."},
      {"values break a claim",
       [](Given& g) {
         g.numerics.emplace();
         g.numerics->computed = true;
         g.numerics->violations = {"grad_x differs from eager", "grad_w is out of bound"};
       },
       Outcome::kNumericsMismatch, Reason::kNone, "", "Compiled and ran, but grad_x differs from eager (and 1 more)."},
      {"values that were not computed say nothing",
       [](Given& g) {
         g.numerics.emplace();
         g.numerics->violations = {"noise"};
       },
       Outcome::kNotReproduced, Reason::kFixed, "",
       "Eager reached the call, liger_kernel/ops/fused_linear_cross_entropy.py was compiled with the call in the graph, and nothing failed."},
      {"wrong values outrank not_affected",
       [](Given& g) {
         g.o.overloads = {"default"};
         g.numerics.emplace();
         g.numerics->computed = true;
         g.numerics->violations = {"the loss is not finite"};
       },
       Outcome::kNumericsMismatch, Reason::kNone, "", "Compiled and ran, but the loss is not finite."},
      {"a signal", [](Given& g) { g.Die(ProcessEnd::Kind::kSignaled, 11); }, Outcome::kCrashed, Reason::kNone, "",
       "The process died of signal 11 during stage eager."},
      {"a worker that could not do its work",
       [](Given& g) {
         g.Die(ProcessEnd::Kind::kExited, 0);
         g.o.error = "what the worker wrote cannot be read";
       },
       Outcome::kEnvironment, Reason::kNone, "",
       "The worker could not do its work during stage eager: what the worker wrote cannot be read."},
      {"an exit without a result", [](Given& g) { g.Die(ProcessEnd::Kind::kExited, 0); }, Outcome::kCrashed, Reason::kNone, "",
       "The process ended by itself with exit code 0 during stage eager, without a result."},
      {"an exit that standard error explains",
       [](Given& g) {
         g.Die(ProcessEnd::Kind::kExited, 1);
         g.readings.process->match = MatchOf("environment-x", Family::kEnvironment);
       },
       Outcome::kEnvironment, Reason::kNone, "environment-x", "The process gave up during stage eager: Title of environment-x."},
      {"a signal is a crash whatever standard error says",
       [](Given& g) {
         g.Die(ProcessEnd::Kind::kSignaled, 6);
         g.readings.process->match = MatchOf("environment-x", Family::kEnvironment);
       },
       Outcome::kCrashed, Reason::kNone, "", "The process died of signal 6 during stage eager."},
      {"the deadline", [](Given& g) { g.Die(ProcessEnd::Kind::kTimedOut, 0); }, Outcome::kTimedOut, Reason::kNone, "",
       "No end within 5 min 0 s during stage eager."},
      {"no worker", [](Given& g) { g.Die(ProcessEnd::Kind::kNotStarted, 0); }, Outcome::kEnvironment, Reason::kNone, "",
       "The worker could not start: no such file."},
      {"the case says it cannot run", [](Given& g) { g.o.skipped = "transformers is not installed"; }, Outcome::kSkipped, Reason::kUnsupported, "",
       "The case cannot run here: transformers is not installed."},
      {"torch does not import",
       [](Given& g) {
         g.o.stage = Stage::kImport;
         g.o.exception = Raised("builtins.ImportError", "libcublas.so: cannot open");
         g.readings.setup = Reading(std::nullopt);
       },
       Outcome::kEnvironment, Reason::kNone, "", "Stage import failed: builtins.ImportError: libcublas.so: cannot open."},
      {"the case cannot be built",
       [](Given& g) {
         g.o.stage = Stage::kEager;
         g.o.exception = Raised("builtins.KeyError", "what");
         g.readings.setup = Reading(std::nullopt);
       },
       Outcome::kEagerFailed, Reason::kNone, "", "The case could not be built: builtins.KeyError: what."},
      {"the compiled phase never ran", [](Given& g) { g.o.compiled.status = Phase::Status::kNotRun; }, Outcome::kEnvironment, Reason::kNone, "",
       "The worker ended without running the compiled phase."},
  };
  return *rows;
}

TEST(DecideTest, EachObservationHasItsVerdict) {
  for (const Row& row : Rows()) {
    Given given;
    row.change(given);
    const Verdict verdict = given.Decided();
    EXPECT_EQ(Text(verdict.outcome), Text(row.outcome)) << row.what;
    EXPECT_EQ(Text(verdict.reason), Text(row.reason)) << row.what;
    EXPECT_EQ(verdict.signature, row.signature) << row.what;
    EXPECT_EQ(verdict.explanation, row.explanation) << row.what;
  }
}

TEST(DecideTest, TheTableHasEveryOutcomeAndEveryReasonOfAnObservation) {
  for (Outcome outcome : AllOutcomes()) {
    EXPECT_TRUE(std::any_of(Rows().begin(), Rows().end(), [&](const Row& row) { return row.outcome == outcome; })) << Text(outcome);
  }
  for (Reason reason : {Reason::kFixed, Reason::kNotAffected, Reason::kNotExercised, Reason::kNotCompiled, Reason::kFixNoEffect, Reason::kUnsupported, Reason::kOutOfMemory})
    EXPECT_TRUE(std::any_of(Rows().begin(), Rows().end(), [&](const Row& row) { return row.reason == reason; })) << Text(reason);
}

TEST(DecideTest, AFailureIsNeverAPass) {
  // Whatever else is known of the run, an exception in the compiled phase does not become "not reproduced".
  for (const Row& row : Rows()) {
    if (row.outcome != Outcome::kNotReproduced) continue;
    Given given;
    row.change(given);
    if (given.readings.eager) continue;
    given.FailCompiled(std::nullopt);
    EXPECT_NE(given.Decided().outcome, Outcome::kNotReproduced) << row.what;
  }
}

}  // namespace
}  // namespace flce
