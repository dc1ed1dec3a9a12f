#include "harness/classify/report_frames.h"

#include <gtest/gtest.h>

#include "harness/classify/explain.h"

namespace flce {
namespace {

TEST(ReportFramesTest, PytestNamesAPlaceInThreeWays) {
  Frame frame;
  bool is_end = true;
  ASSERT_TRUE(ReadPytestFrame("/env/lib/python3.11/site-packages/torch/_dynamo/exc.py:249: in unimplemented", frame, is_end));
  EXPECT_EQ(frame, (Frame{"torch/_dynamo/exc.py", 249, "unimplemented"}));
  EXPECT_FALSE(is_end);
  ASSERT_TRUE(ReadPytestFrame("test/test_flce.py:12: ", frame, is_end));
  EXPECT_EQ(frame, (Frame{"test/test_flce.py", 12, ""}));
  EXPECT_FALSE(is_end);
  ASSERT_TRUE(ReadPytestFrame("test/test_flce.py:12: TypeError", frame, is_end));
  EXPECT_TRUE(is_end);
  for (const char* other : {"train.py:12: loss is 2.3", "E   x.py:1: in f", "    x.py:1: in f", "12:30: in f", ""})
    EXPECT_FALSE(ReadPytestFrame(other, frame, is_end)) << other;
}

TEST(ReportFramesTest, TheFramesOfOneReportAreThoseSinceItsHeading) {
  const std::vector<Frame> frames = PytestFramesIn(
      "old.py:1: in f\nE   ValueError: x\n\nold.py:2: ValueError\n____ test_b ____\n\x1b[1m\x1b[31mtest.py\x1b[0m:5: in test_b\n    g()\nx.py:7: in g\n    h()\n");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0], (Frame{"test.py", 5, "test_b"}));
  EXPECT_EQ(frames[1], (Frame{"x.py", 7, "g"}));
}

TEST(ReportFramesTest, ABoxIsDrawnWithLinesOrWithAscii) {
  EXPECT_EQ(ReadBoxLine("\u256D\u2500 Traceback (most recent call last) \u2500\u256E").kind, BoxLine::Kind::kTop);
  EXPECT_EQ(ReadBoxLine("\u256D\u2500 Traceback (most recent call last) \u2500\u256E").width, 39u);
  EXPECT_EQ(ReadBoxLine("+---- Traceback (most recent call last) ----+").kind, BoxLine::Kind::kTop);
  EXPECT_EQ(ReadBoxLine("\u2502 train.py:3 in main   \u2502").text, "train.py:3 in main");
  EXPECT_EQ(ReadBoxLine("| train.py:3 in main   |").text, "train.py:3 in main");
  EXPECT_EQ(ReadBoxLine("\u2570\u2500\u2500\u256F").kind, BoxLine::Kind::kBottom);
  EXPECT_EQ(ReadBoxLine("  | File \"x.py\", line 1, in f").kind, BoxLine::Kind::kNone);
  EXPECT_EQ(ReadBoxLine("TypeError: no").kind, BoxLine::Kind::kNone);
}

TEST(ReportFramesTest, APlaceThatIsTooLongForTheBoxGoesOnInTheNextLine) {
  BoxedFrames frames;
  EXPECT_EQ(frames.Feed("train.py:12 in main"), (Frame{"train.py", 12, "main"}));
  EXPECT_FALSE(frames.Feed("/env/lib/python3.11/site-packages/to"));
  EXPECT_EQ(frames.Feed("rch/x.py:5 in f"), (Frame{"torch/x.py", 5, "f"}));
  EXPECT_FALSE(frames.Feed("/env/lib/python3.11/site-packages/liger_kernel/ops/x.py:341 in"));
  EXPECT_EQ(frames.Feed("forward"), (Frame{"liger_kernel/ops/x.py", 341, "forward"}));
  for (const char* code : {"", "\u2771 12     step(x)", "10 def main():", "\u2502 x = 1 \u2502"}) EXPECT_FALSE(frames.Feed(code)) << code;
}

TEST(ReportFramesTest, ALineIsWrappedWhereTheNextWordHadNoRoom) {
  EXPECT_TRUE(IsWrapped("takes 3 positional arguments but 4 were", "given", 42));
  EXPECT_FALSE(IsWrapped("takes 3", "given", 42));
  EXPECT_FALSE(IsWrapped("takes 3 positional arguments but 4 were", "  target: aten.addmm.dtype", 42));
  EXPECT_FALSE(IsWrapped("takes 3 positional arguments but 4 were", "given", 0));
}

LogExplanation Explained(std::string_view log) {
  static const auto* book = new Result<SignatureBook>(SignatureBook::Load(FLCE_SOURCE_DIR "/cases/signatures.json"));
  LogExplainer explainer(book->value());
  explainer.Feed(log);
  return explainer.Finish();
}

TEST(ReportFramesTest, ABoxedTracebackBecomesARecord) {
  const LogExplanation e = Explained(
      "\u256D\u2500\u2500\u2500\u2500\u2500\u2500\u2500 Traceback (most recent call last) \u2500\u2500\u2500\u2500\u2500\u2500\u2500\u256E\n"
      "\u2502 /env/site-packages/torch/_inductor/graph.py:1 \u2502\n"
      "\u2502 300 in call_function                          \u2502\n"
      "\u2502                                               \u2502\n"
      "\u2502 \u2771 1300     raise TypeError(text)              \u2502\n"
      "\u2570\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u256F\n"
      "InductorError: LoweringException: TypeError: \n"
      "tuned_addmm() takes 3 positional arguments but 4 \n"
      "were given\n"
      "  target: aten.addmm.dtype\n");
  ASSERT_EQ(e.failures.size(), 1u);
  ASSERT_TRUE(e.failures[0].match);
  EXPECT_EQ(e.failures[0].match->signature, "tier2-addmm-dtype-lowering");
  const ExceptionLink& link = e.failures[0].exception.chain[0];
  EXPECT_EQ(link.type, "InductorError");
  EXPECT_EQ(link.message, "LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given\n  target: aten.addmm.dtype");
  EXPECT_EQ(link.frames, (std::vector<Frame>{{"torch/_inductor/graph.py", 1300, "call_function"}}));
}

TEST(ReportFramesTest, APytestReportBecomesARecord) {
  const LogExplanation e = Explained(
      "____ test_a ____\n"
      "/env/site-packages/torch/_inductor/lowering.py:480: in wrapped\n"
      "    out = f()\n"
      "E   TypeError: tuned_addmm() takes 3 positional arguments but 4 were given\n"
      "\n"
      "The above exception was the direct cause of the following exception:\n"
      "\n"
      "    def test_a():\n"
      ">       step()\n"
      "\n"
      "test_a.py:7: \n"
      "_ _ _ _ _ _\n"
      "/env/site-packages/torch/_inductor/graph.py:1300: in call_function\n"
      "    raise LoweringException()\n"
      "E   torch._inductor.exc.InductorError: LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given\n"
      "E     target: aten.addmm.dtype\n"
      "\n"
      "/env/site-packages/torch/_inductor/exc.py:9: InductorError\n"
      "=== short test summary info ===\n");
  ASSERT_EQ(e.failures.size(), 1u);
  const ExceptionRecord& exception = e.failures[0].exception;
  ASSERT_EQ(exception.chain.size(), 2u);
  EXPECT_EQ(exception.chain[0].type, "torch._inductor.exc.InductorError");
  EXPECT_EQ(exception.chain[0].message, "LoweringException: TypeError: tuned_addmm() takes 3 positional arguments but 4 were given\n  target: aten.addmm.dtype");
  EXPECT_EQ(exception.chain[0].frames,
            (std::vector<Frame>{{"test_a.py", 7, ""}, {"torch/_inductor/graph.py", 1300, "call_function"}, {"torch/_inductor/exc.py", 9, ""}}));
  EXPECT_EQ(exception.chain[1].frames, (std::vector<Frame>{{"torch/_inductor/lowering.py", 480, "wrapped"}}));
  EXPECT_EQ(exception.chain[1].relation, "cause");
  EXPECT_EQ(exception.target, "aten.addmm.dtype");
}

}  // namespace
}  // namespace flce
