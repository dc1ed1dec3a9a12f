#pragma once

namespace flce::worker {

class EmulatorLink;
class ProgressLog;

/// What the Python module `flce_native` (built into this program) talks to. Both must outlive the interpreter's use of
/// it; null stops the talk.
struct NativeTargets {
  ProgressLog* progress = nullptr;
  const EmulatorLink* emulator = nullptr;
};
void SetNativeTargets(NativeTargets targets);

}  // namespace flce::worker
