#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "harness/emulator/memory.h"
#include "harness/emulator/status.h"

namespace flce::emulator {

/// The driver's virtual memory management (cuMemAddressReserve, cuMemCreate, cuMemMap, ...), on which torch's expandable
/// segments stand. Not synchronised.
class VirtualMemory {
 public:
  static constexpr std::size_t kGranularity = 2 << 20;
  using Handle = std::uint64_t;

  Status Reserve(std::size_t size, std::size_t alignment, std::uintptr_t* address);
  Status FreeReservation(std::uintptr_t address, std::size_t size);
  Status Create(Memory& memory, int device, std::size_t size, Handle* handle);
  Status Release(Memory& memory, Handle handle);
  /// kNotSupported: the handle was mapped before; its bytes stayed where it was mapped.
  Status Map(Memory& memory, std::uintptr_t address, std::size_t size, std::size_t offset, Handle handle);
  Status Unmap(Memory& memory, std::uintptr_t address, std::size_t size);
  /// Lets the device (and here the host) read and write, or only read, mapped addresses; 0 takes access away.
  Status SetAccess(std::uintptr_t address, std::size_t size, unsigned flags);
  Status DeviceOf(Handle handle, int* device) const;
  /// The handle mapped at `address`, with one more reference.
  Status Retain(std::uintptr_t address, Handle* handle);

 private:
  struct Physical {
    std::size_t size;
    int device;
    int references;
    bool was_mapped;
    int mappings;
  };
  struct Mapping {
    std::size_t size;
    Handle handle;
  };
  bool Reserved(std::uintptr_t address, std::size_t size) const;
  void Drop(Memory& memory, Handle handle);

  std::map<std::uintptr_t, std::size_t> reservations_;
  std::unordered_map<Handle, Physical> physical_;
  std::map<std::uintptr_t, Mapping> mappings_;
  Handle next_ = 0x1000;
};

}  // namespace flce::emulator
