// The real zygote on an environment whose torch is a stand-in: the protocol, isolation and every way a cell can end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "harness/base/files.h"
#include "harness/worker/interpreter.h"
#include "harness/worker/line_channel.h"

namespace flce::worker {
namespace {

using Json = nlohmann::ordered_json;

class ServeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(dir_.path() / "env/bin");
    fs::create_symlink(FLCE_PYTHON, dir_.path() / "env/bin/python");
    Write("env/pyvenv.cfg", "home = " + fs::path(FLCE_PYTHON).parent_path().string() + "\nversion = " + EmbeddedVersion() + ".0\n");
    Write("modules/torch/__init__.py",
          "__version__ = '2.99.0'\nimport os\nimported_in = os.getpid()\n"
          "class version: cuda = '13.0'; git_version = 'abc'\ndef set_num_threads(n): pass\n");
    Write("modules/torch/_dynamo.py", "");
    Write("modules/torch/_inductor/__init__.py", "");
    Write("modules/torch/_inductor/compile_fx.py", "");
    Write("modules/torch/_inductor/lowering.py", "");
    // Case modules do their work when they are imported, inside the cell.
    Write("modules/case_fine.py", "import os, torch\nraise RuntimeError(f'{torch.imported_in} {os.environ[\"TMPDIR\"]}')\n");
    Write("modules/case_abort.py", "import os\nos.abort()\n");
    Write("modules/case_leave.py", "import os\nprint('bye', flush=True)\nos._exit(7)\n");
    Write("modules/case_hang.py", "import time\ntime.sleep(3600)\n");
    Write("modules/case_kill_parent.py", "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(3600)\n");
  }
  void TearDown() override {
    driver_.Close();
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((dir_.path() / name).parent_path());
    ASSERT_TRUE(WriteFileAtomically(dir_.path() / name, text));
  }
  Json Shared() const {
    return Json{{"python", (dir_.path() / "env/bin/python").string()},
                {"sys_path", {(dir_.path() / "modules").string(), FLCE_SOURCE_DIR "/harness/worker/python"}},
                {"fix", {{"name", "none"}}}};
  }
  /// Starts the zygote and returns its first answer.
  Json Start(const Json& shared) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      std::string fd = std::to_string(ends[1]), program = FLCE_BINARY_DIR "/bin/flce-worker";
      execl(program.c_str(), program.c_str(), "--serve", fd.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    driver_ = LineChannel(ends[0]);
    Send(Json{{"format", 1}, {"start", shared}});
    return Receive();
  }
  void Send(const Json& json) { ASSERT_TRUE(driver_.Write(json.dump())); }
  Json Receive() {
    while (lines_.empty() && !driver_.ended()) lines_ = driver_.Read();
    if (lines_.empty()) return Json();
    Json json = Json::parse(lines_.front());
    lines_.erase(lines_.begin());
    return json;
  }
  /// The answers to `count` cells, by cell; news is left out.
  std::map<std::string, Json> Answers(size_t count) {
    std::map<std::string, Json> answers;
    while (answers.size() < count && !driver_.ended()) {
      Json answer = Receive();
      if (answer.contains("cell_id")) answers[answer["cell_id"]] = answer;
    }
    return answers;
  }
  Json Cell(const std::string& id, const std::string& module, double deadline_s = 60) const {
    fs::path out = dir_.path() / "out" / id;
    fs::create_directories(out);
    Json cell{{"format", 1}, {"cell_id", id}, {"output_dir", out.string()}};
    cell.update(Shared());
    cell.update(Json{{"case", {{"name", "n"}, {"module", module}, {"function", "build"}, {"compile", Json::object()}}},
                     {"shape", Json::object()},
                     {"seed", 1},
                     {"device", {{"kind", "emulated"}, {"capability", "9.0"}}},
                     {"measure", Json::object()},
                     {"environment", {{"TMPDIR", "/private/" + id}}},
                     {"limits", {{"deadline_s", deadline_s}}}});
    return cell;
  }
  Json Observation(const std::string& id) const {
    Result<std::string> text = ReadFile(dir_.path() / "out" / id / "observation.json");
    return text ? Json::parse(*text) : Json();
  }

  TempDir dir_ = TempDir::Make("/tmp", "flce-serve").value();
  LineChannel driver_{-1};
  std::vector<std::string> lines_;
  pid_t pid_ = -1;
};

TEST_F(ServeTest, CellsShareTheImportsAndNothingElse) {
  Json ready = Start(Shared());
  ASSERT_EQ(ready["ready"], true) << ready;
  EXPECT_EQ(ready["versions"]["torch"], "2.99.0");
  Send(Cell("one", "case_fine"));
  Send(Cell("two", "case_fine"));
  auto answers = Answers(2);
  for (const char* id : {"one", "two"}) {
    EXPECT_EQ(answers[id]["exit"], (Json{{"code", 0}})) << answers[id];
    EXPECT_GT(answers[id]["max_rss_bytes"], 1'000'000);
    // torch was imported in the zygote; the environment is the cell's own.
    EXPECT_EQ(Observation(id)["exception"]["chain"][0]["message"], ready["pid"].dump() + " /private/" + id);
  }
}

TEST_F(ServeTest, EveryEndOfACellIsAnAnswerAndHarmsNoOther) {
  ASSERT_EQ(Start(Shared())["ready"], true);
  Send(Cell("hang", "case_hang", 0.5));
  Send(Cell("abort", "case_abort"));
  Send(Cell("leave", "case_leave"));
  Send(Cell("fine", "case_fine"));
  auto answers = Answers(4);
  EXPECT_EQ(answers["hang"]["exit"], (Json{{"timed_out", true}}));
  EXPECT_EQ(answers["abort"]["exit"], (Json{{"signal", 6}}));
  EXPECT_EQ(answers["leave"]["exit"], (Json{{"code", 7}}));
  EXPECT_EQ(answers["fine"]["exit"], (Json{{"code", 0}}));
  EXPECT_EQ(ReadFile(dir_.path() / "out/leave/stdout.txt").value(), "bye\n");
  EXPECT_EQ(ReadFile(dir_.path() / "out/abort/progress.ndjson").value().substr(0, 18), "{\"stage\":\"import\",");
  // The stack at the time of death is evidence.
  EXPECT_NE(ReadFile(dir_.path() / "out/abort/stderr.txt").value().find("case_abort.py"), std::string::npos);
}

TEST_F(ServeTest, ACellCanBeCancelled) {
  ASSERT_EQ(Start(Shared())["ready"], true);
  Send(Cell("hang", "case_hang"));
  Send(Json{{"cancel", "unknown"}});
  Send(Json{{"cancel", "hang"}});
  EXPECT_EQ(Answers(1)["hang"]["exit"], (Json{{"cancelled", true}}));
}

TEST_F(ServeTest, WhatDoesNotBelongHereIsRefused) {
  ASSERT_EQ(Start(Shared())["ready"], true);
  Json other = Cell("other", "case_fine"), real = Cell("real", "case_fine"), broken = Cell("broken", "case_fine");
  other["fix"]["hooks"] = Json::array({{{"module", "torch.x"}, {"file", "/x.py"}}});
  real["device"]["kind"] = "cuda";
  broken.erase("seed");
  Send(other);
  Send(real);
  Send(broken);
  auto answers = Answers(3);
  EXPECT_EQ(answers["other"]["refused"], "its python, the end of its sys_path or its fix to torch is not this zygote's");
  EXPECT_EQ(answers["real"]["refused"], "only emulated devices can be served; run it with --request");
  EXPECT_EQ(answers["broken"]["refused"], "worker request: \"seed\" must be an integer");
}

TEST_F(ServeTest, ACellWhoseParentDiesIsTriedOnceMore) {
  ASSERT_EQ(Start(Shared())["ready"], true);
  Send(Cell("killer", "case_kill_parent"));
  auto answers = Answers(1);
  EXPECT_EQ(answers["killer"]["lost"], "its parent died twice, last of signal 9");
  // The zygote itself goes on.
  Send(Cell("fine", "case_fine"));
  EXPECT_EQ(Answers(1)["fine"]["exit"], (Json{{"code", 0}}));
}

TEST_F(ServeTest, AnImportThatFailsIsSaidAtOnce) {
  Write("modules/torch/__init__.py", "raise ImportError('libcudart.so.13: cannot open shared object file')\n");
  Json answer = Start(Shared());
  EXPECT_EQ(answer["ready"], false);
  EXPECT_NE(answer["error"].get<std::string>().find("libcudart.so.13"), std::string::npos) << answer;
}

TEST_F(ServeTest, TheEndOfTheDriverEndsEverything) {
  fs::path fifo = dir_.path() / "held";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  Write("modules/case_hold.py", "import time\nheld = open('" + fifo.string() + "', 'w')\ntime.sleep(3600)\n");
  ASSERT_EQ(Start(Shared())["ready"], true);
  Send(Cell("hold", "case_hold"));
  int reader = open(fifo.c_str(), O_RDONLY);  // returns once the cell holds the other end
  ASSERT_GE(reader, 0);
  driver_.Close();
  int status = 0;
  EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  char byte;
  EXPECT_EQ(read(reader, &byte, 1), 0) << "the cell is gone too";
  close(reader);
}

}  // namespace
}  // namespace flce::worker
