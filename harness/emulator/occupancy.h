#pragma once

#include <cstddef>

#include "harness/emulator/images.h"
#include "harness/emulator/profile.h"

namespace flce::emulator {

/// How many blocks of that many threads an SM holds at once: the least of what its threads, block slots, registers and
/// shared memory allow. 0: a block does not fit at all.
int BlocksPerSm(const DeviceProfile& profile, const KernelCode& code, int threads, std::size_t dynamic_shared);

/// Shared memory that the system keeps of each block: 1 KiB from compute capability 8.0 on.
int ReservedSharedBytes(const DeviceProfile& profile);

}  // namespace flce::emulator
