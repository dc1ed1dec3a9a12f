// Driver API: allocation, copies, fills, pointers, virtual memory management.
#include <cstring>

#include "harness/emulator/abi_structs.h"
#include "harness/emulator/api.h"

using flce::emulator::CopyKind;
using flce::emulator::CopyWork;
using flce::emulator::CurrentThread;
using flce::emulator::DriverResult;
using flce::emulator::FillWork;
using flce::emulator::MemAccessDesc;
using flce::emulator::MemAllocationProp;
using flce::emulator::MemoryKind;
using flce::emulator::MemoryRange;
using flce::emulator::Session;
using flce::emulator::Status;

namespace {

using DevicePointer = std::uint64_t;

void* Pointer(DevicePointer address) { return reinterpret_cast<void*>(address); }

int Copy(void* to, const void* from, std::size_t size, CopyKind kind, const void* stream) {
  if (size == 0) return 0;
  Session session;
  return DriverResult(session.Submit(stream, CopyWork{to, from, 0, 0, size, 1, kind}));
}

int Fill(DevicePointer to, std::uint32_t pattern, std::size_t width, std::size_t count, const void* stream) {
  Session session;
  return DriverResult(session.Submit(stream, FillWork{Pointer(to), pattern, width, count}));
}

constexpr int kDeviceLocation = 1;

}  // namespace

FLCE_API int cuMemAlloc_v2(DevicePointer* address, std::size_t size) {
  if (address == nullptr || size == 0) return DriverResult(Status::kInvalidValue);
  if (CurrentThread().context_device < 0) return DriverResult(Status::kInvalidContext);
  Session session;
  if (const Status status = session.CheckUnsafe(); status != Status::kSuccess) return DriverResult(status);
  void* allocated = nullptr;
  const Status status = session->memory.Allocate(CurrentThread().context_device, size, MemoryKind::kDevice, false,
                                                 &allocated);
  *address = reinterpret_cast<DevicePointer>(allocated);
  return DriverResult(status);
}

FLCE_API int cuMemFree_v2(DevicePointer address) {
  Session session;
  if (const Status status = session.CheckUnsafe(); status != Status::kSuccess) return DriverResult(status);
  return DriverResult(session->memory.Free(Pointer(address)));
}

FLCE_API int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  if (free_bytes == nullptr || total == nullptr) return DriverResult(Status::kInvalidValue);
  if (CurrentThread().context_device < 0) return DriverResult(Status::kInvalidContext);
  Session session;
  *total = session->memory.capacity();
  *free_bytes = *total - session->memory.used(CurrentThread().context_device);
  return 0;
}

FLCE_API int cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t size) {
  return Copy(Pointer(to), from, size, CopyKind::kHostToDevice, nullptr);
}

FLCE_API int cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t size) {
  return Copy(to, Pointer(from), size, CopyKind::kDeviceToHost, nullptr);
}

FLCE_API int cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, std::size_t size) {
  return Copy(Pointer(to), Pointer(from), size, CopyKind::kDeviceToDevice, nullptr);
}

FLCE_API int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t size, void* stream) {
  return Copy(Pointer(to), from, size, CopyKind::kHostToDevice, stream);
}

FLCE_API int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t size, void* stream) {
  return Copy(to, Pointer(from), size, CopyKind::kDeviceToHost, stream);
}

FLCE_API int cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t size, void* stream) {
  return Copy(Pointer(to), Pointer(from), size, CopyKind::kDeviceToDevice, stream);
}

FLCE_API int cuMemsetD8_v2(DevicePointer to, unsigned char value, std::size_t count) {
  return Fill(to, value, 1, count, nullptr);
}

FLCE_API int cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, void* stream) {
  return Fill(to, value, 1, count, stream);
}

FLCE_API int cuMemsetD32_v2(DevicePointer to, unsigned value, std::size_t count) {
  return Fill(to, value, 4, count, nullptr);
}

FLCE_API int cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, void* stream) {
  return Fill(to, value, 4, count, stream);
}

FLCE_API int cuMemGetAddressRange_v2(DevicePointer* base, std::size_t* size, DevicePointer address) {
  Session session;
  const MemoryRange* range = session->memory.Find(Pointer(address));
  if (range == nullptr) return DriverResult(Status::kNotFound);
  if (base != nullptr) *base = range->begin;
  if (size != nullptr) *size = range->size;
  return 0;
}

FLCE_API int cuPointerGetAttribute(void* data, int attribute, DevicePointer address) {
  if (data == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  const MemoryRange* range = session->memory.Find(Pointer(address));
  // Like the driver: memory that CUDA does not know has no attributes.
  if (range == nullptr) return DriverResult(Status::kInvalidValue);
  const bool host = range->kind == MemoryKind::kPinnedHost || range->kind == MemoryKind::kRegisteredHost;
  const auto give = [data](const auto& value) {
    std::memcpy(data, &value, sizeof value);
    return 0;
  };
  switch (attribute) {
    case 1:  // context: the same handle as driver_device.cc gives
      return give(static_cast<std::uint64_t>(0xc000 + range->device));
    case 2:  // memory type
      return give(host ? 1U : 2U);
    case 3:  // device pointer
      return give(address);
    case 4:  // host pointer
      if (!host && range->kind != MemoryKind::kManaged) {
        return DriverResult(Status::kInvalidValue);
      }
      return give(address);
    case 7:  // buffer id
      return give(static_cast<std::uint64_t>(range->begin));
    case 8:  // managed
      return give(range->kind == MemoryKind::kManaged ? 1U : 0U);
    case 9:  // device ordinal
      return give(range->device);
    case 11:  // start
      return give(static_cast<std::uint64_t>(range->begin));
    case 12:  // size
      return give(static_cast<std::uint64_t>(range->size));
    case 13:  // mapped
      return give(1U);
    default:
      return DriverResult(session.Refuse("cuPointerGetAttribute", std::to_string(attribute)));
  }
}

FLCE_API int cuPointerGetAttributes(unsigned count, const int* attributes, void** data, DevicePointer address) {
  if (attributes == nullptr || data == nullptr || count == 0) return DriverResult(Status::kInvalidValue);
  for (unsigned i = 0; i < count; ++i) {
    // Unknown memory gives zeros here where the single query fails.
    if (cuPointerGetAttribute(data[i], attributes[i], address) != 0 && data[i] != nullptr) {
      const bool wide = attributes[i] == 1 || attributes[i] == 3 || attributes[i] == 4 || attributes[i] == 7 ||
                        attributes[i] == 11 || attributes[i] == 12;
      std::memset(data[i], 0, wide ? 8 : 4);
    }
  }
  return 0;
}

FLCE_API int cuMemAddressReserve(DevicePointer* address, std::size_t size, std::size_t alignment, DevicePointer,
                                 std::uint64_t) {
  if (address == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  std::uintptr_t reserved = 0;
  const Status status = session->virtual_memory.Reserve(size, alignment, &reserved);
  *address = reserved;
  return DriverResult(status);
}

FLCE_API int cuMemAddressFree(DevicePointer address, std::size_t size) {
  Session session;
  return DriverResult(session->virtual_memory.FreeReservation(address, size));
}

FLCE_API int cuMemCreate(std::uint64_t* handle, std::size_t size, const MemAllocationProp* properties,
                         std::uint64_t flags) {
  if (handle == nullptr || properties == nullptr || flags != 0) return DriverResult(Status::kInvalidValue);
  Session session;
  if (properties->location.type != kDeviceLocation) {
    return DriverResult(session.Refuse("cuMemCreate", "location " + std::to_string(properties->location.type)));
  }
  if (properties->handle_types > 1) {
    return DriverResult(session.Refuse("cuMemCreate", "handle type " + std::to_string(properties->handle_types)));
  }
  if (!session->ValidDevice(properties->location.id)) return DriverResult(Status::kInvalidDevice);
  return DriverResult(session->virtual_memory.Create(session->memory, properties->location.id, size, handle));
}

FLCE_API int cuMemRelease(std::uint64_t handle) {
  Session session;
  return DriverResult(session->virtual_memory.Release(session->memory, handle));
}

FLCE_API int cuMemMap(DevicePointer address, std::size_t size, std::size_t offset, std::uint64_t handle,
                      std::uint64_t flags) {
  if (flags != 0) return DriverResult(Status::kInvalidValue);
  Session session;
  const Status status = session->virtual_memory.Map(session->memory, address, size, offset, handle);
  if (status == Status::kNotSupported) return DriverResult(session.Refuse("cuMemMap", "a handle mapped twice"));
  return DriverResult(status);
}

FLCE_API int cuMemUnmap(DevicePointer address, std::size_t size) {
  Session session;
  return DriverResult(session->virtual_memory.Unmap(session->memory, address, size));
}

FLCE_API int cuMemSetAccess(DevicePointer address, std::size_t size, const MemAccessDesc* list, std::size_t count) {
  if (list == nullptr || count == 0) return DriverResult(Status::kInvalidValue);
  Session session;
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].location.type != kDeviceLocation || !session->ValidDevice(list[i].location.id)) {
      return DriverResult(session.Refuse("cuMemSetAccess", "location " + std::to_string(list[i].location.type)));
    }
    const Status status =
        session->virtual_memory.SetAccess(address, size, static_cast<unsigned>(list[i].flags));
    if (status != Status::kSuccess) return DriverResult(status);
  }
  return 0;
}

FLCE_API int cuMemGetAllocationGranularity(std::size_t* granularity, const MemAllocationProp*, int) {
  if (granularity == nullptr) return DriverResult(Status::kInvalidValue);
  *granularity = flce::emulator::VirtualMemory::kGranularity;
  return 0;
}

FLCE_API int cuMemGetAllocationPropertiesFromHandle(MemAllocationProp* properties, std::uint64_t handle) {
  if (properties == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  int device = 0;
  const Status status = session->virtual_memory.DeviceOf(handle, &device);
  if (status != Status::kSuccess) return DriverResult(status);
  *properties = MemAllocationProp();
  properties->type = 1;
  properties->location = {kDeviceLocation, device};
  return 0;
}

FLCE_API int cuMemRetainAllocationHandle(std::uint64_t* handle, void* address) {
  if (handle == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  return DriverResult(session->virtual_memory.Retain(reinterpret_cast<std::uintptr_t>(address), handle));
}
