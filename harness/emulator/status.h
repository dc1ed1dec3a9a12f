#pragma once

namespace flce::emulator {

/// What a call of the emulated device answers. The numbers are those of cudaError_t; CUresult uses the same numbers for
/// the same conditions, except for the few that only one of the two knows (ToDriver() translates those).
enum class Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidConfiguration = 9,
  kInvalidPitch = 12,
  kInvalidSymbol = 13,
  kInvalidMemcpyDirection = 21,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoKernelImage = 209,
  kUnsupportedLimit = 215,
  kInvalidPtx = 218,
  kFileNotFound = 301,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kCooperativeLaunchTooLarge = 720,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kInvalidClusterSize = 912,
  kUnknown = 999,
};

/// The CUresult that the driver API gives where the runtime API gives `status`.
int ToDriver(Status status);

/// "cudaErrorMemoryAllocation" and "out of memory"; for a number that is no cudaError_t, "unrecognized error code" both.
const char* RuntimeErrorName(int code);
const char* RuntimeErrorString(int code);

/// "CUDA_ERROR_OUT_OF_MEMORY" and "out of memory"; null for a number that is no CUresult.
const char* DriverErrorName(int code);
const char* DriverErrorString(int code);

}  // namespace flce::emulator
