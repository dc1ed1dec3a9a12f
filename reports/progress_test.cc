#include "reports/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/testing/sample_run.h"

namespace flce {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class FakeClock : public Clock {
 public:
  double Monotonic() override { return now; }
  std::string Utc() override { return "2026-01-31T23:59:59Z"; }
  double now = 100;
};

class ProgressTest : public ::testing::Test {
 protected:
  Progress::Options Options(bool live) {
    Progress::Options options;
    options.live = live;
    options.terminal.width = 80;
    return options;
  }
  Progress::Sink Sink() {
    return [this](std::string_view text) { written_ += text; };
  }
  std::string Take() { return std::exchange(written_, ""); }

  FakeClock clock_;
  ReportOptions texts_ = flce::testing::SampleOptions();
  std::string written_;
};

TEST_F(ProgressTest, ALogGetsALinePerFinishedThing) {
  Progress progress(Options(false), texts_, clock_, Sink());
  progress.BeginRun(2);
  progress.Provisioning("torch 2.13.0", 0, 700000000);
  EXPECT_EQ(Take(), "provisioning torch 2.13.0\n");
  clock_.now += 5;
  progress.Provisioning("torch 2.13.0", 100000000, 700000000);
  EXPECT_EQ(Take(), "") << "not every chunk is a line";
  clock_.now += 15;
  progress.Provisioning("torch 2.13.0", 350000000, 700000000);
  EXPECT_EQ(Take(), "provisioning torch 2.13.0  350.00 MB of 700.00 MB, 17.50 MB/s, 20.0 s left\n");
  progress.Provisioning("torch 2.13.0", 700000000, 700000000);
  EXPECT_EQ(Take(), "provisioned torch 2.13.0 (700.00 MB) in 20.0 s\n");
  const CellRecord cell = flce::testing::TierTwoCell();
  progress.CellStarted(cell.id, "the cell");
  progress.CellStage(cell.id, Stage::kLowering);
  EXPECT_EQ(Take(), "");
  clock_.now += 16;
  progress.Tick();
  EXPECT_EQ(Take(), "running the cell: lowering, 16.0 s\n");
  progress.CellFinished(cell);
  EXPECT_EQ(Take(), "1/2 2  Tier 2: torch 2.13.0, Liger 0.8.5, emulated 9.0, 2.4 s\n");
}

TEST_F(ProgressTest, ATerminalGetsOneBlockThatIsDrawnAnew) {
  {
    Progress progress(Options(true), texts_, clock_, Sink());
    progress.BeginRun(4);
    Take();
    const CellRecord cell = flce::testing::TierTwoCell();
    clock_.now += 1;
    progress.CellStarted(cell.id, "the cell");
    EXPECT_THAT(Take(), HasSubstr("\x1b[1A\r\x1b[J"));
    progress.CellStage(cell.id, Stage::kDynamo);
    EXPECT_EQ(Take(), "") << "at most ten drawings a second";
    clock_.now += 0.2;
    EXPECT_EQ(progress.Tick(), 0.1);
    EXPECT_THAT(Take(), HasSubstr("dynamo        the cell  200 ms\n"));
    progress.CellFinished(cell);
    const std::string text = Take();
    EXPECT_THAT(text, HasSubstr("1/4 2  Tier 2: torch 2.13.0"));
    EXPECT_THAT(text, EndsWith("1/4 cells, 1 Tier 2\n"));
    progress.CellFinished(cell);
    clock_.now += 3;
    progress.CellFinished(cell);
    EXPECT_THAT(Take(), EndsWith("3/4 cells, 3 Tier 2, 1.1 s left\n"));
  }
  EXPECT_EQ(Take(), "\x1b[1A\r\x1b[J") << "what comes after the run stands on a clean line";
}

TEST_F(ProgressTest, QuietSaysNothing) {
  Progress::Options options = Options(true);
  options.quiet = true;
  Progress progress(options, texts_, clock_, Sink());
  progress.BeginRun(2);
  progress.Provisioning("x", 1, 1);
  progress.CellStarted("a", "b");
  progress.CellFinished(flce::testing::TierTwoCell());
  progress.Note("n");
  EXPECT_EQ(Take(), "");
}

}  // namespace
}  // namespace flce
