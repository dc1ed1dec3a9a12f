#include "harness/plan/device_catalogue.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

constexpr const char* kDevices = R"({"format":1,"devices":[
  {"id":"h200","name":"NVIDIA H200","capability":"9.0","sms":132,"source":"s"},
  {"id":"h100","name":"NVIDIA H100","capability":"9.0","sms":132,"source":"s"},
  {"id":"gb10","name":"NVIDIA GB10","capability":"12.1","source":"s"},
  {"id":"l4","name":"NVIDIA L4","capability":"8.9","source":"s"}]})";

TEST(DeviceCatalogueTest, FindsByCapabilityAndById) {
  const DeviceCatalogue catalogue = *DeviceCatalogue::Parse(kDevices, "devices");
  EXPECT_EQ((*catalogue.Find("9.0"))->id, "h200") << "the first entry of a capability is its default";
  EXPECT_EQ((*catalogue.Find("h100"))->capability, "9.0");
  EXPECT_EQ(catalogue.Emulated("9.0")->id, "");
  EXPECT_EQ(catalogue.Emulated("l4")->id, "l4");
  EXPECT_EQ(catalogue.Emulated("l4")->capability, "8.9");
  EXPECT_EQ((*catalogue.ProfileOf(*catalogue.Emulated("h100")))->name, "NVIDIA H100");
}

TEST(DeviceCatalogueTest, AnUnknownOneIsOneLineWithTheKnownOnes) {
  const DeviceCatalogue catalogue = *DeviceCatalogue::Parse(kDevices, "devices");
  EXPECT_EQ(catalogue.Find("8.4").error().message, "no card of capability 8.4; known: 8.9, 9.0, 12.1");
  EXPECT_EQ(catalogue.Find("h20").error().message, "unknown card or capability 'h20'; did you mean 'h200'?");
  EXPECT_EQ(catalogue.Find("8.4").error().kind, ErrorKind::kUsage);
}

TEST(DeviceCatalogueTest, ErrorsNameTheEntry) {
  const auto message = [](const char* text) { return DeviceCatalogue::Parse(text, "devices").error().message; };
  EXPECT_EQ(message(R"({"format":1,"devices":[{"id":"a","name":"A","capability":"nine","source":"s"}]})"),
            "devices.devices[0]: member \"capability\" must be a text such as \"8.9\"");
  EXPECT_EQ(message(R"({"format":1,"devices":[{"id":"a","name":"A","capability":"9.0"}]})"),
            "devices.devices[0]: member \"source\" must be a text");
  EXPECT_EQ(message(R"({"format":1,"devices":[]})"), "devices: no device");
  EXPECT_EQ(message(R"({"format":2})"), "devices: member \"format\" must be 1");
  EXPECT_EQ(message(R"({"format":1,"devices":[{"id":"a","name":"A","capability":"9.0","source":"s"},{"id":"a","name":"B","capability":"9.0","source":"s"}]})"),
            "devices.devices[1]: the id 'a' is there twice");
}

}  // namespace
}  // namespace flce
