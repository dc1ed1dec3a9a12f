#include "harness/classify/classify.h"

#include <gtest/gtest.h>

#include "harness/classify/fingerprint.h"
#include "harness/classify/stage.h"

namespace flce {
namespace {

constexpr const char* kTier1 = "tier1-addmm-dtype-decomposition";
constexpr const char* kTier2 = "tier2-addmm-dtype-lowering";

const SignatureBook& Book() {
  static const auto* book = new Result<SignatureBook>(SignatureBook::Load(FLCE_SOURCE_DIR "/cases/signatures.json"));
  if (!book->ok()) ADD_FAILURE() << book->error().message;
  return book->value();
}

ExceptionRecord Chain(std::vector<ExceptionLink> links, std::string target = "") { return {std::move(links), std::move(target), {}}; }

std::string IdOf(const ExceptionRecord& exception, std::string_view output = "", std::string_view torch = "") {
  const std::vector<Match> matches = ClassifyAll(Book(), &exception, {output, torch});
  EXPECT_LE(matches.size(), 1u) << matches[0].signature;
  return matches.empty() ? "" : matches[0].signature;
}

const std::string kNode =
    "call_function <built-in method addmm of type object at 0x7f48779cc4c0>(*(FakeTensor(..., device='cuda:0', size=(32, 16)),\n"
    "  FakeTensor(...)), **{'out_dtype': torch.float32, 'out': FakeTensor(..., size=(32, 16))}): got ";
const std::string kTimes = "TypeError(\"unsupported operand type(s) for *: 'torch.dtype' and 'FakeTensor'\")";

TEST(ClassifyTest, Tier1UntilTorch210HasItsWordsInTheFirstLine) {
  const ExceptionRecord e = Chain({{"torch._dynamo.exc.TorchRuntimeError", "Dynamo failed to run FX node with fake tensors: " + kNode + kTimes, "raised", {}}});
  EXPECT_EQ(IdOf(e), kTier1);
}

TEST(ClassifyTest, Tier1OfTorch211HasThemInTheSecond) {
  const ExceptionRecord e = Chain({{"torch._dynamo.exc.TorchRuntimeError",
                                    "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors: " + kNode + kTimes, "raised", {}}});
  EXPECT_EQ(IdOf(e), kTier1);
}

TEST(ClassifyTest, UserCodeThatMultipliesADtypeIsNotTier1) {
  EXPECT_EQ(IdOf(Chain({{"torch._dynamo.exc.TorchRuntimeError",
                         "Dynamo failed to run FX node with fake tensors: call_function <built-in function mul>(*(torch.float32, FakeTensor(..., size=(8, 16))), **{}): got " + kTimes, "raised", {}},
                        {"builtins.TypeError", "unsupported operand type(s) for *: 'torch.dtype' and 'FakeTensor'", "cause", {}}})),
            "");
}

TEST(ClassifyTest, Tier2NeedsItsTarget) {
  const ExceptionLink link{"torch._inductor.exc.InductorError", "LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given", "raised", {}};
  EXPECT_EQ(IdOf(Chain({link}, "aten.addmm.dtype")), kTier2);
  EXPECT_EQ(IdOf(Chain({link}, "aten.addmm.default")), "");
  EXPECT_EQ(IdOf(Chain({link})), "");
}

TEST(ClassifyTest, Tier2UnderAnotherWrapperIsStillTier2) {
  EXPECT_EQ(IdOf(Chain({{"torch._dynamo.exc.BackendCompilerFailed",
                         "backend='inductor' raised:\nLoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given\n  target: aten.addmm.dtype", "raised", {}}},
                       "aten.addmm.dtype")),
            kTier2);
}

TEST(ClassifyTest, EvidenceNamesEachClauseAndItsText) {
  const ExceptionRecord e = Chain({{"torch._inductor.exc.InductorError", "LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given\nmore", "raised", {}}}, "aten.addmm.dtype");
  const std::optional<Match> match = Classify(Book(), &e, {"", "2.13.0+cu130"});
  ASSERT_TRUE(match);
  EXPECT_EQ(match->evidence, (std::vector<std::string>{"tuned-addmm: LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given",
                                                       "target: target: aten.addmm.dtype"}));
  EXPECT_EQ(match->family, Family::kTier2);
  EXPECT_EQ(match->stage, Stage::kLowering);
  EXPECT_EQ(match->operators, (std::vector<std::string>{"addmm"}));
  EXPECT_EQ(match->version_surprise, "");
}

TEST(ClassifyTest, AVersionOutsideTheKnownRangeIsASurpriseAndStillTheSameSignature) {
  const ExceptionRecord e = Chain({{"torch._dynamo.exc.TorchRuntimeError", kNode + kTimes, "raised", {}}});
  const std::optional<Match> match = Classify(Book(), &e, {"", "2.14.1+cu130"});
  ASSERT_TRUE(match);
  EXPECT_EQ(match->signature, kTier1);
  EXPECT_EQ(match->version_surprise,
            "tier1-addmm-dtype-decomposition is known from torch >=2.8,<2.13, this is torch 2.14.1+cu130: a vendor's build, a nightly, or a new failure with the old words");
}

TEST(ClassifyTest, StandardErrorNamesWhatTheExceptionDoesNot) {
  const ExceptionRecord e = Chain({{"subprocess.CalledProcessError", "Command '['/usr/bin/gcc', '/tmp/x/main.c']' returned non-zero exit status 1.", "raised", {}}});
  EXPECT_EQ(IdOf(e), "");
  EXPECT_EQ(IdOf(e, "main.c:5:10: fatal error: Python.h: No such file or directory\n"), "environment-no-python-headers");
}

TEST(ClassifyTest, NearMissesNameTheClauseThatFails) {
  const ExceptionRecord e = Chain({{"torch._inductor.exc.InductorError", "LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given", "raised", {}}});
  const std::vector<NearMiss> misses = FindNearMisses(Book(), &e, {});
  ASSERT_EQ(misses.size(), 1u);
  EXPECT_EQ(misses[0].signature, kTier2);
  EXPECT_EQ(misses[0].clause, "target");
  EXPECT_FALSE(misses[0].forbidden);
}

TEST(ClassifyTest, ReadsEachFailureOfAnObservation) {
  Observation o;
  o.complete = true;
  o.eager.exception = Chain({{"builtins.RuntimeError", "mat1 and mat2 must have the same dtype, but got BFloat16 and Float", "raised", {}}});
  o.compiled.exception = Chain({{"x.Y", "something new", "raised", {}}});
  const Readings readings = ReadFailures(Book(), o);
  ASSERT_TRUE(readings.eager && readings.eager->match);
  EXPECT_EQ(readings.eager->match->signature, "eager-operand-dtypes");
  ASSERT_TRUE(readings.compiled);
  EXPECT_FALSE(readings.compiled->match);
  EXPECT_EQ(readings.compiled->fingerprint.text, "Y: something new");
  EXPECT_FALSE(readings.setup || readings.probe || readings.process);
  o.complete = false;
  o.end = {ProcessEnd::Kind::kSignaled, 11, 1, 0, "Fatal Python error: Segmentation fault\n", ""};
  EXPECT_EQ(ReadFailures(Book(), o).process->fingerprint.text, "signal 11: Fatal Python error: Segmentation fault");
}

TEST(StageTest, FramesTellTheStage) {
  const auto stage = [](const char* type, std::vector<Frame> frames) { return AttributeStage(Chain({{type, "", "raised", std::move(frames)}})); };
  EXPECT_EQ(stage("torch._dynamo.exc.TorchRuntimeError", {{"torch/_dynamo/utils.py", 1, "f"}, {"torch/_decomp/decompositions.py", 2, "addmm"}}), Stage::kDecomposition);
  EXPECT_EQ(stage("torch._dynamo.exc.Unsupported", {{"torch/_dynamo/exc.py", 1, "unimplemented"}}), Stage::kDynamo);
  EXPECT_EQ(stage("torch._inductor.exc.InductorError", {{"torch/_inductor/graph.py", 1, "run_node"}, {"/v/site-packages/torch/_inductor/lowering.py", 2, "wrapped"}}), Stage::kLowering);
  EXPECT_EQ(stage("torch._inductor.exc.InductorError", {{"torch/_inductor/graph.py", 1, "codegen"}, {"torch/_inductor/scheduler.py", 2, "codegen"}}), Stage::kCodegen);
  EXPECT_EQ(stage("triton.runtime.errors.PTXASError", {{"torch/_inductor/async_compile.py", 1, "triton"}, {"triton/backends/nvidia/compiler.py", 2, "make_cubin"}}), Stage::kCodegen);
  EXPECT_EQ(stage("builtins.RuntimeError", {{"cases/x.py", 1, "step"}}), std::nullopt);
  EXPECT_EQ(stage("builtins.RuntimeError", {{"triton/compiler/compiler.py", 1, "compile"}}), std::nullopt);
}

TEST(FingerprintTest, MachinesAndPatchReleasesAgree) {
  const ExceptionRecord here{{{"torch._inductor.exc.InductorError", "outer", "raised", {}},
                              {"builtins.AssertionError", "kernel 0x7f12ab at /home/a/env/lib/python3.11/site-packages/torch/x.py needs 1024 of cuda:0, s0=16", "cause", {{"torch/a.py", 10, "make"}}}},
                             "aten.foo.default",
                             {{"case.py", 3, "torch_dynamo_resume_in_step_at_118"}}};
  ExceptionRecord there = here;
  there.chain[1].message = "kernel 0x55aa at /opt/conda/lib/python3.12/site-packages/torch/x.py needs 2048 of cuda:7, s3=4096";
  there.chain[1].frames[0].line = 12;
  there.user_frames[0] = {"case.py", 9, "torch_dynamo_resume_in_step_at_120"};
  EXPECT_EQ(FingerprintOf(here).text, FingerprintOf(there).text);
  EXPECT_EQ(FingerprintOf(here).id, FingerprintOf(there).id);
  EXPECT_EQ(FingerprintOf(here).id.size(), 12u);
  EXPECT_EQ(FingerprintOf(here).text, "InductorError < AssertionError: kernel ADDRESS at x.py needs N of cuda, sN=N | aten.foo.default @ make from step");
}

TEST(FingerprintTest, DifferentBugsDiffer) {
  const auto id = [](const char* type, const char* message, const char* function) {
    return FingerprintOf(Chain({{type, message, "raised", {{"torch/a.py", 1, function}}}})).id;
  };
  const std::string base = id("builtins.AssertionError", "Broadcast failed in ExpandView([7], [3, 11])", "f");
  EXPECT_EQ(base, id("builtins.AssertionError", "Broadcast failed in ExpandView([8], [4, 12])", "f"));
  EXPECT_NE(base, id("builtins.AssertionError", "Broadcast failed in ExpandView([7, 1], [3, 11])", "f"));
  EXPECT_NE(base, id("builtins.RuntimeError", "Broadcast failed in ExpandView([7], [3, 11])", "f"));
  EXPECT_NE(base, id("builtins.AssertionError", "Broadcast failed in ExpandView([7], [3, 11])", "g"));
  EXPECT_NE(base, id("builtins.AssertionError", "Something else", "f"));
}

TEST(FingerprintTest, TheFirstLineThatSaysSomethingCounts) {
  EXPECT_EQ(NormaliseMessage("\nbackend='inductor' raised:\nAssertionError: no 5\nmore"), "AssertionError: no N");
  EXPECT_EQ(NormaliseMessage("only:\n"), "only:");
  EXPECT_EQ(NormaliseMessage(""), "");
}

TEST(SignatureBookTest, EveryMistakeNamesItsEntry) {
  const auto error = [](const std::string& entries) {
    const Result<SignatureBook> book = SignatureBook::Parse("{\"format\":1,\"signatures\":[" + entries + "]}", "s.json");
    return book.ok() ? std::string("ok") : book.error().message;
  };
  const std::string good = R"({"id":"a","title":"t","family":"eager","priority":1,"required":[{"name":"n","message":"x"}],"known":"k","what_to_do":"w"})";
  EXPECT_EQ(error(good), "ok");
  const auto with = [&](std::string from, std::string to) {
    std::string text = good;
    return error(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_EQ(error(good + "," + good), "s.json.signatures[1].id: 'a' is already there");
  std::string other = good;
  other.replace(other.find("\"a\""), 3, "\"b\"");
  EXPECT_EQ(error(good + "," + other), "s.json.signatures[1] (b).priority: 1 is already taken");
  EXPECT_EQ(with("\"message\"", "\"mesage\""), "s.json.signatures[0] (a).required[0]: unknown member 'mesage'; did you mean 'message'?");
  EXPECT_EQ(with("\"x\"", "\"(\""), "s.json.signatures[0] (a).required[0].message: missing ): (");
  EXPECT_EQ(with("eager", "eagr"), "s.json.signatures[0] (a).family: expected a known word, not 'eagr'");
  EXPECT_EQ(with(R"([{"name":"n","message":"x"}])", "[]"), "s.json.signatures[0] (a).required: a signature needs evidence");
  EXPECT_EQ(with(R"("message":"x")", R"("link":"any")"), "s.json.signatures[0] (a).required[0]: asks for nothing");
  EXPECT_EQ(with(R"("known":"k")", R"("known":"k","known_range":"2.x!")").substr(0, 38), "s.json.signatures[0] (a).known_range: ");
  EXPECT_EQ(with(R"("known":"k")", R"("known":"k","confusable_with":[{"with":"tier9","why_not":"y"}])"),
            "s.json (a).confusable_with: unknown signature 'tier9'; known: a");
  EXPECT_EQ(error(""), "s.json: holds no signatures");
}

}  // namespace
}  // namespace flce
