#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/emulator/content_map.h"
#include "harness/emulator/status.h"

namespace flce::emulator {

enum class MemoryKind { kUnregistered, kPinnedHost, kRegisteredHost, kDevice, kManaged, kMapped, kVariable };

/// A range of addresses that CUDA knows: an allocation, pinned or registered host memory, or a mapped VMM handle.
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::size_t size = 0;     ///< as asked for
  std::size_t charged = 0;  ///< what it takes of the card's capacity
  MemoryKind kind = MemoryKind::kUnregistered;
  int device = 0;
  bool from_pool = false;  ///< made by a stream-ordered allocation
};

struct OutOfMemory {
  std::uint64_t requested_bytes = 0;
  std::uint64_t capacity_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  int device = 0;
};

/// The copy directions of cudaMemcpyKind, by its numbers.
enum class CopyKind : int { kHostToHost = 0, kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3, kDefault = 4 };

/// The memory of the emulated devices: host mappings without backing until written, charged against the card's capacity.
/// Not synchronised: the caller holds the emulator's lock.
class Memory {
 public:
  Memory(int devices, std::uint64_t capacity);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Forgets nothing but the limits; only while no device memory is allocated (false otherwise).
  bool Reconfigure(int devices, std::uint64_t capacity);
  bool AnyDeviceMemory() const;

  Status Allocate(int device, std::size_t size, MemoryKind kind, bool from_pool, void** address);
  Status AllocateHost(std::size_t size, void** address);
  /// For a variable of a program's device code: part of its module, so neither charged nor freed on its own.
  Status AllocateVariable(int device, std::size_t size, void** address);
  Status RegisterHost(void* address, std::size_t size);
  Status UnregisterHost(void* address);
  /// Frees what Allocate() returned; another pointer is an invalid value, as on hardware. Null is fine.
  Status Free(void* address);
  Status FreeHost(void* address);

  /// Charges a VMM handle (kOutOfMemory beyond the card), and gives it back.
  Status Charge(int device, std::size_t size);
  void Discharge(int device, std::size_t size);
  /// Adds or removes the addresses at which a VMM handle is mapped.
  void AddMapped(std::uintptr_t begin, std::size_t size, int device);
  void RemoveMapped(std::uintptr_t begin);

  const MemoryRange* Find(const void* address) const;
  Status Copy(void* to, const void* from, std::size_t size, CopyKind kind);
  /// `pattern` holds `width` (1, 2 or 4) bytes, repeated `count` times from `to`.
  Status Fill(void* to, std::uint32_t pattern, std::size_t width, std::size_t count);

  std::uint64_t used(int device) const { return devices_[static_cast<std::size_t>(device)].used; }
  std::uint64_t peak(int device) const { return devices_[static_cast<std::size_t>(device)].peak; }
  std::uint64_t capacity() const { return capacity_; }
  int devices() const { return static_cast<int>(devices_.size()); }
  void ResetPeaks();
  const std::optional<OutOfMemory>& out_of_memory() const { return out_of_memory_; }
  std::uint64_t out_of_memory_count() const { return out_of_memory_count_; }

 private:
  struct Device {
    std::uint64_t used = 0;
    std::uint64_t peak = 0;
  };
  bool Inside(const void* address, std::size_t size, bool* device) const;
  void Zero(std::uintptr_t begin, std::uintptr_t end);
  void CopyIn(void* to, const void* from, std::size_t size);
  void CopyOut(void* to, const void* from, std::size_t size);
  void Repeat(std::uintptr_t begin, std::size_t bytes, std::uint32_t pattern, std::size_t width);

  std::vector<Device> devices_;
  std::uint64_t capacity_;
  std::map<std::uintptr_t, MemoryRange> ranges_;
  ContentMap content_;
  std::optional<OutOfMemory> out_of_memory_;
  std::uint64_t out_of_memory_count_ = 0;
};

}  // namespace flce::emulator
