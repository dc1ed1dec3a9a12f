#include "harness/verdict/exit_code.h"

#include <gtest/gtest.h>

#include "harness/verdict/judge.h"

namespace flce {
namespace {

CellRecord Cell(Outcome outcome, std::optional<Standing> standing = Standing::kExpected, Reason reason = Reason::kNone) {
  static int number = 0;
  CellRecord cell;
  cell.id = "cell-" + std::to_string(number++);
  cell.verdict.outcome = outcome;
  cell.verdict.reason = reason;
  cell.standing = standing;
  return cell;
}
const CellRecord kExpectedFailure = Cell(Outcome::kReproduced);
const CellRecord kImproved = Cell(Outcome::kNotReproduced, Standing::kImproved, Reason::kFixed);
const CellRecord kRegressed = Cell(Outcome::kReproduced, Standing::kRegressed);
const CellRecord kChanged = Cell(Outcome::kReproduced, Standing::kChanged);
const CellRecord kBroken = Cell(Outcome::kEnvironment, std::nullopt);

int Gate(const std::vector<CellRecord>& cells) { return ExitCode(ExitProfile::kGate, cells); }

TEST(ExitCodeTest, GatePrecedence) {
  EXPECT_EQ(Gate({kExpectedFailure}), 0) << "a failure that is expected is as expected";
  EXPECT_EQ(Gate({kExpectedFailure, kImproved}), 3);
  EXPECT_EQ(Gate({kImproved, kBroken}), 4);
  EXPECT_EQ(Gate({kImproved, kBroken, kRegressed}), 1);
  EXPECT_EQ(Gate({kExpectedFailure, kChanged}), 1);
  EXPECT_EQ(Gate({}), 5);
}

TEST(ExitCodeTest, GateOfUnlistedCells) {
  EXPECT_EQ(Gate({Cell(Outcome::kNotReproduced, Standing::kUnlisted, Reason::kFixed)}), 0);
  EXPECT_EQ(Gate({Cell(Outcome::kNumericsMismatch, Standing::kUnlisted)}), 1);
  EXPECT_EQ(Gate({Cell(Outcome::kReproduced, Standing::kUnlisted)}), 1);
  EXPECT_EQ(Gate({Cell(Outcome::kSkipped, std::nullopt)}), 4);
  EXPECT_EQ(Gate({Cell(Outcome::kEnvironment, Standing::kExpected)}), 0) << "listed as an environment failure";
  CellRecord emulated = Cell(Outcome::kNotReproduced, Standing::kUnlisted, Reason::kFixed);
  emulated.verdict.findings = {{kNeedsGpuFinding, ""}};
  EXPECT_EQ(Gate({emulated}), 4) << "no GPU where one is required";
}

TEST(ExitCodeTest, ABrokenMemoryBudgetIsNoPassThoughTheVerdictIsExpected) {
  CellRecord fixed = Cell(Outcome::kNotReproduced, Standing::kExpected, Reason::kFixed);
  EXPECT_EQ(Gate({fixed}), 0);
  fixed.verdict.findings = {{"memory_budget", "62.9 times eager's"}};
  EXPECT_EQ(Gate({fixed}), 1);
  EXPECT_EQ(Gate({kImproved, fixed}), 1);
}

TEST(ExitCodeTest, AWrongControlIsInconclusiveWhateverElseHappened) {
  ControlsVerdict controls;
  controls.problems = {"control 'x' came out wrong"};
  for (const CellRecord& cell : {kExpectedFailure, kRegressed, kImproved}) EXPECT_EQ(ExitCode(ExitProfile::kGate, {cell}, controls), 4);
  EXPECT_EQ(ExitCode(ExitProfile::kGitBisect, {kRegressed}, controls), 125);
}

TEST(ExitCodeTest, ControlCellsCountOnlyAsControls) {
  CellRecord crash = Cell(Outcome::kCrashed);
  ControlsVerdict controls;
  controls.cells = {crash.id};
  EXPECT_EQ(ExitCode(ExitProfile::kGate, {crash, kImproved}, controls), 3);
  EXPECT_EQ(ExitCode(ExitProfile::kGate, {crash}, controls), 0);
}

TEST(ExitCodeTest, Seed) {
  const auto seed = [](const std::vector<CellRecord>& cells) { return ExitCode(ExitProfile::kSeed, cells); };
  EXPECT_EQ(seed({kRegressed}), 0) << "reproduced, whatever was expected";
  EXPECT_EQ(seed({kImproved}), 1);
  EXPECT_EQ(seed({Cell(Outcome::kUnexpected)}), 1);
  EXPECT_EQ(seed({Cell(Outcome::kSkipped)}), 2);
  EXPECT_EQ(seed({kBroken}), 2);
  EXPECT_EQ(seed({kExpectedFailure, kImproved, kBroken}), 1);
  EXPECT_EQ(seed({kExpectedFailure, kBroken}), 2);
  EXPECT_EQ(seed({}), 2);
}

TEST(ExitCodeTest, GitBisect) {
  const auto bisect = [](const std::vector<CellRecord>& cells) { return ExitCode(ExitProfile::kGitBisect, cells); };
  EXPECT_EQ(bisect({kExpectedFailure}), 1) << "the bug is there: bad, though it is expected";
  EXPECT_EQ(bisect({Cell(Outcome::kNotReproduced, Standing::kExpected, Reason::kNotAffected)}), 0);
  EXPECT_EQ(bisect({kImproved}), 0);
  EXPECT_EQ(bisect({Cell(Outcome::kNotReproduced, Standing::kExpected, Reason::kNotExercised)}), 125);
  EXPECT_EQ(bisect({Cell(Outcome::kNotReproduced, Standing::kExpected, Reason::kNotCompiled)}), 125);
  EXPECT_EQ(bisect({Cell(Outcome::kUnexpected)}), 125);
  EXPECT_EQ(bisect({kBroken}), 125);
  EXPECT_EQ(bisect({kBroken, kExpectedFailure}), 1);
  EXPECT_EQ(bisect({}), 128);
}

TEST(ExitCodeTest, ErrorsByProfile) {
  const Error usage{ErrorKind::kUsage, ""}, environment{ErrorKind::kEnvironment, ""}, internal{ErrorKind::kInternal, ""};
  EXPECT_EQ(ExitCode(ExitProfile::kGate, usage), 2);
  EXPECT_EQ(ExitCode(ExitProfile::kGate, environment), 4);
  EXPECT_EQ(ExitCode(ExitProfile::kGate, internal), 70);
  EXPECT_EQ(ExitCode(ExitProfile::kGitBisect, usage), 128);
  EXPECT_EQ(ExitCode(ExitProfile::kGitBisect, environment), 125);
  EXPECT_EQ(ExitCode(ExitProfile::kGitBisect, internal), 128);
  EXPECT_EQ(ExitCode(ExitProfile::kSeed, environment), 2);
}

TEST(ExitCodeTest, Profiles) {
  EXPECT_EQ(*ParseExitProfile("git-bisect"), ExitProfile::kGitBisect);
  EXPECT_EQ(ParseExitProfile("git-bisct").error().message, "unknown exit profile 'git-bisct'; did you mean 'git-bisect'?");
}

const Expectations& ControlRules() {
  static const Expectations rules = Expectations::Parse(R"({"format":1,"rules":[
    {"id":"clean","control":"clean","when":{"case":"control-clean"},"expect":{"outcome":"not_reproduced"},"why":"w"},
    {"id":"failing","control":"failing","when":{"case":"control-fail"},"expect":{"outcome":"unexpected"},"why":"w"},
    {"id":"crashed","control":"crashed","when":{"case":"control-crash"},"expect":{"outcome":"crashed"},"why":"w"},
    {"id":"late","control":"timed_out","when":{"case":"control-hang"},"expect":{"outcome":"timed_out"},"why":"w"}]})", "e").value();
  return rules;
}

std::vector<CellRecord> ControlCells() {
  std::vector<CellRecord> cells = {Cell(Outcome::kNotReproduced), Cell(Outcome::kUnexpected), Cell(Outcome::kCrashed), Cell(Outcome::kTimedOut)};
  const char* names[] = {"control-clean", "control-fail", "control-crash", "control-hang"};
  for (size_t i = 0; i < cells.size(); ++i) cells[i].case_name = names[i];
  return cells;
}

TEST(ControlsTest, AllAsTheyMustBe) {
  const ControlsVerdict verdict = CheckControls(ControlCells(), ControlRules(), true);
  EXPECT_TRUE(verdict.problems.empty());
  EXPECT_EQ(verdict.cells.size(), 4u);
}

TEST(ControlsTest, AnyThatComesOutOtherwiseIsNamed) {
  std::vector<CellRecord> cells = ControlCells();
  cells[2].verdict.outcome = Outcome::kNotReproduced;
  cells[3].verdict.outcome = Outcome::kEnvironment;
  const ControlsVerdict verdict = CheckControls(cells, ControlRules(), true);
  ASSERT_EQ(verdict.problems.size(), 2u);
  EXPECT_EQ(verdict.problems[0],
            "control 'control-crash' must come out crashed: rule 'crashed' expects crashed; got not_reproduced, other than expected");
  EXPECT_EQ(verdict.problems[1],
            "control 'control-hang' must come out timed_out: rule 'late' expects timed_out; got environment, which decides nothing");
}

TEST(ControlsTest, TheReportSaysHowEachCameOut) {
  std::vector<CellRecord> cells = ControlCells();
  cells[2].verdict.outcome = Outcome::kNotReproduced;
  cells.push_back(Cell(Outcome::kReproduced));
  const std::vector<ControlRecord> controls = ReportControls(cells, ControlRules());
  ASSERT_EQ(controls.size(), 4u) << "a cell of the run is no control";
  EXPECT_EQ(controls[0].role, "clean");
  EXPECT_TRUE(controls[0].as_required);
  EXPECT_EQ(controls[2].case_name, "control-crash");
  EXPECT_FALSE(controls[2].as_required);
  EXPECT_EQ(controls[2].text, "rule 'crashed' expects crashed; got not_reproduced, other than expected");
}

TEST(ControlsTest, AMissingOneIsAProblemOnlyWhereTheyAreRequired) {
  std::vector<CellRecord> cells = ControlCells();
  cells.pop_back();
  EXPECT_EQ(CheckControls(cells, ControlRules(), true).problems,
            std::vector<std::string>{"no control that must come out timed_out was run"});
  EXPECT_TRUE(CheckControls(cells, ControlRules(), false).problems.empty());
  EXPECT_TRUE(CheckControls({}, ControlRules(), false).problems.empty());
}

}  // namespace
}  // namespace flce
