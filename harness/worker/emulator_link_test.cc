#include "harness/worker/emulator_link.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

// The test program exports an emulator of its own, as a preloaded library would.
namespace {
int resets = 0, frees = 0;
std::string profile_seen;
}  // namespace

extern "C" {
__attribute__((visibility("default"))) int flce_emu_abi() { return 1; }
__attribute__((visibility("default"))) int flce_emu_set_profile(const char* text) {
  profile_seen = text;
  return profile_seen.rfind("name=", 0) == 0 ? 0 : 22;
}
__attribute__((visibility("default"))) const char* flce_emu_last_message() { return "unknown key 'nmae'"; }
__attribute__((visibility("default"))) void flce_emu_reset_log() { ++resets; }
__attribute__((visibility("default"))) char* flce_emu_read_log() { return strdup("{\"peak_bytes\":7}"); }
__attribute__((visibility("default"))) void flce_emu_free(char* text) {
  ++frees;
  free(text);
}
}

namespace flce::worker {
namespace {

TEST(EmulatorLink, FindsWhatIsLoadedAndPassesItOn) {
  EmulatorLink link = EmulatorLink::Find();
  EXPECT_EQ(link.abi(), 1);
  EXPECT_TRUE(link.SetProfile("name=L4\ncapability=8.9"));
  EXPECT_EQ(profile_seen, "name=L4\ncapability=8.9");
  EXPECT_EQ(link.SetProfile("nmae=L4").error().message, "unknown key 'nmae'");
  link.ResetLog();
  EXPECT_EQ(resets, 1);
  EXPECT_EQ(link.ReadLog(), "{\"peak_bytes\":7}");
  EXPECT_EQ(frees, 1);
}

TEST(EmulatorLink, WithoutAnEmulatorEveryAnswerIsNone) {
  EmulatorLink none;
  EXPECT_EQ(none.abi(), std::nullopt);
  EXPECT_EQ(none.ReadLog(), std::nullopt);
  none.ResetLog();
  EXPECT_EQ(none.SetProfile("name=L4").error().message, "the emulated device takes no profile");
}

}  // namespace
}  // namespace flce::worker
