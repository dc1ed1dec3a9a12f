#pragma once

#include <optional>
#include <string>

#include "harness/base/result.h"

namespace flce::worker {

/// The emulated CUDA device of this process, if one is preloaded. Every function is found by name at run time; a library
/// that lacks one (or no library) gives nullopt.
class EmulatorLink {
 public:
  /// Looks the functions up in everything that is loaded.
  static EmulatorLink Find();

  /// The interface version, nullopt without an emulator that can be asked.
  std::optional<int> abi() const;
  /// kUsage with the emulator's own words for a profile that it refuses. Only before CUDA is initialised.
  Status SetProfile(const std::string& text) const;
  void ResetLog() const;
  /// JSON since the last reset; nullopt if there is none.
  std::optional<std::string> ReadLog() const;

 private:
  int (*abi_)() = nullptr;
  int (*set_profile_)(const char*) = nullptr;
  const char* (*last_message_)() = nullptr;
  void (*reset_log_)() = nullptr;
  char* (*read_log_)() = nullptr;
  void (*free_)(char*) = nullptr;
};

}  // namespace flce::worker
