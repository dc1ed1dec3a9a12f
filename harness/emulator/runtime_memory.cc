// Runtime API: allocation, copies, fills, pinned memory, memory pools.
#include <algorithm>
#include <cstring>

#include "harness/emulator/abi_structs.h"
#include "harness/emulator/api.h"

using flce::emulator::CopyKind;
using flce::emulator::CopyWork;
using flce::emulator::CurrentThread;
using flce::emulator::FillWork;
using flce::emulator::MemAccessDesc;
using flce::emulator::MemoryKind;
using flce::emulator::MemoryRange;
using flce::emulator::PointerAttributes;
using flce::emulator::RuntimeResult;
using flce::emulator::Session;
using flce::emulator::Status;
using flce::emulator::TraceEvent;

namespace {

Status Allocate(Session& session, void** address, std::size_t size, MemoryKind kind, bool pool) {
  if (address == nullptr) return Status::kInvalidValue;
  const int device = CurrentThread().device;
  if (!session->ValidDevice(device)) return Status::kNoDevice;
  if (const Status status = session.CheckUnsafe(); status != Status::kSuccess) return status;
  session.UseContext(device);
  const Status status = session->memory.Allocate(device, size, kind, pool, address);
  if (status == Status::kSuccess) session->log.Trace(TraceEvent::Kind::kAllocate, "allocate", 0, device, size);
  return status;
}

Status Free(Session& session, void* address) {
  if (const Status status = session.CheckUnsafe(); status != Status::kSuccess) return status;
  const MemoryRange* range = session->memory.Find(address);
  const std::size_t size = range == nullptr ? 0 : range->size;
  const Status status = session->memory.Free(address);
  if (status == Status::kSuccess && size != 0) {
    session->log.Trace(TraceEvent::Kind::kFree, "free", 0, CurrentThread().device, size);
  }
  return status;
}

int SubmitCopy(void* to, std::size_t pitch_to, const void* from, std::size_t pitch_from, std::size_t width,
               std::size_t height, int kind, const void* stream, bool synchronous) {
  if (kind < 0 || kind > 4) return RuntimeResult(Status::kInvalidMemcpyDirection);
  if (width == 0 || height == 0) return 0;
  if (height > 1 && (width > pitch_to || width > pitch_from)) return RuntimeResult(Status::kInvalidPitch);
  Session session;
  if (synchronous) {
    if (const Status status = session.CheckUnsafe(); status != Status::kSuccess) return RuntimeResult(status);
  }
  return RuntimeResult(
      session.Submit(stream, CopyWork{to, from, pitch_to, pitch_from, width, height, static_cast<CopyKind>(kind)}));
}

int SubmitFill(void* to, int value, std::size_t size, const void* stream, bool synchronous) {
  Session session;
  if (synchronous) {
    if (const Status status = session.CheckUnsafe(); status != Status::kSuccess) return RuntimeResult(status);
  }
  return RuntimeResult(session.Submit(stream, FillWork{to, static_cast<unsigned char>(value), 1, size}));
}

// The one memory pool of each device is its default one; a handle is a number that no allocation has.
constexpr std::uintptr_t kPoolBase = 0x9000;
void* PoolOf(int device) { return reinterpret_cast<void*>(kPoolBase + static_cast<std::uintptr_t>(device)); }
bool IsPool(Session& session, const void* pool, int* device) {
  *device = static_cast<int>(reinterpret_cast<std::uintptr_t>(pool) - kPoolBase);
  return reinterpret_cast<std::uintptr_t>(pool) >= kPoolBase && session->ValidDevice(*device);
}

}  // namespace

FLCE_API int cudaMalloc(void** address, std::size_t size) {
  Session session;
  return RuntimeResult(Allocate(session, address, size, MemoryKind::kDevice, false));
}

FLCE_API int cudaMallocManaged(void** address, std::size_t size, unsigned) {
  Session session;
  return RuntimeResult(Allocate(session, address, size, MemoryKind::kManaged, false));
}

FLCE_API int cudaFree(void* address) {
  Session session;
  session.UseContext(CurrentThread().device);  // cudaFree(0) is how programs create the context
  return RuntimeResult(Free(session, address));
}

FLCE_API int cudaMallocAsync(void** address, std::size_t size, void* stream) {
  Session session;
  flce::emulator::Stream* found = session.FindStream(stream);
  if (found == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (found->capture != nullptr) return RuntimeResult(session.Refuse("cudaMallocAsync", "while the stream captures"));
  return RuntimeResult(Allocate(session, address, size, MemoryKind::kDevice, true));
}

FLCE_API int cudaFreeAsync(void* address, void* stream) {
  Session session;
  flce::emulator::Stream* found = session.FindStream(stream);
  if (found == nullptr) return RuntimeResult(Status::kInvalidHandle);
  if (found->capture != nullptr) return RuntimeResult(session.Refuse("cudaFreeAsync", "while the stream captures"));
  return RuntimeResult(Free(session, address));
}

FLCE_API int cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  Session session;
  const int device = CurrentThread().device;
  if (!session->ValidDevice(device)) return RuntimeResult(Status::kNoDevice);
  session.UseContext(device);
  if (free_bytes != nullptr) *free_bytes = session->memory.capacity() - session->memory.used(device);
  if (total != nullptr) *total = session->memory.capacity();
  return 0;
}

FLCE_API int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return RuntimeResult(Status::kInvalidValue);
  constexpr int kUnregistered = 0;
  constexpr int kHost = 1;
  constexpr int kDevice = 2;
  constexpr int kManaged = 3;
  constexpr int kNoDevice = -2;
  Session session;
  void* same = const_cast<void*>(pointer);
  const MemoryRange* range = session->memory.Find(pointer);
  if (range == nullptr) {
    *attributes = {kUnregistered, kNoDevice, nullptr, same};
  } else if (range->kind == MemoryKind::kPinnedHost || range->kind == MemoryKind::kRegisteredHost) {
    *attributes = {kHost, range->device, same, same};
  } else if (range->kind == MemoryKind::kManaged) {
    *attributes = {kManaged, range->device, same, same};
  } else {
    *attributes = {kDevice, range->device, same, nullptr};
  }
  return 0;
}

FLCE_API int cudaMemcpy(void* to, const void* from, std::size_t size, int kind) {
  return SubmitCopy(to, 0, from, 0, size, 1, kind, nullptr, true);
}

FLCE_API int cudaMemcpyAsync(void* to, const void* from, std::size_t size, int kind, void* stream) {
  return SubmitCopy(to, 0, from, 0, size, 1, kind, stream, false);
}

FLCE_API int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t size,
                                 void* stream) {
  {
    Session session;
    if (!session->ValidDevice(to_device) || !session->ValidDevice(from_device)) {
      return RuntimeResult(Status::kInvalidDevice);
    }
  }
  return SubmitCopy(to, 0, from, 0, size, 1, static_cast<int>(CopyKind::kDeviceToDevice), stream, false);
}

FLCE_API int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                               std::size_t width, std::size_t height, int kind, void* stream) {
  return SubmitCopy(to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}

FLCE_API int cudaMemset(void* to, int value, std::size_t size) { return SubmitFill(to, value, size, nullptr, true); }

FLCE_API int cudaMemsetAsync(void* to, int value, std::size_t size, void* stream) {
  return SubmitFill(to, value, size, stream, false);
}

FLCE_API int cudaHostAlloc(void** address, std::size_t size, unsigned) {
  if (address == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  if (const Status status = session.CheckUnsafe(); status != Status::kSuccess) return RuntimeResult(status);
  session.UseContext(CurrentThread().device);
  return RuntimeResult(session->memory.AllocateHost(size, address));
}

FLCE_API int cudaMallocHost(void** address, std::size_t size) { return cudaHostAlloc(address, size, 0); }

FLCE_API int cudaFreeHost(void* address) {
  Session session;
  if (const Status status = session.CheckUnsafe(); status != Status::kSuccess) return RuntimeResult(status);
  return RuntimeResult(session->memory.FreeHost(address));
}

FLCE_API int cudaHostRegister(void* address, std::size_t size, unsigned) {
  Session session;
  session.UseContext(CurrentThread().device);
  return RuntimeResult(session->memory.RegisterHost(address, size));
}

FLCE_API int cudaHostUnregister(void* address) {
  Session session;
  return RuntimeResult(session->memory.UnregisterHost(address));
}

FLCE_API int cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  if (device == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  const MemoryRange* range = session->memory.Find(host);
  if (range == nullptr) return RuntimeResult(Status::kInvalidValue);
  *device = host;
  return 0;
}

FLCE_API int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  if (pool == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  if (!session->ValidDevice(device)) return RuntimeResult(Status::kInvalidDevice);
  *pool = PoolOf(device);
  return 0;
}

FLCE_API int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  Session session;
  int device = 0;
  if (value == nullptr || !IsPool(session, pool, &device)) return RuntimeResult(Status::kInvalidValue);
  std::uint64_t bytes = 0;
  switch (attribute) {
    case 1:  // reuse policies
    case 2:
    case 3: {
      const int allowed = 1;
      std::memcpy(value, &allowed, sizeof allowed);
      return 0;
    }
    case 4:  // release threshold
      break;
    case 5:  // reserved and used are the same: nothing is kept
    case 7:
      bytes = session->memory.used(device);
      break;
    case 6:
    case 8:
      bytes = session->memory.peak(device);
      break;
    default:
      return RuntimeResult(session.Refuse("cudaMemPoolGetAttribute", std::to_string(attribute)));
  }
  std::memcpy(value, &bytes, sizeof bytes);
  return 0;
}

FLCE_API int cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
  Session session;
  int device = 0;
  if (value == nullptr || !IsPool(session, pool, &device)) return RuntimeResult(Status::kInvalidValue);
  if (attribute >= 1 && attribute <= 4) return 0;  // hints: freed memory goes back at once
  if (attribute == 6 || attribute == 8) return 0;  // a high-water mark set back to zero
  return RuntimeResult(session.Refuse("cudaMemPoolSetAttribute", std::to_string(attribute)));
}

FLCE_API int cudaMemPoolSetAccess(void* pool, const MemAccessDesc* list, std::size_t count) {
  Session session;
  int device = 0;
  if (!IsPool(session, pool, &device) || (list == nullptr && count != 0)) return RuntimeResult(Status::kInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].location.id != device) return RuntimeResult(session.Refuse("cudaMemPoolSetAccess", "another device"));
  }
  return 0;
}

FLCE_API int cudaMemPoolTrimTo(void* pool, std::size_t) {
  Session session;
  int device = 0;
  return RuntimeResult(IsPool(session, pool, &device) ? Status::kSuccess : Status::kInvalidValue);
}
