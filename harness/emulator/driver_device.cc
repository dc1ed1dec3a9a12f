// Driver API: initialisation, devices, contexts, errors, entry points.
#include <cstdio>
#include <cstring>

#include "harness/emulator/api.h"
#include "harness/emulator/device_info.h"

using flce::emulator::CurrentThread;
using flce::emulator::DriverResult;
using flce::emulator::Session;
using flce::emulator::Status;

namespace {

// A context handle is a number that no allocation has; there is the primary context of each device and no other.
constexpr std::uintptr_t kContextBase = 0xc000;

void* ContextOf(int device) {
  return device < 0 ? nullptr : reinterpret_cast<void*>(kContextBase + static_cast<std::uintptr_t>(device));
}

bool DeviceOfContext(Session& session, const void* context, int* device) {
  const std::uintptr_t value = reinterpret_cast<std::uintptr_t>(context);
  if (value < kContextBase) return false;
  *device = static_cast<int>(value - kContextBase);
  return session->ValidDevice(*device);
}

int CheckDevice(Session& session, int device) {
  return DriverResult(session->ValidDevice(device) ? Status::kSuccess : Status::kInvalidDevice);
}

}  // namespace

FLCE_API int cuInit(unsigned flags) {
  if (flags != 0) return DriverResult(Status::kInvalidValue);
  Session session;
  return DriverResult(session->profile.count == 0 ? Status::kNoDevice : Status::kSuccess);
}

FLCE_API int cuDriverGetVersion(int* version) {
  if (version == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  *version = session->profile.driver;
  return 0;
}

FLCE_API int cuDeviceGetCount(int* count) {
  if (count == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  *count = session->profile.count;
  return 0;
}

FLCE_API int cuDeviceGet(int* device, int ordinal) {
  if (device == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  *device = ordinal;
  return CheckDevice(session, ordinal);
}

FLCE_API int cuDeviceGetName(char* name, int length, int device) {
  if (name == nullptr || length <= 0) return DriverResult(Status::kInvalidValue);
  Session session;
  if (const int error = CheckDevice(session, device)) return error;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", session->profile.name.c_str());
  return 0;
}

FLCE_API int cuDeviceGetUuid(unsigned char* uuid, int device) {
  if (uuid == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  if (const int error = CheckDevice(session, device)) return error;
  flce::emulator::FillUuid(device, uuid);
  return 0;
}

FLCE_API int cuDeviceGetUuid_v2(unsigned char* uuid, int device) { return cuDeviceGetUuid(uuid, device); }

FLCE_API int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  if (bytes == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  if (const int error = CheckDevice(session, device)) return error;
  *bytes = session->profile.memory_bytes;
  return 0;
}

FLCE_API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (value == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  if (const int error = CheckDevice(session, device)) return error;
  const std::optional<int> known = flce::emulator::DeviceAttribute(session->profile, attribute, device);
  if (!known) return DriverResult(session.Refuse("cuDeviceGetAttribute", std::to_string(attribute)));
  *value = *known;
  return 0;
}

FLCE_API int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (context == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  if (const int error = CheckDevice(session, device)) return error;
  session->context_active[static_cast<std::size_t>(device)] = true;
  *context = ContextOf(device);
  return 0;
}

FLCE_API int cuDevicePrimaryCtxRelease_v2(int device) {
  Session session;
  return CheckDevice(session, device);
}

FLCE_API int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  Session session;
  if (const int error = CheckDevice(session, device)) return error;
  if (flags != nullptr) *flags = 0;
  if (active != nullptr) *active = session->context_active[static_cast<std::size_t>(device)] ? 1 : 0;
  return 0;
}

FLCE_API int cuCtxGetCurrent(void** context) {
  if (context == nullptr) return DriverResult(Status::kInvalidValue);
  *context = ContextOf(CurrentThread().context_device);
  return 0;
}

FLCE_API int cuCtxSetCurrent(void* context) {
  Session session;
  int device = -1;
  if (context != nullptr && !DeviceOfContext(session, context, &device)) return DriverResult(Status::kInvalidContext);
  CurrentThread().context_device = device;
  if (device >= 0) CurrentThread().device = device;
  return 0;
}

FLCE_API int cuCtxPushCurrent_v2(void* context) {
  Session session;
  int device = -1;
  if (!DeviceOfContext(session, context, &device)) return DriverResult(Status::kInvalidContext);
  CurrentThread().context_stack.push_back(CurrentThread().context_device);
  CurrentThread().context_device = device;
  CurrentThread().device = device;
  return 0;
}

FLCE_API int cuCtxPopCurrent_v2(void** context) {
  if (CurrentThread().context_device < 0) return DriverResult(Status::kInvalidContext);
  if (context != nullptr) *context = ContextOf(CurrentThread().context_device);
  int below = -1;
  if (!CurrentThread().context_stack.empty()) {
    below = CurrentThread().context_stack.back();
    CurrentThread().context_stack.pop_back();
  }
  CurrentThread().context_device = below;
  if (below >= 0) CurrentThread().device = below;
  return 0;
}

FLCE_API int cuCtxGetDevice(int* device) {
  if (device == nullptr) return DriverResult(Status::kInvalidValue);
  if (CurrentThread().context_device < 0) return DriverResult(Status::kInvalidContext);
  *device = CurrentThread().context_device;
  return 0;
}

FLCE_API int cuCtxSynchronize() {
  if (CurrentThread().context_device < 0) return DriverResult(Status::kInvalidContext);
  Session session;
  return DriverResult(session.CheckUnsafe());
}

// Limits are of memory that kernels take for their stacks, heaps and output; kernels are not run, so they are only kept.
namespace {
constexpr int kLimits = 3;
thread_local std::size_t limits[kLimits] = {1024, 1 << 20, 8 << 20};
}  // namespace

FLCE_API int cuCtxGetLimit(std::size_t* value, int limit) {
  if (value == nullptr) return DriverResult(Status::kInvalidValue);
  if (limit < 0 || limit >= kLimits) {
    Session session;
    return DriverResult(session.Refuse("cuCtxGetLimit", std::to_string(limit)));
  }
  *value = limits[limit];
  return 0;
}

FLCE_API int cuCtxSetLimit(int limit, std::size_t value) {
  if (limit < 0 || limit >= kLimits) {
    Session session;
    return DriverResult(session.Refuse("cuCtxSetLimit", std::to_string(limit)));
  }
  limits[limit] = value;
  return 0;
}

FLCE_API int cuGetErrorString(int code, const char** text) {
  if (text == nullptr) return DriverResult(Status::kInvalidValue);
  *text = flce::emulator::DriverErrorString(code);
  return DriverResult(*text == nullptr ? Status::kInvalidValue : Status::kSuccess);
}

FLCE_API int cuGetErrorName(int code, const char** name) {
  if (name == nullptr) return DriverResult(Status::kInvalidValue);
  *name = flce::emulator::DriverErrorName(code);
  return DriverResult(*name == nullptr ? Status::kInvalidValue : Status::kSuccess);
}

FLCE_API int cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t, int* result) {
  constexpr int kFound = 0;
  constexpr int kNotFound = 1;
  if (symbol == nullptr || function == nullptr) return DriverResult(Status::kInvalidValue);
  *function = flce::emulator::FindDriverEntryPoint(symbol, version);
  if (*function == nullptr) *function = flce::emulator::RefusingEntryPoint(symbol);
  if (result != nullptr) *result = *function != nullptr ? kFound : kNotFound;
  return DriverResult(*function != nullptr ? Status::kSuccess : Status::kNotFound);
}

FLCE_API int cuGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

// The driver's own log. Nothing is ever logged here, so a callback is taken and never called.
FLCE_API int cuLogsRegisterCallback(void* callback, void*, void** handle) {
  if (callback == nullptr) return DriverResult(Status::kInvalidValue);
  if (handle != nullptr) *handle = callback;
  return 0;
}

FLCE_API int cuLogsUnregisterCallback(void* handle) { return DriverResult(handle == nullptr ? Status::kInvalidValue : Status::kSuccess); }
