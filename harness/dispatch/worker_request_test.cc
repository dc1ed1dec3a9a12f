#include "harness/dispatch/worker_request.h"

#include <gtest/gtest.h>

#include "harness/model/json_reader.h"

namespace flce {
namespace {

TEST(WorkerRequestTest, HasTheContractsMembers) {
  WorkerRequest request;
  request.cell_id = "c/torch-2.13.0";
  request.output_dir = "/run/1";
  request.python = "/env/bin/python";
  request.sys_path = {"/fix", "/liger"};
  request.case_document = R"({"format":1,"name":"c","title":"T","module":"m","function":"build","parameters":{"a":1},
                              "shape":{"bt":8,"h":16,"v":32},"compile":{},"call":{},"tags":[]})";
  request.fix = {"core-decomposition", {{"torch._inductor.decomposition", "/overlay/decomposition.py"}}, ""};
  request.device = {DeviceKind::kEmulated, "9.0", "", 1};
  request.profile_document = R"({"id":"h100","capability":"9.0"})";
  Result<Json> json = ToJson(request);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(*json, Json::parse(R"({
    "format":1,"cell_id":"c/torch-2.13.0","output_dir":"/run/1","python":"/env/bin/python","sys_path":["/fix","/liger"],
    "case":{"name":"c","module":"m","function":"build","parameters":{"a":1},"compile":{},"call":{}},
    "shape":{"bt":8,"h":16,"v":32},"seed":1327,
    "fix":{"name":"core-decomposition","hooks":[{"module":"torch._inductor.decomposition","file":"/overlay/decomposition.py"}],"python":null},
    "device":{"kind":"emulated","capability":"9.0","profile":{"id":"h100","capability":"9.0"},"count":1},
    "measure":{"tensors":true,"memory_blocks":true,"poison":false,"timing":null},"limits":{"deadline_s":300.0}})"));
  request.shape = Shape{1, 2, 3};
  request.timing = TimingRequest{1, 2};
  json = ToJson(request);
  EXPECT_EQ((*json)["shape"], Json::parse(R"({"bt":1,"h":2,"v":3})"));
  EXPECT_EQ((*json)["measure"]["timing"], Json::parse(R"({"warmups":1,"runs":2})"));
}

TEST(WorkerRequestTest, ADocumentThatIsNoObjectIsAnError) {
  WorkerRequest request;
  request.case_document = "[]";
  EXPECT_EQ(ToJson(request).error().message, "case: expected an object");
  EXPECT_EQ(EmulatorProfileText("{", 1).error().message, "device profile: not valid JSON at byte 2");
}

TEST(WorkerRequestTest, TheEmulatorsProfileHoldsTheCardsPropertiesOnly) {
  EXPECT_EQ(*EmulatorProfileText(
                R"({"id":"gb10","name":"NVIDIA GB10","capability":"12.1","sms":48,"integrated":true,"source":"x","notes":["y"]})", 2),
            "name=NVIDIA GB10;capability=12.1;sms=48;integrated=1;count=2");
  EXPECT_EQ(*EmulatorProfileText("", 1), "");
}

}  // namespace
}  // namespace flce
