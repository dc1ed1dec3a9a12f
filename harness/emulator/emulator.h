#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "harness/emulator/launch_log.h"
#include "harness/emulator/memory.h"
#include "harness/emulator/modules.h"
#include "harness/emulator/profile.h"
#include "harness/emulator/status.h"
#include "harness/emulator/streams.h"
#include "harness/emulator/virtual_memory.h"

namespace flce::emulator {

/// The state of the emulated machine. Reached through a Session, which holds the lock.
struct Emulator {
  Emulator();

  // Before `profile`, whose initialiser writes it.
  std::string profile_error;  ///< what is wrong with FLCE_EMU_PROFILE, if anything is: then there is no device
  DeviceProfile profile;
  Memory memory;
  VirtualMemory virtual_memory;
  Streams streams;
  Modules modules;
  LaunchLog log;
  std::vector<bool> context_active;  ///< by device: its primary context exists

  bool ValidDevice(int device) const { return device >= 0 && device < profile.count; }
  /// "" and the new profile, or why not: one line.
  std::string SetProfile(std::string_view text);
};

/// What belongs to the calling thread.
struct ThreadState {
  int device = 0;
  int context_device = -1;  ///< the device of the driver API's current context, -1: none
  CaptureMode capture_mode = CaptureMode::kGlobal;
  Status last_error = Status::kSuccess;
  std::vector<int> context_stack;
};
ThreadState& CurrentThread();
std::uint64_t CurrentThreadId();

/// Exclusive use of the emulator while in scope. Host functions put on a stream run when it ends, without the lock: they
/// may call back. In a forked child the first session takes over the copied state, whoever held the lock in the parent.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Emulator* operator->() { return &emulator_; }
  Emulator& operator*() { return emulator_; }

  /// Records the refusal of `api` (with the value that is not emulated) and answers kNotSupported.
  Status Refuse(std::string_view api, std::string_view detail = {});
  /// The stream of a handle, on the thread's device for the default streams; null when there is none.
  Stream* FindStream(const void* handle) { return emulator_.streams.Find(handle, CurrentThread().device); }
  /// Runs `work` in its place on the stream, or records it when the stream captures.
  Status Submit(const void* stream, const Work& work);
  Status LaunchGraph(const void* exec, const void* stream);
  /// Counts a launch of `kernel` with these dimensions, after the checks that hardware makes.
  struct Dimensions {
    unsigned grid[3];
    unsigned block[3];
    std::size_t dynamic_shared;
    bool cooperative;
  };
  Status Launch(Kernel& kernel, const Dimensions& dimensions, const void* stream);
  /// See Streams::CheckUnsafe, for the calling thread.
  Status CheckUnsafe();
  /// The first call that needs the device creates its primary context and makes it the thread's.
  void UseContext(int device);

 private:
  Status Run(const Work& work, std::uint32_t stream, int device);

  Emulator& emulator_;
  std::unique_lock<std::mutex> lock_;
  std::vector<HostWork> after_;
};

}  // namespace flce::emulator
