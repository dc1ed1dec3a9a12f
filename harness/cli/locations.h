#pragma once

#include <string>

#include "harness/base/files.h"
#include "harness/base/result.h"

namespace flce {

/// Where the parts of the program and its state lie.
struct Locations {
  fs::path root;      ///< the checkout: cases/, reports/schema/, harness/worker/python/
  fs::path binaries;  ///< the folder of this executable: flce-worker, flce-numerics
  fs::path worker, emulator, numerics;
  fs::path state;  ///< $FLCE_REPRO_HOME, else $XDG_CACHE_HOME/flce-repro, else ~/.cache/flce-repro

  fs::path cases() const { return root / "cases"; }
  fs::path runs() const { return state / "runs"; }
};

/// Finds them from this executable's own path. $FLCE_REPRO_ROOT names another checkout's data. kEnvironment when the
/// data folder cannot be found.
Result<Locations> FindLocations();

/// The state directory made, and shown to be writable by writing. kIo names the folder and the variable that moves it.
Status PrepareState(const Locations& locations);

}  // namespace flce
