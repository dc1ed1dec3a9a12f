#include "reports/run_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/text.h"
#include "reports/clean_text.h"
#include "reports/testing/sample_run.h"

namespace flce {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class FakeClock : public Clock {
 public:
  double Monotonic() override { return now; }
  std::string Utc() override { return "2026-01-31T23:59:59Z"; }
  double now = 100;
};

class RunProgressTest : public ::testing::Test {
 protected:
  RunProgress::Options Options(bool live) {
    RunProgress::Options options;
    options.live = live;
    options.terminal.width = 80;
    return options;
  }
  RunProgress::Sink Sink() {
    return [this](std::string_view text) { written_ += text; };
  }
  std::string Take() { return std::exchange(written_, ""); }

  FakeClock clock_;
  ReportOptions texts_ = flce::testing::SampleOptions();
  std::string written_;
};

TEST_F(RunProgressTest, ALogGetsALinePerFinishedThing) {
  RunProgress progress(Options(false), clock_, Sink());
  progress.BeginRun(2, false, texts_);
  progress.Provisioning("torch 2.13.0", "resolving", 0, 0);
  EXPECT_EQ(Take(), "torch 2.13.0: resolving\n");
  clock_.now += 1;
  progress.Provisioning("torch 2.13.0", "fetching 14 packages", 0, 700000000);
  EXPECT_EQ(Take(), "torch 2.13.0: fetching 14 packages, 0 B of about 700.00 MB\n");
  clock_.now += 5;
  progress.Provisioning("torch 2.13.0", "fetching 14 packages", 100000000, 700000000);
  EXPECT_EQ(Take(), "") << "not every chunk is a line";
  clock_.now += 15;
  progress.Provisioning("torch 2.13.0", "fetching 14 packages", 350000000, 700000000);
  EXPECT_EQ(Take(), "torch 2.13.0: fetching 14 packages, 350.00 MB of about 700.00 MB, 17.50 MB/s, 20 s left\n");
  progress.EndProvisioning("torch 2.13.0");
  EXPECT_EQ(Take(), "torch 2.13.0: ready, 350.00 MB in 21.0 s\n");
  progress.EndProvisioning("torch 2.13.0");
  EXPECT_EQ(Take(), "") << "what was there is not told";
  const CellRecord cell = flce::testing::TierTwoCell();
  progress.CellWaits(cell.id, "the cell");
  clock_.now += 16;
  progress.Tick();
  EXPECT_EQ(Take(), "") << "a cell that waits does not run";
  progress.CellStage(cell.id, "lowering");
  clock_.now += 16;
  progress.Tick();
  EXPECT_EQ(Take(), "running the cell: lowering, 16.0 s\n");
  progress.CellFinished(cell);
  EXPECT_EQ(Take(), "1/2 2  Tier 2: torch 2.13.0, Liger 0.8.5, emulated 9.0, 2.4 s\n");
}

TEST_F(RunProgressTest, LinesNameTheCaseWhereThereAreSeveral) {
  RunProgress progress(Options(false), clock_, Sink());
  progress.BeginRun(2, true, texts_);
  progress.CellFinished(flce::testing::TierTwoCell());
  EXPECT_EQ(Take(), "1/2 2  Tier 2: flce-bf16-fp32-accum, torch 2.13.0, Liger 0.8.5, emulated 9.0, 2.4 s\n");
}

TEST_F(RunProgressTest, AControlThatCrashesAsItMustAlarmsNobody) {
  RunProgress progress(Options(false), clock_, Sink());
  progress.BeginRun(2, true, texts_);
  progress.ControlFinished(flce::testing::TierTwoCell(), {"crashed", "control-abort", Outcome::kCrashed, true, "rule 'c'"});
  EXPECT_EQ(Take(), "1/2    control control-abort: crashed as it must\n");
  progress.ControlFinished(flce::testing::TierTwoCell(), {"timed_out", "control-hang", Outcome::kEnvironment, false, "rule 't' expects timed_out"});
  EXPECT_EQ(Take(), "2/2    control control-hang: environment: rule 't' expects timed_out\n");
}

TEST_F(RunProgressTest, ATerminalGetsOneBlockThatIsDrawnAnew) {
  {
    RunProgress progress(Options(true), clock_, Sink());
    progress.BeginRun(4, false, texts_);
    Take();
    const CellRecord cell = flce::testing::TierTwoCell();
    clock_.now += 1;
    progress.CellWaits(cell.id, "the cell");
    EXPECT_THAT(Take(), AllOf(HasSubstr("\x1b[1A\r\x1b[J"), HasSubstr("starting      the cell\n")));
    progress.CellStage(cell.id, "dynamo");
    EXPECT_EQ(Take(), "") << "at most ten drawings a second";
    clock_.now += 0.2;
    progress.Tick();
    EXPECT_THAT(Take(), HasSubstr("dynamo        the cell  200 ms\n"));
    progress.CellFinished(cell);
    const std::string text = Take();
    EXPECT_THAT(text, HasSubstr("1/4 2  Tier 2: torch 2.13.0"));
    EXPECT_THAT(text, EndsWith("1/4 cells  Tier 2: 1\n"));
    progress.CellFinished(cell);
    clock_.now += 4;
    progress.CellFinished(cell);
    EXPECT_THAT(Take(), EndsWith("3/4 cells, about 2 s left  Tier 2: 3\n"));
    clock_.now += 0.9;
    progress.Tick();
    EXPECT_THAT(Take(), EndsWith("3/4 cells, about 1 s left  Tier 2: 3\n")) << "the time runs down between two cells";
  }
  EXPECT_EQ(Take(), "\x1b[1A\r\x1b[J") << "what comes after the run stands on a clean line";
}

TEST_F(RunProgressTest, NoLineOfTheBlockIsWiderThanTheTerminal) {
  RunProgress progress(Options(true), clock_, Sink());
  progress.BeginRun(40, false, texts_);
  progress.SetWidth(40);
  for (int i = 0; i < 9; ++i) {
    progress.CellWaits("cell " + std::to_string(i), std::string(100, 'x'));
    progress.CellStage("cell " + std::to_string(i), "backward");
  }
  progress.Provisioning("torch 2.13.0 (lean)", "fetching 14 packages", 1, 700000000);
  Take();
  clock_.now += 1;
  progress.Tick();
  std::string block = Take();
  EXPECT_THAT(block, HasSubstr("and 3 more\n"));
  block.erase(0, block.find("\x1b[J") + 3);
  for (std::string_view line : Lines(block)) EXPECT_LT(DisplayWidth(line), 40u) << line;
}

TEST_F(RunProgressTest, QuietSaysNothing) {
  RunProgress::Options options = Options(true);
  options.quiet = true;
  RunProgress progress(options, clock_, Sink());
  progress.BeginRun(2, false, texts_);
  progress.Provisioning("x", "resolving", 1, 1);
  progress.EndProvisioning("x");
  progress.CellWaits("a", "b");
  progress.CellStage("a", "dynamo");
  progress.CellFinished(flce::testing::TierTwoCell());
  progress.Note("n");
  EXPECT_EQ(Take(), "");
}

}  // namespace
}  // namespace flce
