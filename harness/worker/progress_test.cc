#include "harness/worker/progress.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace flce::worker {
namespace {

TEST(ProgressLog, ALinePerStageWhileItRuns) {
  TempDir dir = TempDir::Make("/tmp", "flce-progress").value();
  ProgressLog log(dir.path());
  log.Begin("import");
  // Read before the log is closed: a crash must lose nothing.
  std::string text = ReadFile(dir.path() / "progress.ndjson").value();
  EXPECT_EQ(Lines(text).size(), 1u);
  log.Begin("odd \"name\" \xff");
  text = ReadFile(dir.path() / "progress.ndjson").value();
  ASSERT_EQ(Lines(text).size(), 2u);
  auto first = nlohmann::json::parse(Lines(text)[0]), second = nlohmann::json::parse(Lines(text)[1]);
  EXPECT_EQ(first["stage"], "import");
  EXPECT_EQ(second["stage"], "odd \"name\" \xEF\xBF\xBD");
  EXPECT_LE(first["t"].get<double>(), second["t"].get<double>());
}

TEST(ProgressLog, AFolderThatIsGoneIsNoError) {
  ProgressLog log("/nonexistent/folder");
  log.Begin("import");
}

}  // namespace
}  // namespace flce::worker
