#include "harness/worker/request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/base/files.h"

namespace flce::worker {
namespace {

using Json = nlohmann::ordered_json;

class RequestTest : public ::testing::Test {
 protected:
  Json Valid() const {
    return Json{{"format", 1},
                {"cell_id", "a/b"},
                {"output_dir", dir_.path().string()},
                {"python", "/env/bin/python"},
                {"sys_path", {"/nowhere", FLCE_SOURCE_DIR "/harness/worker/python"}},
                {"case", {{"name", "n"}, {"module", "m"}, {"function", "f"}, {"compile", Json::object()}}},
                {"shape", Json::object()},
                {"seed", 1327},
                {"device", {{"kind", "emulated"}}},
                {"measure", Json::object()},
                {"limits", {{"deadline_s", 12.5}}}};
  }
  static std::string ErrorOf(const Json& json) {
    Result<Request> request = ParseRequest(json.dump());
    return request ? "parsed" : request.error().message;
  }
  TempDir dir_ = TempDir::Make("/tmp", "flce-request").value();
};

TEST_F(RequestTest, ReadsWhatIsNeededAndKeepsTheText) {
  Result<Request> request = ParseRequest(Valid().dump());
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->cell_id, "a/b");
  EXPECT_EQ(request->output_dir, dir_.path());
  EXPECT_EQ(request->python, "/env/bin/python");
  EXPECT_EQ(request->package_dir, FLCE_SOURCE_DIR "/harness/worker/python");
  EXPECT_EQ(request->deadline_s, 12.5);
  EXPECT_EQ(request->text, Valid().dump());
}

TEST_F(RequestTest, EachMistakeIsNamed) {
  EXPECT_EQ(ParseRequest("{").error().message, "worker request: not a JSON object");
  EXPECT_EQ(ParseRequest("[]").error().message, "worker request: not a JSON object");
  struct {
    const char* pointer;
    Json value;
    const char* message;
  } table[] = {
      {"/format", "1", "\"format\" must be an integer"},
      {"/format", 2, "format 2 is too new: this worker reads 1"},
      {"/format", 0, "format 0 is too old: this worker reads 1"},
      {"/cell_id", 5, "\"cell_id\" must be a string"},
      {"/output_dir", "/nonexistent/dir",
       "\"output_dir\" is not an existing folder with an absolute path: /nonexistent/dir"},
      {"/output_dir", ".", "\"output_dir\" is not an existing folder with an absolute path: ."},
      {"/python", "bin/python", "\"python\" must be an absolute path: bin/python"},
      {"/sys_path", "x", "\"sys_path\" must be a list of folders"},
      {"/sys_path", {"/nowhere"}, "no folder of \"sys_path\" holds the package flce_worker"},
      {"/case", 1, "\"case\" must be an object"},
      {"/case/module", nullptr, "\"case.module\" must be a string"},
      {"/case/compile", nullptr, "\"case.compile\" must be an object"},
      {"/shape", nullptr, "\"shape\" must be an object"},
      {"/device/kind", "tpu", "\"device.kind\" must be \"emulated\" or \"cuda\""},
      {"/seed", 1.5, "\"seed\" must be an integer"},
      {"/measure", Json::array(), "\"measure\" must be an object"},
  };
  for (const auto& row : table) {
    Json json = Valid();
    json[Json::json_pointer(row.pointer)] = row.value;
    EXPECT_EQ(ErrorOf(json), std::string("worker request: ") + row.message) << row.pointer;
  }
}

TEST_F(RequestTest, NoLimitsMeansNoDeadline) {
  Json json = Valid();
  json.erase("limits");
  EXPECT_EQ(ParseRequest(json.dump())->deadline_s, 0);
}

TEST_F(RequestTest, AnAbsentFileIsNotFound) {
  EXPECT_EQ(ReadRequest(dir_.path() / "none.json").error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace flce::worker
