#include "harness/emulator/occupancy.h"

#include <algorithm>

namespace flce::emulator {

int ReservedSharedBytes(const DeviceProfile& profile) { return profile.major >= 8 ? 1024 : 0; }

int BlocksPerSm(const DeviceProfile& profile, const KernelCode& code, int threads, std::size_t dynamic_shared) {
  if (threads <= 0 || threads > 1024) return 0;
  constexpr int kWarp = 32;
  constexpr int kRegisterUnit = 256;  // registers are handed out to a warp in such units
  const int warps = (threads + kWarp - 1) / kWarp;
  int blocks = std::min(profile.blocks_per_sm, profile.threads_per_sm / (warps * kWarp));
  if (code.registers > 0) {
    const int of_warp = (code.registers * kWarp + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
    blocks = std::min(blocks, profile.registers_per_sm / of_warp / warps);
  }
  const std::size_t shared = static_cast<std::size_t>(code.static_shared_bytes) + dynamic_shared;
  if (shared > static_cast<std::size_t>(profile.shared_memory_optin)) return 0;
  const std::size_t taken = shared + static_cast<std::size_t>(ReservedSharedBytes(profile));
  if (shared > 0) {
    blocks = static_cast<int>(
        std::min<std::size_t>(static_cast<std::size_t>(blocks), static_cast<std::size_t>(profile.shared_memory_per_sm) / taken));
  }
  return blocks;
}

}  // namespace flce::emulator
