#include "reports/testing/sample_cells.h"

#include "reports/words.h"

namespace flce::testing {
namespace {

int CallLine(const std::string& liger) { return liger == "0.8.1" ? 229 : liger == "0.8.2" ? 249 : 341; }

std::string DeviceName(const std::string& capability) {
  static const std::map<std::string, std::string> kNames = {
      {"7.5", "Tesla T4"},    {"8.0", "NVIDIA A100-SXM4-40GB"},    {"8.6", "NVIDIA A10"}, {"8.9", "NVIDIA L4"}, {"9.0", "NVIDIA H100 80GB HBM3"},
      {"10.0", "NVIDIA B200"}, {"12.0", "NVIDIA GeForce RTX 5090"}, {"12.1", "NVIDIA GB10"}};
  const auto it = kNames.find(capability);
  return it == kNames.end() ? "" : it->second;
}

const char* const kCall = "torch.addmm(grad_weight, grad_logits_t, input_chunk, out_dtype=torch.float32, out=grad_weight)";

ExceptionRecord TierOne(int call_line, bool newer) {
  const std::string cause = "unsupported operand type(s) for *: 'torch.dtype' and 'FakeTensor'";
  const std::string call =
      "call_function <built-in method addmm of type object at 0x7f0>(*(FakeTensor(..., device='cuda:0', size=(32, 16)), "
      "FakeTensor(..., device='cuda:0', size=(32, 4), dtype=torch.bfloat16), FakeTensor(..., device='cuda:0', size=(4, 16), "
      "dtype=torch.bfloat16)), **{'out_dtype': torch.float32})";
  const std::string inner = "Dynamo failed to run FX node with fake tensors: " + call + ": got TypeError(\"" + cause + "\")";
  ExceptionRecord e;
  e.chain.push_back({"torch._dynamo.exc.TorchRuntimeError", newer ? "RuntimeError when making fake tensor call\n  Explanation: " + inner : inner, "raised",
                     {{"torch/_dynamo/utils.py", 3347, "get_fake_value", "raise TorchRuntimeError(str(e)) from e"}}});
  e.chain.push_back({newer ? "torch._dynamo.exc.Unsupported" : "RuntimeError", newer ? "RuntimeError when making fake tensor call" : inner, "cause",
                     {{"torch/_dynamo/exc.py", 641, "unimplemented", "raise Unsupported(msg)"}}});
  e.chain.push_back({"TypeError", cause, "cause",
                     {{"torch/_prims_common/wrappers.py", 309, "_fn", "result = fn(*args, **kwargs)"},
                      {"torch/_decomp/decompositions.py", 84, "inner", "r = f(*tree_map(increase_prec, args))"},
                      {"torch/_decomp/decompositions.py", 1486, "addmm", "return out + beta * self"}}});
  e.user_frames = {{"case", 12, "step", "return flce(x, w, target, accum_dtype=torch.float32)"}, {kLigerFile, call_line, "fused_linear_cross_entropy_forward", kCall}};
  return e;
}

ExceptionRecord TierTwo(int call_line) {
  const std::string cause = "tuned_addmm() takes 3 positional arguments but 4 were given";
  ExceptionRecord e;
  e.chain.push_back({"torch._inductor.exc.InductorError",
                     "LoweringException: TypeError: " + cause + "\n  target: aten.addmm.dtype\n  args[0]: TensorBox(StorageBox(...))\n  args[3]: torch.float32", "raised",
                     {{"torch/_inductor/compile_fx.py", 1041, "_compile_fx_inner", "raise InductorError(e, currentframe()) from e"},
                      {"torch/_inductor/graph.py", 1266, "call_function", "raise LoweringException(e, target, args, kwargs)"}}});
  e.chain.push_back({"torch._inductor.exc.LoweringException", "TypeError: " + cause + "\n  target: aten.addmm.dtype", "cause",
                     {{"torch/_inductor/graph.py", 1264, "call_function", "out = lowerings[target](*args, **kwargs)"}}});
  e.chain.push_back({"TypeError", cause, "cause", {{"torch/_inductor/lowering.py", 534, "wrapped", "out = decomp_fn(*args, **kwargs)"}}});
  e.target = "aten.addmm.dtype";
  e.user_frames = {{kLigerFile, call_line, "torch_dynamo_resume_in_fused_linear_cross_entropy_forward_at_93", kCall}};
  return e;
}

Launches SampleLaunches(bool accumulates) {
  Launches launches;
  for (int chunk = 0; chunk < 2; ++chunk) {
    launches.gemms.push_back({"cublasGemmEx", "t", "n", "bf16", "bf16", "bf16", "f32", 32, 4, 16, 1, false});
    launches.gemms.push_back({"cublasGemmEx", "n", "n", "bf16", "bf16", "bf16", "f32", 16, 4, 32, 1, false});
    launches.gemms.push_back({"cublasGemmEx", "n", "t", "bf16", "bf16", accumulates ? "f32" : "bf16", "f32", 16, 32, 4, 1, accumulates});
  }
  launches.gemm_count = 6;
  launches.kernels = {{"liger_cross_entropy_kernel", 2}, {"triton_poi_fused__to_copy_add_0", 2}, {"triton_poi_fused_zeros_1", 1}, {"triton_red_fused_div_sum_2", 1}};
  launches.kernel_count = 6;
  return launches;
}

void MakeNotReproduced(CellRecord& cell, Reason reason, const char* why, const char* expectation) {
  cell.verdict.outcome = Outcome::kNotReproduced;
  cell.verdict.reason = reason;
  cell.verdict.explanation = why;
  cell.memory.compiled_peak_bytes = 14848;
  cell.expectation = expectation;
}

}  // namespace

CellRecord BaseCell(const TorchRow& row, const std::string& liger, const std::string& fix, const std::string& capability) {
  CellRecord cell;
  cell.case_name = kSampleCase;
  cell.fix = fix;
  cell.torch = row.torch;
  cell.torch_git = "c4c886d9f62b69150800e0fc96199e3b36d61181";
  cell.triton = row.triton;
  cell.cuda = row.cuda;
  cell.python = "3.11.2";
  cell.liger = liger;
  cell.capability = capability;
  cell.device_name = DeviceName(capability);
  cell.lock_sha256 = "5b1f0c4e9a7d3f62c8e1b0a94d7f6e5c3b2a19087f6e5d4c3b2a190817263544";
  cell.id = std::string(kSampleCase) + "/torch-" + PublicVersion(row.torch) + "/liger-" + liger + "/" + fix + "/emulated-" + capability;
  cell.seconds = 2.4;
  cell.timings_ms = {{"import", 5230}, {"eager", 212}, {"compiled_first", 1840}};
  cell.folder = "cells/17";
  cell.standing = Standing::kExpected;
  cell.expectation = "known since torch 2.8, no release is fixed";
  cell.memory.eager_peak_bytes = 14848;
  cell.launches = SampleLaunches(true);
  return cell;
}

void MakeTier(CellRecord& cell, int tier, bool newer) {
  cell.verdict.outcome = Outcome::kReproduced;
  cell.verdict.reason = Reason::kNone;
  cell.verdict.signature = tier == 1 ? "tier1-addmm-dtype-decomposition" : "tier2-addmm-dtype-lowering";
  cell.verdict.stage = tier == 1 ? Stage::kDynamo : Stage::kLowering;
  cell.verdict.explanation = tier == 1 ? "The decomposition of addmm was given out_dtype where beta belongs" : "Inductor's lowering of addmm was called with out_dtype, which it does not take";
  cell.verdict.fingerprint = tier == 1 ? "9f2c41d07a1e" : "41c7a0be52d3";
  cell.call_site = std::string(kLigerFile) + ":" + std::to_string(CallLine(cell.liger));
  cell.exception = tier == 1 ? TierOne(CallLine(cell.liger), newer) : TierTwo(CallLine(cell.liger));
  cell.memory.compiled_peak_bytes.reset();
}

CellRecord MatrixCell(const TorchRow& row, const std::string& liger, const std::string& fix, const std::string& capability) {
  CellRecord cell = BaseCell(row, liger, fix, capability);
  const std::string torch = PublicVersion(row.torch);
  if (row.tier == 0) {
    MakeNotReproduced(cell, Reason::kNotAffected, "This torch has no overload of addmm with out_dtype", "not affected before torch 2.8");
    return cell;
  }
  if (liger == "0.8.0") {
    MakeNotReproduced(cell, Reason::kNotAffected, "This Liger does not make the call", "not affected before Liger 0.8.1");
    return cell;
  }
  cell.call_site = std::string(kLigerFile) + ":" + std::to_string(CallLine(liger));
  if (capability == "7.5") {
    MakeNotReproduced(cell, Reason::kNotExercised, "The call is there but was not reached: the fast path asks for compute capability 8.0", "not exercised below 8.0");
  } else if (fix == "none") {
    MakeTier(cell, row.tier, torch == "2.11.0" || torch == "2.12.1");
  } else {
    MakeNotReproduced(cell, Reason::kFixed, "The call was reached in eager, its function was compiled, and nothing failed", "the fix holds");
    cell.launches = SampleLaunches(fix != "guard");
  }
  return cell;
}

CellRecord FixCell(const TorchRow& row, const std::string& fix, uint64_t peak, bool executed) {
  CellRecord cell = MatrixCell(row, "0.8.5", fix, "9.0");
  cell.shape = Shape{2048, 1024, 151936};
  cell.id += "/2048x1024x151936";
  cell.memory = {628000000, peak, 1.5, {}};
  cell.memory.top_blocks = {{622329856, {{kLigerFile, 341, "fused_linear_cross_entropy_forward", kCall}}}, {311164928, {{kLigerFile, 296, "fused_linear_cross_entropy_forward"}}}};
  if (peak > 942000000)
    cell.verdict.findings.push_back({"memory_budget", "compiled needs " + std::to_string(peak / 628000000) + " times the memory of eager; the budget is 1.5 times"});
  if (!executed) return cell;
  cell.device_kind = DeviceKind::kCuda;
  cell.device_name = "NVIDIA H200";
  cell.verdict.evidence = Evidence::kExecuted;
  cell.id.replace(cell.id.find("emulated"), 8, "cuda");
  cell.timings_ms = {{"eager", 85.0}, {"compiled", fix == "guard" ? 46.6 : fix == "custom-op" ? 86.7 : 64.3}};
  NumericsRecord numerics;
  numerics.computed = true;
  TensorComparison same;
  same.bitwise = true;
  same.elements = 2097152;
  same.max_ulp = 0;
  same.ulp_histogram = {{"0", 2097152}};
  numerics.tensors["grad_x"] = same;
  numerics.tensors["loss"] = {false, 1, 1, 4.76837158203125e-07, 1.0, 9.5e-07, true, {{"1", 1}}, "[]"};
  same.elements = 155582464;
  same.ulp_histogram = {{"0", 155582464}};
  numerics.tensors["grad_w"] = same;
  if (fix == "guard")
    numerics.tensors["grad_w"] = {false, 155582464, 41216, 0.001953125, 3.0, 0.0039, true, {{"0", 155541248}, {"1", 41190}, {"2-3", 26}, {"4-7", 0}}, "[3, 17]"};
  cell.numerics = numerics;
  return cell;
}

}  // namespace flce::testing
