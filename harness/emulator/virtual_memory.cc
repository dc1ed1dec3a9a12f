#include "harness/emulator/virtual_memory.h"

#include <sys/mman.h>

#include <iterator>

namespace flce::emulator {
namespace {

bool Aligned(std::size_t value) { return value % VirtualMemory::kGranularity == 0; }

void* MapNothing(std::uintptr_t address, std::size_t size, int flags) {
  return mmap(reinterpret_cast<void*>(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags,
              -1, 0);
}

}  // namespace

Status VirtualMemory::Reserve(std::size_t size, std::size_t alignment, std::uintptr_t* address) {
  if (size == 0 || !Aligned(size)) return Status::kInvalidValue;
  if ((alignment & (alignment - 1)) != 0) return Status::kInvalidValue;
  if (alignment < kGranularity) alignment = kGranularity;
  // Asks for more than needed and cuts the rest off, so that the start is aligned.
  void* raw = MapNothing(0, size + alignment, 0);
  if (raw == MAP_FAILED) return Status::kOutOfMemory;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t start = (begin + alignment - 1) / alignment * alignment;
  if (start > begin) munmap(raw, start - begin);
  const std::uintptr_t tail = start + size;
  if (begin + size + alignment > tail) munmap(reinterpret_cast<void*>(tail), begin + size + alignment - tail);
  reservations_.emplace(start, size);
  *address = start;
  return Status::kSuccess;
}

Status VirtualMemory::FreeReservation(std::uintptr_t address, std::size_t size) {
  const auto it = reservations_.find(address);
  if (it == reservations_.end() || it->second != size) return Status::kInvalidValue;
  const auto mapping = mappings_.lower_bound(address);
  if (mapping != mappings_.end() && mapping->first < address + size) return Status::kInvalidValue;
  munmap(reinterpret_cast<void*>(address), size);
  reservations_.erase(it);
  return Status::kSuccess;
}

Status VirtualMemory::Create(Memory& memory, int device, std::size_t size, Handle* handle) {
  if (size == 0 || !Aligned(size)) return Status::kInvalidValue;
  if (const Status status = memory.Charge(device, size); status != Status::kSuccess) return status;
  *handle = next_++;
  physical_.emplace(*handle, Physical{size, device, 1, false, 0});
  return Status::kSuccess;
}

void VirtualMemory::Drop(Memory& memory, Handle handle) {
  const auto it = physical_.find(handle);
  if (it->second.references > 0 || it->second.mappings > 0) return;
  memory.Discharge(it->second.device, it->second.size);
  physical_.erase(it);
}

Status VirtualMemory::Release(Memory& memory, Handle handle) {
  const auto it = physical_.find(handle);
  if (it == physical_.end() || it->second.references == 0) return Status::kInvalidValue;
  --it->second.references;
  Drop(memory, handle);
  return Status::kSuccess;
}

bool VirtualMemory::Reserved(std::uintptr_t address, std::size_t size) const {
  auto it = reservations_.upper_bound(address);
  if (it == reservations_.begin()) return false;
  --it;
  return address + size <= it->first + it->second;
}

Status VirtualMemory::Map(Memory& memory, std::uintptr_t address, std::size_t size, std::size_t offset,
                          Handle handle) {
  const auto it = physical_.find(handle);
  if (it == physical_.end() || size == 0 || !Aligned(size) || !Aligned(address) || offset != 0 ||
      size != it->second.size || !Reserved(address, size)) {
    return Status::kInvalidValue;
  }
  const auto next = mappings_.lower_bound(address);
  const bool taken = (next != mappings_.end() && next->first < address + size) ||
                     (next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.size > address);
  if (taken) return Status::kInvalidValue;
  if (it->second.was_mapped) return Status::kNotSupported;
  it->second.was_mapped = true;
  ++it->second.mappings;
  mappings_.emplace(address, Mapping{size, handle});
  memory.AddMapped(address, size, it->second.device);
  return Status::kSuccess;
}

Status VirtualMemory::Unmap(Memory& memory, std::uintptr_t address, std::size_t size) {
  const std::uintptr_t end = address + size;
  std::uintptr_t covered = address;
  for (auto it = mappings_.find(address); it != mappings_.end() && it->first == covered && covered < end; ++it) {
    covered += it->second.size;
  }
  if (size == 0 || covered != end) return Status::kInvalidValue;
  for (auto it = mappings_.find(address); it != mappings_.end() && it->first < end; it = mappings_.erase(it)) {
    memory.RemoveMapped(it->first);
    MapNothing(it->first, it->second.size, MAP_FIXED);
    --physical_.at(it->second.handle).mappings;
    Drop(memory, it->second.handle);
  }
  return Status::kSuccess;
}

Status VirtualMemory::SetAccess(std::uintptr_t address, std::size_t size, unsigned flags) {
  const std::uintptr_t end = address + size;
  std::uintptr_t covered = address;
  for (auto it = mappings_.find(address); it != mappings_.end() && it->first == covered && covered < end; ++it) {
    covered += it->second.size;
  }
  if (size == 0 || covered != end) return Status::kInvalidValue;
  constexpr unsigned kRead = 1;
  constexpr unsigned kReadWrite = 3;
  if (flags != 0 && flags != kRead && flags != kReadWrite) return Status::kInvalidValue;
  const int protection = flags == 0 ? PROT_NONE : flags == kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  return mprotect(reinterpret_cast<void*>(address), size, protection) == 0 ? Status::kSuccess
                                                                           : Status::kOutOfMemory;
}

Status VirtualMemory::DeviceOf(Handle handle, int* device) const {
  const auto it = physical_.find(handle);
  if (it == physical_.end()) return Status::kInvalidValue;
  *device = it->second.device;
  return Status::kSuccess;
}

Status VirtualMemory::Retain(std::uintptr_t address, Handle* handle) {
  auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin()) return Status::kInvalidValue;
  --it;
  if (address >= it->first + it->second.size) return Status::kInvalidValue;
  *handle = it->second.handle;
  ++physical_.at(*handle).references;
  return Status::kSuccess;
}

}  // namespace flce::emulator
