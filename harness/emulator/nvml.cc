// The part of NVML that torch asks: how many devices, which, and who uses them. The library is found under the name
// libnvidia-ml.so.1 when a link of that name to this library stands on the library path; torch's expandable segments
// do not check whether it was found.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "harness/emulator/api.h"
#include "harness/emulator/device_info.h"

using flce::emulator::Session;

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;

// A handle is the device's number, moved away from null.
void* HandleOf(int device) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(device) + 1); }

bool DeviceOf(Session& session, const void* handle, int* device) {
  *device = static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
  return session->ValidDevice(*device);
}

int Refuse(const char* api) {
  Session session;
  session.Refuse(api);
  return kNotSupported;
}

}  // namespace

FLCE_API int nvmlInit_v2() { return kSuccess; }

FLCE_API int nvmlInit() { return kSuccess; }

FLCE_API int nvmlShutdown() { return kSuccess; }

FLCE_API const char* nvmlErrorString(int code) {
  switch (code) {
    case kSuccess:
      return "Success";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case kNotFound:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    default:
      return "Unknown Error";
  }
}

FLCE_API int nvmlDeviceGetCount_v2(unsigned* count) {
  if (count == nullptr) return kInvalidArgument;
  Session session;
  *count = static_cast<unsigned>(session->profile.count);
  return kSuccess;
}

FLCE_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  Session session;
  if (handle == nullptr || !session->ValidDevice(static_cast<int>(index))) return kInvalidArgument;
  *handle = HandleOf(static_cast<int>(index));
  return kSuccess;
}

FLCE_API int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle) {
  if (text == nullptr || handle == nullptr) return kInvalidArgument;
  unsigned domain = 0;
  unsigned bus = 0;
  if (std::sscanf(text, "%x:%x:", &domain, &bus) != 2) return kInvalidArgument;
  Session session;
  const int device = static_cast<int>(bus) - 1;
  if (domain != 0 || !session->ValidDevice(device)) return kNotFound;
  *handle = HandleOf(device);
  return kSuccess;
}

FLCE_API int nvmlDeviceGetUUID(void* handle, char* text, unsigned length) {
  Session session;
  int device = 0;
  if (text == nullptr || !DeviceOf(session, handle, &device)) return kInvalidArgument;
  unsigned char uuid[16];
  flce::emulator::FillUuid(device, uuid);
  char full[64];
  int at = std::snprintf(full, sizeof full, "GPU-");
  for (int i = 0; i < 16; ++i) {
    const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    at += std::snprintf(full + at, sizeof full - static_cast<std::size_t>(at), "%s%02x", dash ? "-" : "", uuid[i]);
  }
  if (length <= static_cast<unsigned>(at)) return kInsufficientSize;
  std::memcpy(text, full, static_cast<std::size_t>(at) + 1);
  return kSuccess;
}

FLCE_API int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (version == nullptr) return kInvalidArgument;
  Session session;
  *version = session->profile.driver;
  return kSuccess;
}

FLCE_API int nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

FLCE_API int nvmlDeviceGetMemoryInfo(void* handle, unsigned long long* memory) {
  Session session;
  int device = 0;
  if (memory == nullptr || !DeviceOf(session, handle, &device)) return kInvalidArgument;
  memory[0] = session->memory.capacity();
  memory[2] = session->memory.used(device);
  memory[1] = memory[0] - memory[2];
  return kSuccess;
}

// The device is this process's alone.
FLCE_API int nvmlDeviceGetComputeRunningProcesses(void* handle, unsigned* count, void*) {
  Session session;
  int device = 0;
  if (count == nullptr || !DeviceOf(session, handle, &device)) return kInvalidArgument;
  *count = 0;
  return kSuccess;
}

FLCE_API int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, void* infos) {
  return nvmlDeviceGetComputeRunningProcesses(handle, count, infos);
}

// There is no NVLink between the emulated cards.
FLCE_API int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) {
  return Refuse("nvmlDeviceGetNvLinkRemoteDeviceType");
}

FLCE_API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) {
  return Refuse("nvmlDeviceGetNvLinkRemotePciInfo_v2");
}

// The emulated cards belong to no fabric, like every PCIe card. The caller has set the version of the structure.
FLCE_API int nvmlDeviceGetGpuFabricInfoV(void* handle, void* info) {
  struct FabricInfo {
    unsigned version;
    unsigned char cluster_uuid[16];
    int status;
    unsigned clique;
    unsigned char state;  ///< 0: not supported
  };
  static_assert(offsetof(FabricInfo, state) == 28);
  Session session;
  int device = 0;
  if (info == nullptr || !DeviceOf(session, handle, &device)) return kInvalidArgument;
  FabricInfo* fabric = static_cast<FabricInfo*>(info);
  std::memset(fabric->cluster_uuid, 0, sizeof fabric->cluster_uuid);
  fabric->status = kSuccess;
  fabric->clique = 0;
  fabric->state = 0;
  return kSuccess;
}
