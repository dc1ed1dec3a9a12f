#pragma once

#include "harness/emulator/emulator.h"
#include "harness/emulator/status.h"

/// An entry point of the CUDA ABI.
#define FLCE_API extern "C" __attribute__((visibility("default")))

/// An entry point whose arguments differ between CUDA 12 and 13: the callers say which they were built for by the
/// version of the symbol (readelf -V), so one library serves both. Look-ups without a version get the newer one.
#define FLCE_VERSIONED(name, for_12, for_13)                       \
  __asm__(".symver " #for_12 ", " #name "@libcudart.so.12"); \
  __asm__(".symver " #for_13 ", " #name "@@libcudart.so.13");

namespace flce::emulator {

/// The runtime API's answer: errors stay behind for cudaGetLastError, "not ready" is none.
inline int RuntimeResult(Status status) {
  if (status != Status::kSuccess && status != Status::kNotReady) CurrentThread().last_error = status;
  return static_cast<int>(status);
}

inline int DriverResult(Status status) { return ToDriver(status); }

/// What a driver entry point is when it is not emulated: a function that fails and records `name`. Null when more names
/// were asked for than there are such functions.
void* RefusingEntryPoint(const char* name);

/// The function for a driver entry point as a program of `cuda_version` expects it, or null when it is not emulated.
void* FindDriverEntryPoint(const char* name, int cuda_version);

}  // namespace flce::emulator
