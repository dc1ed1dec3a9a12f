#include "harness/dispatch/cell_result.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

namespace flce {
namespace {

class CellResultTest : public ::testing::Test {
 protected:
  CellResultTest() {
    job_.request.cell_id = "c/torch-2.13.0";
    job_.request.output_dir = dir_.path();
    job_.request.case_document = R"({"name":"c"})";
    job_.request.device.capability = "8.9";
  }
  void Write(const char* name, const std::string& text) { std::ofstream(dir_.path() / name) << text; }

  TempDir dir_ = TempDir::Make(fs::temp_directory_path(), "cell").value();
  CellJob job_;
};

TEST_F(CellResultTest, TheWorkersObservationIsJoinedWithItsEnd) {
  Write("observation.json", R"({"format":1,"cell_id":"c/torch-2.13.0","case":"c","complete":true,"stages":["import","eager"]})");
  Write("progress.ndjson", "{\"stage\":\"import\",\"t\":0}\n");
  ProcessEnd end;
  end.seconds = 3;
  const Observation observation = CollectObservation(job_, end);
  EXPECT_TRUE(observation.complete);
  EXPECT_EQ(observation.stages, (std::vector<Stage>{Stage::kImport, Stage::kEager}));
  EXPECT_EQ(observation.end.seconds, 3);
  EXPECT_EQ(observation.end.detail, "");
}

TEST_F(CellResultTest, ADeadWorkerIsKnownByItsStagesAndItsEnd) {
  Write("progress.ndjson", "{\"stage\":\"import\",\"t\":0}\n{\"stage\":\"eager\",\"t\":1}\n{\"stage\":\"low");
  ProcessEnd end;
  end.kind = ProcessEnd::Kind::kSignaled;
  end.code = SIGABRT;
  const Observation observation = CollectObservation(job_, end);
  EXPECT_FALSE(observation.complete);
  EXPECT_EQ(observation.case_name, "c");
  EXPECT_EQ(observation.capability, "8.9");
  EXPECT_EQ(observation.stage, Stage::kEager);
  EXPECT_EQ(observation.end.code, SIGABRT);
}

TEST_F(CellResultTest, ADamagedObservationIsToldAndNotTrusted) {
  Write("observation.json", R"({"format":1,"complete":true)");
  const Observation observation = CollectObservation(job_, ProcessEnd{});
  EXPECT_FALSE(observation.complete);
  EXPECT_EQ(observation.end.detail, "observation.json: not valid JSON at byte 28");
}

TEST_F(CellResultTest, EndsAreToldApart) {
  Write("stderr.txt", "\x1b[31mred\x1b[0m \xff");
  ProcessResult process;
  process.state = Exited{3};
  process.max_rss_bytes = 7;
  ProcessEnd end = EndOf(process, dir_.path() / "stderr.txt");
  EXPECT_EQ(end.kind, ProcessEnd::Kind::kExited);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.stderr_tail, "red \xEF\xBF\xBD");
  process.state = Signaled{SIGSEGV};
  EXPECT_EQ(EndOf(process, "").code, SIGSEGV);
  process.state = TimedOut{5};
  EXPECT_EQ(EndOf(process, "").kind, ProcessEnd::Kind::kTimedOut);
}

}  // namespace
}  // namespace flce
