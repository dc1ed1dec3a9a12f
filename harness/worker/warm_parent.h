#pragma once

#include <string>

#include "harness/worker/emulator_link.h"
#include "harness/worker/line_channel.h"

namespace flce::worker {

/// The life of a warmed parent: a child of the zygote for one device. It sets the device's profile, warms the compiler
/// with a forward-only compile, and then forks a child for each cell line that comes over `channel`, answering as
/// zygote_protocol.h says. Ends when the channel does.
[[noreturn]] void LiveAsWarmParent(LineChannel channel, const std::string& device, const EmulatorLink& emulator);

}  // namespace flce::worker
