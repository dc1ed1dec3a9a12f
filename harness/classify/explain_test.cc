#include "harness/classify/explain.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/base/text.h"

namespace flce {
namespace {

constexpr const char* kTier1 = "tier1-addmm-dtype-decomposition";
constexpr const char* kTier2 = "tier2-addmm-dtype-lowering";

const SignatureBook& Book() {
  static const auto* book = new Result<SignatureBook>(SignatureBook::Load(FLCE_SOURCE_DIR "/cases/signatures.json"));
  return book->value();
}

LogExplanation Explained(std::string_view log, size_t chunk = std::string_view::npos) {
  LogExplainer explainer(Book());
  while (!log.empty()) {
    explainer.Feed(log.substr(0, chunk));
    log.remove_prefix(std::min(chunk, log.size()));
  }
  return explainer.Finish();
}

/// "tier2 x3 @12" for each failure, in order; "?" for an unknown one.
std::string Short(const LogExplanation& explanation) {
  std::vector<std::string> parts;
  for (const ExplainedFailure& failure : explanation.failures)
    parts.push_back((failure.match ? failure.match->signature : "?") + " x" + std::to_string(failure.count) + " @" + std::to_string(failure.first_line));
  return Join(parts, ", ");
}

const std::string kTier2Trace =
    "Traceback (most recent call last):\n"
    "  File \"/env/lib/python3.11/site-packages/torch/_inductor/graph.py\", line 1300, in call_function\n"
    "    out = lowerings[target](*args, **kwargs)\n"
    "          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    "  File \"/env/lib/python3.11/site-packages/torch/_inductor/lowering.py\", line 480, in wrapped\n"
    "    out = decomp_fn(*args, **kwargs)\n"
    "TypeError: tuned_addmm() takes 3 positional arguments but 4 were given\n"
    "\n"
    "The above exception was the direct cause of the following exception:\n"
    "\n"
    "Traceback (most recent call last):\n"
    "  File \"/home/user/train.py\", line 9, in <module>\n"
    "    step(x).backward()\n"
    "torch._inductor.exc.InductorError: LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given\n"
    "  target: aten.addmm.dtype\n"
    "  args[0]: TensorBox(StorageBox(...\n"
    "      File \"/env/lib/python3.11/site-packages/liger_kernel/ops/fused_linear_cross_entropy.py\", line 341, in fused_linear_cross_entropy_forward,\n"
    "\n"
    "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace\n";

std::string WithPrefix(const std::string& prefix, const std::string& text) {
  std::string out;
  for (std::string_view line : Lines(text)) out += prefix + std::string(line) + "\n";
  return out;
}

TEST(ExplainTest, AChainedTracebackBecomesARecord) {
  const LogExplanation e = Explained("step 1\n" + kTier2Trace);
  ASSERT_EQ(Short(e), std::string(kTier2) + " x1 @2");
  const ExplainedFailure& failure = e.failures[0];
  ASSERT_EQ(failure.exception.chain.size(), 2u);
  EXPECT_EQ(failure.exception.chain[0].type, "torch._inductor.exc.InductorError");
  EXPECT_EQ(failure.exception.chain[0].relation, "raised");
  EXPECT_EQ(failure.exception.chain[1].type, "TypeError");
  EXPECT_EQ(failure.exception.chain[1].relation, "cause");
  EXPECT_EQ(failure.exception.chain[1].message, "tuned_addmm() takes 3 positional arguments but 4 were given");
  EXPECT_EQ(failure.exception.chain[1].frames.back(), (Frame{"torch/_inductor/lowering.py", 480, "wrapped"}));
  EXPECT_EQ(failure.exception.target, "aten.addmm.dtype");
  EXPECT_EQ(failure.caller, "Liger's fused linear cross entropy");
  EXPECT_EQ(ExitOf(e), ExplainExit::kKnown);
}

TEST(ExplainTest, TheSizeOfThePiecesDoesNotMatter) {
  const std::string log = "noise\n" + WithPrefix("[rank1]: ", kTier2Trace) + "more\n" + kTier2Trace + "RuntimeError: CUDA error: unknown";
  const std::string whole = Short(Explained(log));
  for (size_t chunk : {1u, 2u, 7u, 100u, 4096u}) EXPECT_EQ(Short(Explained(log, chunk)), whole) << chunk;
}

TEST(ExplainTest, RanksThatInterleaveAreKeptApart) {
  std::string log;
  const std::vector<std::string_view> lines = Lines(kTier2Trace);
  for (size_t i = 0; i < lines.size() + 3; ++i) {
    if (i < lines.size()) log += "[rank0]: " + std::string(lines[i]) + "\n";
    if (i >= 3) log += "[rank1]: " + std::string(lines[i - 3]) + "\n";
    log += "loss 2.3\n";
  }
  const LogExplanation e = Explained(log);
  ASSERT_EQ(Short(e), std::string(kTier2) + " x2 @1");
  EXPECT_EQ(e.failures[0].streams, (std::vector<std::string>{"rank 0", "rank 1"}));
}

TEST(ExplainTest, OneFailurePrintedTwiceIsOne) {
  EXPECT_EQ(Short(Explained(kTier2Trace + kTier2Trace + kTier2Trace)), std::string(kTier2) + " x3 @1");
}

TEST(ExplainTest, ALaterLoggersLineEndsTheMessage) {
  const LogExplanation e = Explained("ValueError: broken\nsecond line\n2026-09-10 12:00:00 INFO: CUDA out of memory. Tried to allocate is what we fear\n");
  ASSERT_EQ(e.failures.size(), 1u);
  EXPECT_EQ(e.failures[0].exception.chain[0].message, "broken\nsecond line");
  EXPECT_FALSE(e.failures[0].match);
}

TEST(ExplainTest, AFailureThatNamesTheHeaderOnlyOnStandardError) {
  const std::string trace = "Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n    g()\nsubprocess.CalledProcessError: Command 'gcc' returned non-zero exit status 1.\n";
  EXPECT_EQ(Short(Explained("main.c:5:10: fatal error: Python.h: No such file or directory\ncompilation terminated.\n" + trace)), "environment-no-python-headers x1 @3");
  EXPECT_EQ(Short(Explained(trace)), "? x1 @1");
}

TEST(ExplainTest, ATracebackInsideAJsonString) {
  std::string escaped = ReplaceAll(ReplaceAll(kTier2Trace, "\"", "\\\""), "\n", "\\n");
  EXPECT_EQ(Short(Explained("{\"level\":\"error\",\"exc\":\"" + escaped + "\"}\n")), std::string(kTier2) + " x1 @1");
}

TEST(ExplainTest, WhatLaunchersSayAfterwardsIsLeftOut) {
  const std::string child = "Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n    g()\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: \ntrain.py FAILED\n";
  EXPECT_EQ(Short(Explained(kTier2Trace + child)), std::string(kTier2) + " x1 @1");
  EXPECT_EQ(Short(Explained(child)), "? x1 @1");
}

TEST(ExplainTest, ALogThatEndsInsideATracebackSaysSo) {
  const LogExplanation e = Explained("Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n    g()\n");
  ASSERT_EQ(e.failures.size(), 1u);
  EXPECT_TRUE(e.failures[0].cut);
  EXPECT_EQ(ExitOf(e), ExplainExit::kUnknown);
}

TEST(ExplainTest, WordsWithoutEvidenceAreOnlyNear) {
  const LogExplanation e = Explained("Result:  REPRODUCED - LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given\n");
  ASSERT_EQ(Short(e), "? x1 @1");
  ASSERT_EQ(e.failures[0].near_misses.size(), 1u);
  EXPECT_EQ(e.failures[0].near_misses[0].signature, kTier2);
  EXPECT_EQ(e.failures[0].near_misses[0].clause, "target");
}

TEST(ExplainTest, NoiseHoldsNoFailure) {
  const LogExplanation e = Explained("step 1 loss 2.0\nWARNING: retry after ConnectionError: reset by peer\nerror rate 0.1\nError\n\n");
  EXPECT_EQ(Short(e), "");
  EXPECT_EQ(ExitOf(e), ExplainExit::kNoFailure);
  EXPECT_EQ(e.lines, 5u);
  EXPECT_EQ(ExplanationText(Book(), e), "No failure found in 5 lines (90 B): no traceback and no exception line.\n");
  EXPECT_EQ(ExitOf(Explained("")), ExplainExit::kNoFailure);
}

TEST(ExplainTest, WhatIsNoTextIsUnreadable) {
  EXPECT_EQ(Explained(std::string("\x1f\x8b\x08\x00", 4)).unreadable, "it is compressed: unpack it first (zcat, zstdcat, ... | flce-repro explain -)");
  EXPECT_EQ(Explained("\xff\xfeT").unreadable, "it is UTF-16: convert it first (iconv -f utf-16 -t utf-8)");
  EXPECT_EQ(Explained(std::string(4096, '\0')).unreadable, "it is no text");
  EXPECT_EQ(ExitOf(Explained(std::string(4096, '\0'))), ExplainExit::kUnreadable);
  EXPECT_FALSE(ExplainFile(Book(), "/nonexistent/log").ok());
  EXPECT_FALSE(ExplainFile(Book(), "/").ok());
}

TEST(ExplainTest, MemoryIsBoundedWhateverComes) {
  LogExplainer explainer(Book());
  const std::string endless(1 << 20, 'E');
  for (int i = 0; i < 8; ++i) explainer.Feed(endless);
  explainer.Feed("\n");
  for (int i = 0; i < 3000; ++i) explainer.Feed("[rank" + std::to_string(i % 500) + "]: ValueError: failure " + std::string(i % 900, 'x') + "\n");
  for (int i = 0; i < 3000; ++i) explainer.Feed("Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n\nThe above exception was the direct cause of\n");
  const LogExplanation e = explainer.Finish();
  EXPECT_LE(e.failures.size(), 64u);
  EXPECT_GT(e.further, 0u);
}

TEST(ExplainTest, TheTextSaysWhatItIsAndIsNotAndWhatToDo) {
  const LogExplanation e = Explained("torch 2.13.0+cu130\n" + WithPrefix("[rank0]: ", kTier2Trace));
  const std::string text = ExplanationText(Book(), e);
  for (const char* part : {"Tier 2: addmm with out_dtype stops in Inductor's lowering", "tier2-addmm-dtype-lowering", "line 2 (rank 0)",
                           "Liger's fused linear cross entropy, liger_kernel/ops/fused_linear_cross_entropy.py:341", "because", "known since",
                           "what to do", "is not", "see"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  EXPECT_EQ(e.torch, "2.13.0+cu130");
}

TEST(ExplainTest, JsonHasEverythingAndStaysUtf8) {
  const LogExplanation e = Explained("ValueError: byte \xff here\n");
  const nlohmann::ordered_json json = ExplanationJson(Book(), e);
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["failures"][0]["exception"]["chain"][0]["message"], "byte \xEF\xBF\xBD here");
  EXPECT_NO_THROW(json.dump());
}

/// testdata/logs/NAME--EXPECTED[--FURTHER].log: real tracebacks and what becomes of them in real logs. EXPECTED is what
/// the first failure is: a signature's id, "unknown", or "none".
TEST(ExplainLogsTest, EachLogIsReadRight) {
  int logs = 0;
  for (const auto& entry : fs::directory_iterator(FLCE_SOURCE_DIR "/harness/classify/testdata/logs")) {
    const std::string name = entry.path().stem().string();
    const size_t at = name.find("--");
    ASSERT_NE(at, std::string::npos) << name;
    const std::string expected = name.substr(at + 2);
    const Result<LogExplanation> e = ExplainFile(Book(), entry.path().string());
    ASSERT_TRUE(e.ok()) << name;
    std::string found = "none";
    if (!e->failures.empty()) found = e->failures[0].match ? e->failures[0].match->signature : "unknown";
    EXPECT_EQ(found, expected) << name << ": " << Short(e.value()) << "\n" << ExplanationText(Book(), e.value());
    for (const ExplainedFailure& failure : e->failures)
      EXPECT_TRUE(!failure.match || failure.match->signature == expected) << name << ": also " << failure.match->signature;
    ++logs;
  }
  EXPECT_GE(logs, 40);
}

}  // namespace
}  // namespace flce
