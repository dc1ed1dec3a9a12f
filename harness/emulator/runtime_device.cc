// Runtime API: devices, errors, versions, entry points.
#include <cstdio>
#include <cstring>

#include "harness/emulator/api.h"
#include "harness/emulator/device_info.h"

using flce::emulator::CurrentThread;
using flce::emulator::DeviceAttribute;
using flce::emulator::DeviceProp12;
using flce::emulator::DeviceProp13;
using flce::emulator::RuntimeResult;
using flce::emulator::Session;
using flce::emulator::Status;

namespace {

// The runtime answers for the CUDA major version of its own library; callers of either version get along with both.
constexpr int kRuntimeVersion12 = 12080;
constexpr int kRuntimeVersion13 = 13000;

// Refuses a device that is not there, and a call before any profile is right.
Status CheckDevice(Session& session, int device) {
  if (session->profile.count == 0) return Status::kNoDevice;
  return session->ValidDevice(device) ? Status::kSuccess : Status::kInvalidDevice;
}

template <typename Properties>
int GetProperties(Properties* properties, int device) {
  if (properties == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  if (const Status status = CheckDevice(session, device); status != Status::kSuccess) return RuntimeResult(status);
  flce::emulator::FillProperties(session->profile, device, *properties);
  return 0;
}

int EntryPoint(const char* symbol, void** function, int version, int* result) {
  constexpr int kFound = 0;
  constexpr int kNotFound = 1;
  if (symbol == nullptr || function == nullptr) return RuntimeResult(Status::kInvalidValue);
  *function = flce::emulator::FindDriverEntryPoint(symbol, version);
  if (*function == nullptr) *function = flce::emulator::RefusingEntryPoint(symbol);
  if (result != nullptr) *result = *function != nullptr ? kFound : kNotFound;
  return 0;
}

}  // namespace

FLCE_API int cudaGetDeviceCount(int* count) {
  if (count == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  *count = session->profile.count;
  return RuntimeResult(session->profile.count == 0 ? Status::kNoDevice : Status::kSuccess);
}

FLCE_API int cudaGetDevice(int* device) {
  if (device == nullptr) return RuntimeResult(Status::kInvalidValue);
  *device = CurrentThread().device;
  return 0;
}

FLCE_API int cudaSetDevice(int device) {
  Session session;
  if (const Status status = CheckDevice(session, device); status != Status::kSuccess) return RuntimeResult(status);
  CurrentThread().device = device;
  session.UseContext(device);
  return 0;
}

FLCE_API int cudaDeviceSynchronize() {
  Session session;
  session.UseContext(CurrentThread().device);
  session->log.Trace(flce::emulator::TraceEvent::Kind::kSynchronize, "cudaDeviceSynchronize", 0,
                     CurrentThread().device, 0);
  return RuntimeResult(session.CheckUnsafe());
}

FLCE_API int cudaDriverGetVersion(int* version) {
  if (version == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  *version = session->profile.driver;
  return 0;
}

FLCE_API int flce_cuda_runtime_get_version_12(int* version) {
  if (version == nullptr) return RuntimeResult(Status::kInvalidValue);
  *version = kRuntimeVersion12;
  return 0;
}

FLCE_API int flce_cuda_runtime_get_version_13(int* version) {
  if (version == nullptr) return RuntimeResult(Status::kInvalidValue);
  *version = kRuntimeVersion13;
  return 0;
}

FLCE_VERSIONED(cudaRuntimeGetVersion, flce_cuda_runtime_get_version_12, flce_cuda_runtime_get_version_13)

FLCE_API int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  if (value == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  if (const Status status = CheckDevice(session, device); status != Status::kSuccess) return RuntimeResult(status);
  const std::optional<int> known = DeviceAttribute(session->profile, attribute, device);
  if (!known) return RuntimeResult(session.Refuse("cudaDeviceGetAttribute", std::to_string(attribute)));
  *value = *known;
  return 0;
}

FLCE_API int cudaGetDeviceProperties(DeviceProp13* properties, int device) { return GetProperties(properties, device); }

FLCE_API int cudaGetDeviceProperties_v2(DeviceProp12* properties, int device) {
  return GetProperties(properties, device);
}

FLCE_API int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  Session session;
  if (const Status status = CheckDevice(session, device); status != Status::kSuccess) return RuntimeResult(status);
  if (text == nullptr || length < 13) return RuntimeResult(Status::kInvalidValue);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", 1 + device);
  return 0;
}

FLCE_API int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (can == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  if (!session->ValidDevice(device) || !session->ValidDevice(peer)) return RuntimeResult(Status::kInvalidDevice);
  *can = 0;
  return 0;
}

FLCE_API int cudaDeviceEnablePeerAccess(int peer, unsigned) {
  Session session;
  if (!session->ValidDevice(peer)) return RuntimeResult(Status::kInvalidDevice);
  return RuntimeResult(session.Refuse("cudaDeviceEnablePeerAccess"));
}

FLCE_API int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return 0;
}

FLCE_API int cudaGetLastError() {
  const Status status = CurrentThread().last_error;
  CurrentThread().last_error = Status::kSuccess;
  return static_cast<int>(status);
}

FLCE_API int cudaPeekAtLastError() { return static_cast<int>(CurrentThread().last_error); }

FLCE_API const char* cudaGetErrorString(int code) { return flce::emulator::RuntimeErrorString(code); }

FLCE_API const char* cudaGetErrorName(int code) { return flce::emulator::RuntimeErrorName(code); }

FLCE_API int cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long, int* result) {
  return EntryPoint(symbol, function, kRuntimeVersion12, result);
}

FLCE_API int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                              unsigned long long, int* result) {
  return EntryPoint(symbol, function, static_cast<int>(version), result);
}

FLCE_API int cudaProfilerStart() { return 0; }

FLCE_API int cudaProfilerStop() { return 0; }
