// The real program on environments without torch: what the driver relies on whatever the case does.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/base/text.h"
#include "harness/worker/interpreter.h"

namespace flce::worker {
namespace {

using Json = nlohmann::ordered_json;

class WorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // A virtual environment needs no more than this; nothing of the machine's own packages is seen in it.
    fs::create_directories(dir_.path() / "env/bin");
    fs::create_symlink(FLCE_PYTHON, dir_.path() / "env/bin/python");
    ASSERT_TRUE(WriteFileAtomically(dir_.path() / "env/pyvenv.cfg",
                                    "home = " + fs::path(FLCE_PYTHON).parent_path().string() +
                                        "\nversion = " + EmbeddedVersion() + ".0\n"));
    fs::create_directories(dir_.path() / "modules");
    fs::create_directories(dir_.path() / "out");
  }

  Json RequestFor(const std::string& module) const {
    return Json{{"format", 1},
                {"cell_id", "test/cell"},
                {"output_dir", (dir_.path() / "out").string()},
                {"python", (dir_.path() / "env/bin/python").string()},
                {"sys_path", {(dir_.path() / "modules").string(), FLCE_SOURCE_DIR "/harness/worker/python"}},
                {"case", {{"name", "test"}, {"module", module}, {"function", "build"}, {"compile", Json::object()}}},
                {"shape", Json::object()},
                {"seed", 1},
                {"device", {{"kind", "emulated"}, {"capability", "9.0"}}},
                {"measure", Json::object()},
                {"limits", {{"deadline_s", 60}}}};
  }

  /// A module named torch whose import does what `source` says: the first thing of the outside that a cell meets.
  void TorchThat(const std::string& source) const {
    ASSERT_TRUE(WriteFileAtomically(dir_.path() / "modules/torch.py", source));
  }

  ProcessResult Run(const Json& request) const {
    EXPECT_TRUE(WriteFileAtomically(dir_.path() / "request.json", request.dump()));
    ProcessOptions options;
    options.argv = {FLCE_BINARY_DIR "/bin/flce-worker", "--request", (dir_.path() / "request.json").string()};
    return RunProcess(options).value();
  }
  Json Observation() const {
    Result<std::string> text = ReadFile(dir_.path() / "out/observation.json");
    return text ? Json::parse(*text) : Json();
  }

  TempDir dir_ = TempDir::Make("/tmp", "flce-worker").value();
};

TEST_F(WorkerTest, AnEnvironmentWithoutTorchIsAnObservation) {
  ProcessResult result = Run(RequestFor("nothing"));
  ASSERT_TRUE(result.ok()) << result.err;
  Json seen = Observation();
  EXPECT_EQ(seen["complete"], true);
  EXPECT_EQ(seen["stage"], "import");
  EXPECT_EQ(seen["exception"]["chain"][0]["type"], "builtins.ModuleNotFoundError");
  EXPECT_EQ(seen["exception"]["chain"][0]["message"], "No module named 'torch'");
  EXPECT_EQ(seen["compiled"]["status"], "not_run");
}

TEST_F(WorkerTest, ThePrefixIsTheEnvironments) {
  TorchThat("import sys\nraise RuntimeError(sys.prefix + ' ' + sys.executable)\n");
  ASSERT_TRUE(Run(RequestFor("nothing")).ok());
  std::string env = (dir_.path() / "env").string();
  EXPECT_EQ(Observation()["exception"]["chain"][0]["message"], env + " " + env + "/bin/python");
}

TEST_F(WorkerTest, WhatPythonCanCatchIsRecorded) {
  struct {
    const char* source;
    const char* type;
    const char* message;
  } table[] = {
      {"import sys; sys.exit(4)", "builtins.SystemExit", "4"},
      {"raise KeyboardInterrupt", "builtins.KeyboardInterrupt", ""},
      {"raise MemoryError('no more')", "builtins.MemoryError", "no more"},
      {"def f(): f()\nf()", "builtins.RecursionError", "maximum recursion depth exceeded"},
  };
  for (const auto& row : table) {
    TorchThat(row.source);
    ProcessResult result = Run(RequestFor("nothing"));
    ASSERT_TRUE(result.ok()) << result.err;
    Json first = Observation()["exception"]["chain"][0];
    EXPECT_EQ(first["type"], row.type);
    EXPECT_EQ(first["message"], row.message);
  }
}

TEST_F(WorkerTest, ADeathLeavesTheStageAndNoObservation) {
  struct {
    const char* source;
    std::string state;
  } table[] = {
      {"import os; os._exit(7)", "exit code 7"},
      {"import os; os.abort()", "signal 6 (Aborted)"},
      {"import ctypes; ctypes.string_at(0)", "signal 11 (Segmentation fault)"},
  };
  for (const auto& row : table) {
    TorchThat(row.source);
    fs::remove(dir_.path() / "out/progress.ndjson");
    ProcessResult result = Run(RequestFor("nothing"));
    EXPECT_EQ(Describe(result.state), row.state) << row.source;
    EXPECT_FALSE(fs::exists(dir_.path() / "out/observation.json"));
    std::string progress = ReadFile(dir_.path() / "out/progress.ndjson").value();
    ASSERT_EQ(Lines(progress).size(), 1u);
    EXPECT_EQ(Json::parse(progress)["stage"], "import");
  }
}

TEST_F(WorkerTest, AnotherPythonIsOneLineAndAnObservation) {
  ASSERT_TRUE(WriteFileAtomically(dir_.path() / "env/pyvenv.cfg", "version = 3.2.0\n"));
  ProcessResult result = Run(RequestFor("nothing"));
  EXPECT_EQ(Describe(result.state), "exit code 3");
  EXPECT_EQ(Lines(result.err).size(), 1u) << result.err;
  Json seen = Observation();
  EXPECT_EQ(seen["complete"], false);
  EXPECT_EQ("flce-worker: " + seen["error"].get<std::string>(), std::string(Trim(result.err)));
}

TEST_F(WorkerTest, ABadRequestWritesNothing) {
  Json request = RequestFor("nothing");
  request.erase("seed");
  ProcessResult result = Run(request);
  EXPECT_EQ(Describe(result.state), "exit code 2");
  EXPECT_EQ(Trim(result.err), "flce-worker: " + (dir_.path() / "request.json").string() +
                                  ": worker request: \"seed\" must be an integer");
  EXPECT_FALSE(fs::exists(dir_.path() / "out/observation.json"));
}

}  // namespace
}  // namespace flce::worker
