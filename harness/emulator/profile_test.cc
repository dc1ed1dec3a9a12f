#include "harness/emulator/profile.h"

#include "harness/emulator/emulator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace flce::emulator {
namespace {

struct Case {
  const char* text;
  const char* error;
};

TEST(ProfileTest, SaysWhatIsWrong) {
  const Case cases[] = {
      {"sms", "device profile: 'sms' is not key=value"},
      {"sm=3", "device profile: unknown key 'sm'; did you mean 'sms'?"},
      {"sms=0", "device profile: sms='0': want an integer from 1 to 4096"},
      {"sms=12x", "device profile: sms='12x': want an integer from 1 to 4096"},
      {"capability=9", "device profile: capability='9': want major.minor, such as 9.0"},
      {"capability=9.x", "device profile: capability='9.x': want major.minor, such as 9.0"},
      {"name=", "device profile: name='': want 1 to 255 characters"},
      {"shared_memory_optin=100",
       "device profile: shared memory per block, opt-in and per SM must not decrease in this order"},
  };
  for (const Case& each : cases) {
    DeviceProfile profile;
    EXPECT_EQ(ApplyProfileText(std::string("clock_khz=1;") + each.text, profile), each.error);
    EXPECT_EQ(profile.clock_khz, DeviceProfile().clock_khz) << "nothing may change on an error: " << each.text;
  }
}

TEST(ProfileTest, TakesLinesAndSemicolons) {
  DeviceProfile profile;
  EXPECT_EQ(ApplyProfileText("# a comment\nname = NVIDIA GB10\n\ncapability=12.1;integrated=1; count=2\n", profile), "");
  EXPECT_EQ(profile.name, "NVIDIA GB10");
  EXPECT_EQ(profile.capability(), 121);
  EXPECT_TRUE(profile.integrated);
  EXPECT_EQ(profile.count, 2);
}

// The data file: every entry is a profile, with a source, and the cards asked for are there in their order.
TEST(ProfileTest, DeviceDataIsValid) {
  std::ifstream file(std::string(FLCE_SOURCE_DIR) + "/cases/devices.json");
  const nlohmann::ordered_json data = nlohmann::ordered_json::parse(file);
  EXPECT_EQ(data["format"], 1);
  std::vector<std::string> ids;
  for (const auto& device : data["devices"]) {
    ids.push_back(device["id"]);
    EXPECT_GT(device["source"].get<std::string>().size(), 40U) << ids.back();
    std::string text;
    for (const auto& [key, value] : device.items()) {
      if (key == "id" || key == "source") continue;
      text += key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
    }
    DeviceProfile profile;
    EXPECT_EQ(ApplyProfileText(text, profile), "") << ids.back();
    EXPECT_EQ(profile.name, device["name"]);
    EXPECT_EQ(profile.memory_bytes, device["memory_bytes"].get<std::uint64_t>());
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"t4", "a100", "a10", "l4", "h100", "h200", "b200", "rtx5090", "gb10"}));
}

TEST(ProfileTest, DefaultIsTheH100OfTheDataFile) {
  std::ifstream file(std::string(FLCE_SOURCE_DIR) + "/cases/devices.json");
  const nlohmann::ordered_json data = nlohmann::ordered_json::parse(file);
  const DeviceProfile profile;
  for (const auto& device : data["devices"]) {
    if (device["id"] != "h100") continue;
    EXPECT_EQ(device["name"], profile.name);
    EXPECT_EQ(device["memory_bytes"], profile.memory_bytes);
    EXPECT_EQ(device["shared_memory_optin"], profile.shared_memory_optin);
    EXPECT_EQ(device["l2_bytes"], profile.l2_bytes);
  }
}

// The state lies in memory of unknown content: whatever its constructor reads before it is constructed shows here.
TEST(ProfileTest, TheEnvironmentIsReadInMemoryOfAnyContent) {
  for (const char* text : {"capability=8.9;sms=58", "nonsense"}) {
    ::setenv("FLCE_EMU_PROFILE", text, 1);
    alignas(Emulator) static unsigned char storage[sizeof(Emulator)];
    std::memset(storage, 0xA5, sizeof storage);
    Emulator* emulator = new (storage) Emulator;
    EXPECT_EQ(emulator->profile_error.empty(), std::string_view(text) != "nonsense");
    if (emulator->profile_error.empty()) {
      EXPECT_EQ(emulator->profile.sms, 58);
    }
    emulator->~Emulator();
    ::unsetenv("FLCE_EMU_PROFILE");
  }
}

}  // namespace
}  // namespace flce::emulator
