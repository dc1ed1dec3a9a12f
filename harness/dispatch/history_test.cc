#include "harness/dispatch/history.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <barrier>
#include <chrono>
#include <thread>

namespace flce {
namespace {

RunRecord MakeRun(const std::string& id, const std::string& started, std::vector<std::pair<std::string, Outcome>> cells) {
  RunRecord run;
  run.id = id;
  run.started = run.finished = started;
  run.tool_version = "0.1.0";
  run.argv = {"flce-repro", "--torch", "2.13"};
  for (const auto& [name, outcome] : cells) {
    CellRecord cell;
    cell.id = name;
    cell.case_name = "flce";
    cell.torch = "2.13.0";
    cell.capability = "9.0";
    cell.fix = "none";
    cell.verdict.outcome = outcome;
    cell.exception = ExceptionRecord{{{"T", "m", "raised", {}}}, "", {}};
    run.cells.push_back(cell);
  }
  return run;
}

class HistoryTest : public ::testing::Test {
 protected:
  TempDir dir_ = TempDir::Make(fs::temp_directory_path(), "history").value();
  fs::path file_ = dir_.path() / "history.sqlite";
};

TEST_F(HistoryTest, KeepsRunsAndCells) {
  {
    History history = History::Open(file_).value();
    ASSERT_TRUE(history.Record(MakeRun("r1", "2026-01-01T00:00:00Z", {{"a", Outcome::kReproduced}, {"b", Outcome::kCrashed}})).ok());
    ASSERT_TRUE(history.Record(MakeRun("r2", "2026-01-02T00:00:00Z", {{"a", Outcome::kNotReproduced}})).ok());
  }
  History history = History::Open(file_).value();
  const std::vector<HistoryRun> runs = history.Runs().value();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].id, "r2");
  EXPECT_EQ(runs[1].cells, 2);
  EXPECT_EQ(runs[1].argv, (std::vector<std::string>{"flce-repro", "--torch", "2.13"}));
  const std::vector<HistoryEntry> a = history.Entries({.cell = "a"}).value();
  ASSERT_EQ(a.size(), 2u);
  EXPECT_EQ(a[0].run, "r1");
  EXPECT_EQ(a[0].record.verdict.outcome, Outcome::kReproduced);
  EXPECT_EQ(a[1].record.verdict.outcome, Outcome::kNotReproduced);
  const std::vector<HistoryEntry> latest = history.Latest({.case_name = "fl*"}).value();
  ASSERT_EQ(latest.size(), 2u);
  EXPECT_EQ(latest[0].run, "r2");
  EXPECT_EQ(latest[1].record.id, "b");
  EXPECT_EQ(history.CellsOf("last~1")->size(), 2u);
  EXPECT_EQ(history.CellsOf("r2")->size(), 1u);
}

TEST_F(HistoryTest, AResumedRunReplacesItself) {
  History history = History::Open(file_).value();
  ASSERT_TRUE(history.Record(MakeRun("r1", "2026-01-01T00:00:00Z", {{"a", Outcome::kReproduced}})).ok());
  ASSERT_TRUE(history.Record(MakeRun("r1", "2026-01-01T00:00:00Z", {{"a", Outcome::kReproduced}, {"b", Outcome::kReproduced}})).ok());
  EXPECT_EQ(history.Runs()->size(), 1u);
  EXPECT_EQ(history.CellsOf("r1")->size(), 2u);
}

TEST_F(HistoryTest, TwoDriversAtOnceLoseNothing) {
  constexpr int kRuns = 25;
  const auto driver = [&](const std::string& name) {
    Result<History> history = History::Open(file_);
    ASSERT_TRUE(history.ok()) << history.error().message;
    for (int i = 0; i < kRuns; ++i) {
      const Status status = history->Record(MakeRun(name + std::to_string(i), "2026-01-01T00:00:00Z", {{"a", Outcome::kReproduced}}));
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
  };
  std::thread first(driver, "x"), second(driver, "y");
  first.join();
  second.join();
  EXPECT_EQ(History::Open(file_)->Runs()->size(), static_cast<size_t>(2 * kRuns));
}

TEST_F(HistoryTest, TwoDriversThatBothMakeItWaitForEachOther) {
  // The instant in which both prepare the new file is short: many files, both let go at once.
  for (int round = 0; round < 300; ++round) {
    const fs::path file = dir_.path() / ("new" + std::to_string(round));
    std::barrier both(2);
    const auto driver = [&](const std::string& name) {
      both.arrive_and_wait();
      Result<History> history = History::Open(file);
      ASSERT_TRUE(history.ok()) << "round " << round << ": " << history.error().message;
      ASSERT_TRUE(history->Record(MakeRun(name, "2026-01-01T00:00:00Z", {{"a", Outcome::kReproduced}})).ok());
    };
    std::thread first(driver, "x"), second(driver, "y");
    first.join();
    second.join();
    ASSERT_EQ(History::Open(file)->Runs()->size(), 2u) << "round " << round;
  }
}

TEST_F(HistoryTest, AFileOfAWriteAheadLogIsReadAndWritten) {
  // What earlier versions of this program left behind.
  ASSERT_TRUE(History::Open(file_).ok());
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
  const auto driver = [&](const std::string& name) {
    for (int i = 0; i < 20; ++i) {
      Result<History> history = History::Open(file_);
      ASSERT_TRUE(history.ok()) << history.error().message;
      ASSERT_TRUE(history->Record(MakeRun(name + std::to_string(i), "2026-01-01T00:00:00Z", {{"a", Outcome::kReproduced}})).ok());
    }
  };
  std::thread first(driver, "x"), second(driver, "y");
  first.join();
  second.join();
  EXPECT_EQ(History::Open(file_)->Runs()->size(), 40u);
}

TEST_F(HistoryTest, AFileThatIsHeldIsNamed) {
  ASSERT_TRUE(History::Open(file_).ok());
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const Error error = History::Open(file_, std::chrono::milliseconds(10)).error();
  EXPECT_EQ(error.kind, ErrorKind::kIo);
  EXPECT_NE(error.message.find("another program holds " + fs::canonical(file_).string()), std::string::npos) << error.message;
  sqlite3_close(raw);
}

TEST_F(HistoryTest, ProblemsAreNamed) {
  {
    History history = History::Open(file_).value();
    EXPECT_EQ(history.CellsOf("last").error().message, "no run 'last': the history holds 0");
    ASSERT_TRUE(history.Record(MakeRun("r10", "2026-01-01T00:00:00Z", {})).ok());
    EXPECT_EQ(history.CellsOf("r11").error().message, "unknown run 'r11'; did you mean 'r10'?");
  }
  ASSERT_TRUE(WriteFileAtomically(file_, "this is no database, though it is long enough to be looked at").ok());
  fs::remove(dir_.path() / "history.sqlite-wal");
  EXPECT_EQ(History::Open(file_).error().kind, ErrorKind::kData);
  EXPECT_EQ(History::Open(dir_.path() / "no" / "folder").error().kind, ErrorKind::kIo);
}

}  // namespace
}  // namespace flce
