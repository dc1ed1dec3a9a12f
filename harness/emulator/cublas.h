#pragma once

#include <cstdint>

#include "harness/emulator/emulator.h"

namespace flce::emulator {

/// cublasStatus_t.
namespace blas {
inline constexpr int kSuccess = 0, kNotInitialized = 1, kAllocFailed = 3, kInvalidValue = 7, kExecutionFailed = 13,
                     kInternalError = 14, kNotSupported = 15;
}  // namespace blas

/// What a cublasHandle_t points at; cublasLt takes the same handles.
struct BlasHandle {
  void* stream = nullptr;
  int pointer_mode = 0;  ///< 0: scalars on the host, 1: on the device
  int math_mode = 0;
  int atomics_mode = 0;
  int sm_count_target = 0;
};

/// The handle, or null when it is none that is alive.
BlasHandle* FindBlasHandle(const void* handle);

/// The cuBLAS answer for work put on a stream.
int BlasResult(Status status);

/// Records that a cuBLAS entry point or value is not emulated; kNotSupported.
int RefuseBlas(const char* api, std::string_view detail = {});

}  // namespace flce::emulator
