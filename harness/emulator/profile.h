#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flce::emulator {

/// The card that the emulated device pretends to be. The defaults are an H100 SXM5 80GB; `cases/devices.json` holds the
/// other cards under the same names. Sizes in bytes, clocks in kHz.
struct DeviceProfile {
  std::string name = "NVIDIA H100 80GB HBM3";
  int major = 9;
  int minor = 0;
  int sms = 132;
  std::uint64_t memory_bytes = 85017755648;
  int shared_memory_per_block = 49152;
  int shared_memory_optin = 232448;
  int shared_memory_per_sm = 233472;
  int registers_per_sm = 65536;
  int threads_per_sm = 2048;
  int blocks_per_sm = 32;
  int l2_bytes = 52428800;
  int clock_khz = 1980000;
  int memory_clock_khz = 2619000;
  int memory_bus_bits = 5120;
  int count = 1;        ///< devices of this kind in the machine, 1 to 64
  int driver = 13020;   ///< what cuDriverGetVersion answers: 1000 * major + 10 * minor
  bool integrated = false;
  bool trace = false;   ///< keep every call with its time, for a trace of the run

  int capability() const { return 10 * major + minor; }
};

/// Sets the fields that `text` names: "key=value" pairs, separated by newlines or semicolons; blank lines and lines that
/// begin with '#' are passed over. Keys: name, capability (M.m), the integer fields above by their names, trace.
/// Returns "" and changes `profile`, or returns one line that says what is wrong and where, and changes nothing.
std::string ApplyProfileText(std::string_view text, DeviceProfile& profile);

}  // namespace flce::emulator
