#pragma once

#include <optional>
#include <string>

namespace flce {

/// A GPU as the NVIDIA driver of this machine answers.
struct RealGpu {
  std::string name;        ///< "NVIDIA H200"
  std::string capability;  ///< "9.0"
  int count = 0;
  int driver = 0;  ///< CUDA version of the driver: 13000 for 13.0
};

/// Asks the driver in a child process (a broken driver may crash or hang the asker); nullopt when no GPU answers.
/// `why` then says in words what is missing.
std::optional<RealGpu> ProbeGpu(std::string* why);

/// What the child runs: prints one line and returns an exit code.
int GpuProbeMain();

}  // namespace flce
