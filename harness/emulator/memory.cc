#include "harness/emulator/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace flce::emulator {
namespace {

constexpr std::size_t kPage = 4096;
// The driver hands out physical memory in chunks of this size; small allocations share one.
constexpr std::size_t kChunk = 2 << 20;
constexpr std::size_t kSmall = 1 << 20;
constexpr std::size_t kSmallAlignment = 512;
// From this size on, clearing by a fresh mapping is cheaper than writing zeros.
constexpr std::size_t kRemap = 256 << 10;
// The block that a large fill with another value than zero maps again and again instead of writing.
constexpr std::size_t kPatternBlock = 32 << 20;

std::size_t RoundUp(std::size_t size, std::size_t step) { return (size + step - 1) / step * step; }

std::size_t ChargeOf(std::size_t size) { return RoundUp(size, size >= kSmall ? kChunk : kSmallAlignment); }

void* MapFresh(std::size_t size) {
  void* address = mmap(nullptr, RoundUp(size, kPage), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

// Makes [begin, end) read as zero: large pieces by fresh pages, which give the old ones back.
void ClearPages(std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= end) return;
  const std::uintptr_t first = RoundUp(begin, kPage);
  const std::uintptr_t last = end / kPage * kPage;
  if (end - begin < kRemap || last <= first) {
    std::memset(reinterpret_cast<void*>(begin), 0, end - begin);
    return;
  }
  std::memset(reinterpret_cast<void*>(begin), 0, first - begin);
  std::memset(reinterpret_cast<void*>(last), 0, end - last);
  void* fresh = mmap(reinterpret_cast<void*>(first), last - first, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (fresh == MAP_FAILED) std::memset(reinterpret_cast<void*>(first), 0, last - first);
}

bool IsHost(MemoryKind kind) { return kind == MemoryKind::kPinnedHost || kind == MemoryKind::kRegisteredHost; }

}  // namespace

Memory::Memory(int devices, std::uint64_t capacity)
    : devices_(static_cast<std::size_t>(devices)), capacity_(capacity) {}

bool Memory::AnyDeviceMemory() const {
  return std::any_of(devices_.begin(), devices_.end(), [](const Device& device) { return device.used != 0; });
}

bool Memory::Reconfigure(int devices, std::uint64_t capacity) {
  if (AnyDeviceMemory()) return false;
  devices_.assign(static_cast<std::size_t>(devices), Device());
  capacity_ = capacity;
  return true;
}

Status Memory::Charge(int device, std::size_t size) {
  Device& card = devices_[static_cast<std::size_t>(device)];
  if (size > capacity_ || card.used > capacity_ - size) {
    out_of_memory_ = OutOfMemory{size, capacity_, card.used, device};
    ++out_of_memory_count_;
    return Status::kOutOfMemory;
  }
  card.used += size;
  card.peak = std::max(card.peak, card.used);
  return Status::kSuccess;
}

void Memory::Discharge(int device, std::size_t size) { devices_[static_cast<std::size_t>(device)].used -= size; }

Status Memory::Allocate(int device, std::size_t size, MemoryKind kind, bool from_pool, void** address) {
  *address = nullptr;
  if (size == 0) return Status::kSuccess;
  if (size > capacity_) {
    out_of_memory_ = OutOfMemory{size, capacity_, used(device), device};
    ++out_of_memory_count_;
    return Status::kOutOfMemory;
  }
  const std::size_t charged = ChargeOf(size);
  if (const Status status = Charge(device, charged); status != Status::kSuccess) {
    out_of_memory_->requested_bytes = size;
    return status;
  }
  void* mapped = MapFresh(size);
  if (mapped == nullptr) {
    Discharge(device, charged);
    return Status::kOutOfMemory;
  }
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(mapped);
  ranges_.emplace(begin, MemoryRange{begin, size, charged, kind, device, from_pool});
  // The host may write managed memory without a call, so all of it counts as written.
  if (kind == MemoryKind::kManaged) content_.MarkWritten(begin, begin + size);
  *address = mapped;
  return Status::kSuccess;
}

Status Memory::AllocateHost(std::size_t size, void** address) {
  *address = nullptr;
  if (size == 0) return Status::kSuccess;
  void* mapped = MapFresh(size);
  if (mapped == nullptr) return Status::kOutOfMemory;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(mapped);
  ranges_.emplace(begin, MemoryRange{begin, size, 0, MemoryKind::kPinnedHost, 0, false});
  *address = mapped;
  return Status::kSuccess;
}

Status Memory::AllocateVariable(int device, std::size_t size, void** address) {
  *address = size == 0 ? nullptr : MapFresh(size);
  if (*address == nullptr) return Status::kOutOfMemory;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(*address);
  ranges_.emplace(begin, MemoryRange{begin, size, 0, MemoryKind::kVariable, device, false});
  return Status::kSuccess;
}

Status Memory::RegisterHost(void* address, std::size_t size) {
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(address);
  if (begin == 0 || size == 0) return Status::kInvalidValue;
  const auto next = ranges_.lower_bound(begin);
  const bool overlaps_next = next != ranges_.end() && next->first < begin + size;
  if (overlaps_next || Find(address) != nullptr) return Status::kHostMemoryAlreadyRegistered;
  ranges_.emplace(begin, MemoryRange{begin, size, 0, MemoryKind::kRegisteredHost, 0, false});
  return Status::kSuccess;
}

Status Memory::UnregisterHost(void* address) {
  const auto it = ranges_.find(reinterpret_cast<std::uintptr_t>(address));
  if (it == ranges_.end() || it->second.kind != MemoryKind::kRegisteredHost) return Status::kHostMemoryNotRegistered;
  ranges_.erase(it);
  return Status::kSuccess;
}

Status Memory::Free(void* address) {
  if (address == nullptr) return Status::kSuccess;
  const auto it = ranges_.find(reinterpret_cast<std::uintptr_t>(address));
  if (it == ranges_.end() || (it->second.kind != MemoryKind::kDevice && it->second.kind != MemoryKind::kManaged)) {
    return Status::kInvalidValue;
  }
  const MemoryRange range = it->second;
  ranges_.erase(it);
  content_.MarkZero(range.begin, range.begin + range.size);
  munmap(address, RoundUp(range.size, kPage));
  Discharge(range.device, range.charged);
  return Status::kSuccess;
}

Status Memory::FreeHost(void* address) {
  if (address == nullptr) return Status::kSuccess;
  const auto it = ranges_.find(reinterpret_cast<std::uintptr_t>(address));
  if (it == ranges_.end() || it->second.kind != MemoryKind::kPinnedHost) return Status::kInvalidValue;
  munmap(address, RoundUp(it->second.size, kPage));
  ranges_.erase(it);
  return Status::kSuccess;
}

void Memory::AddMapped(std::uintptr_t begin, std::size_t size, int device) {
  ranges_.emplace(begin, MemoryRange{begin, size, 0, MemoryKind::kMapped, device, false});
}

void Memory::RemoveMapped(std::uintptr_t begin) {
  const auto it = ranges_.find(begin);
  if (it == ranges_.end()) return;
  content_.MarkZero(begin, begin + it->second.size);
  ranges_.erase(it);
}

const MemoryRange* Memory::Find(const void* address) const {
  const std::uintptr_t wanted = reinterpret_cast<std::uintptr_t>(address);
  auto it = ranges_.upper_bound(wanted);
  if (it == ranges_.begin()) return nullptr;
  --it;
  return wanted < it->first + it->second.size ? &it->second : nullptr;
}

// Whether CUDA may touch [address, address + size) as one piece: host memory it does not know counts as the program's
// own and is fine; a range that begins in an allocation must end in it, unless mapped VMM handles follow one another.
bool Memory::Inside(const void* address, std::size_t size, bool* device) const {
  const MemoryRange* range = Find(address);
  *device = range != nullptr && !IsHost(range->kind);
  if (range == nullptr || IsHost(range->kind)) return true;
  std::uintptr_t position = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t end = position + size;
  while (range != nullptr && range->begin + range->size < end && range->kind == MemoryKind::kMapped) {
    position = range->begin + range->size;
    range = Find(reinterpret_cast<const void*>(position));
  }
  return range != nullptr && !IsHost(range->kind) && end <= range->begin + range->size;
}

void Memory::Zero(std::uintptr_t begin, std::uintptr_t end) {
  for (const ContentMap::Range& range : content_.Written(begin, end)) ClearPages(range.begin, range.end);
  content_.MarkZero(begin, end);
}

// From host memory: pages of zeros are cleared, not written. Inductor moves a large argument to the host and back around
// a benchmark, and what nothing ever wrote must come back as cheaply as it went.
void Memory::CopyIn(void* to, const void* from, std::size_t size) {
  static const char zeros[kPage] = {};
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(to);
  const char* source = static_cast<const char*>(from);
  std::size_t at = 0;
  while (at < size) {
    // A run of pages that are alike: all zero, or none.
    std::size_t end = at;
    bool zero = false;
    while (end < size) {
      const std::size_t step = std::min(kPage - (begin + end) % kPage, size - end);
      const bool this_zero = size >= kRemap && std::memcmp(source + end, zeros, step) == 0;
      if (end != at && this_zero != zero) break;
      zero = this_zero;
      end += step;
    }
    if (zero) {
      Zero(begin + at, begin + end);
    } else {
      std::memcpy(reinterpret_cast<void*>(begin + at), source + at, end - at);
      content_.MarkWritten(begin + at, begin + end);
    }
    at = end;
  }
}

// To pinned host memory, which is a mapping of this class: what the device never wrote becomes fresh pages there.
void Memory::CopyOut(void* to, const void* from, std::size_t size) {
  const std::uintptr_t to_begin = reinterpret_cast<std::uintptr_t>(to);
  const std::uintptr_t from_begin = reinterpret_cast<std::uintptr_t>(from);
  std::uintptr_t zero_from = to_begin;
  for (const ContentMap::Range& range : content_.Written(from_begin, from_begin + size)) {
    const std::uintptr_t at = to_begin + (range.begin - from_begin);
    ClearPages(zero_from, at);
    std::memcpy(reinterpret_cast<void*>(at), reinterpret_cast<const void*>(range.begin), range.end - range.begin);
    zero_from = at + (range.end - range.begin);
  }
  ClearPages(zero_from, to_begin + size);
}

void Memory::Repeat(std::uintptr_t begin, std::size_t bytes, std::uint32_t pattern, std::size_t width) {
  unsigned char* to = reinterpret_cast<unsigned char*>(begin);
  std::size_t done = std::min(bytes, width);
  std::memcpy(to, &pattern, done);
  while (done < bytes) {  // doubles what is there: every step copies whole patterns
    const std::size_t step = std::min(done, bytes - done);
    std::memcpy(to + done, to, step);
    done += step;
  }
}

Status Memory::Fill(void* to, std::uint32_t pattern, std::size_t width, std::size_t count) {
  const std::size_t bytes = width * count;
  if (bytes == 0) return Status::kSuccess;
  if (reinterpret_cast<std::uintptr_t>(to) % width != 0) return Status::kInvalidValue;
  const MemoryRange* range = Find(to);
  bool device = false;
  if (range == nullptr || !Inside(to, bytes, &device)) return Status::kInvalidValue;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(to);
  const std::uintptr_t end = begin + bytes;
  if (!device) {
    if (end > range->begin + range->size) return Status::kInvalidValue;
    Repeat(begin, bytes, pattern, width);
    return Status::kSuccess;
  }
  if (pattern == 0) {
    Zero(begin, end);
    // A managed range may be written by the host at any time: it stays written.
    if (range->kind == MemoryKind::kManaged) content_.MarkWritten(begin, end);
    return Status::kSuccess;
  }
  content_.MarkWritten(begin, end);
  const std::uintptr_t first = RoundUp(begin, kPage);
  if (bytes < 2 * kPatternBlock) {
    Repeat(begin, bytes, pattern, width);
    return Status::kSuccess;
  }
  // A large fill maps one file of the pattern over and over: it reads right and takes 32 MiB however large it is.
  const int file = memfd_create("flce-fill", MFD_CLOEXEC);
  std::uintptr_t position = first;
  if (file >= 0 && ftruncate(file, kPatternBlock) == 0) {
    void* block = mmap(nullptr, kPatternBlock, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (block != MAP_FAILED) {
      Repeat(reinterpret_cast<std::uintptr_t>(block), kPatternBlock, pattern, width);
      munmap(block, kPatternBlock);
      while (position + kPatternBlock <= end &&
             mmap(reinterpret_cast<void*>(position), kPatternBlock, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file, 0) != MAP_FAILED) {
        position += kPatternBlock;
      }
    }
  }
  if (file >= 0) close(file);
  Repeat(begin, first - begin, pattern, width);
  Repeat(position, end - position, pattern, width);
  return Status::kSuccess;
}

Status Memory::Copy(void* to, const void* from, std::size_t size, CopyKind kind) {
  if (size == 0) return Status::kSuccess;
  if (to == nullptr || from == nullptr) return Status::kInvalidValue;
  bool to_device = false;
  bool from_device = false;
  if (!Inside(to, size, &to_device) || !Inside(from, size, &from_device)) return Status::kInvalidValue;
  const MemoryRange* target = Find(to);
  const MemoryRange* source = Find(from);
  const bool to_managed = target != nullptr && target->kind == MemoryKind::kManaged;
  const bool from_managed = source != nullptr && source->kind == MemoryKind::kManaged;
  // Pinned memory is visible to both sides; only memory that CUDA does not know cannot be the device's side.
  const bool wants_to_device = kind == CopyKind::kHostToDevice || kind == CopyKind::kDeviceToDevice;
  const bool wants_from_device = kind == CopyKind::kDeviceToHost || kind == CopyKind::kDeviceToDevice;
  if ((wants_to_device && target == nullptr) || (wants_from_device && source == nullptr)) return Status::kInvalidValue;
  if (kind == CopyKind::kDeviceToHost && to_device && !to_managed) return Status::kInvalidValue;
  if (kind == CopyKind::kHostToDevice && from_device && !from_managed) return Status::kInvalidValue;
  if (kind == CopyKind::kHostToHost && ((to_device && !to_managed) || (from_device && !from_managed))) {
    return Status::kInvalidValue;
  }
  if (!to_device || !from_device || to_managed || from_managed) {
    if (to_device && !to_managed && !from_device) {
      CopyIn(to, from, size);
    } else if (from_device && !from_managed && target != nullptr && target->kind == MemoryKind::kPinnedHost &&
               reinterpret_cast<std::uintptr_t>(to) + size <= target->begin + target->size) {
      CopyOut(to, from, size);
    } else {
      std::memmove(to, from, size);
      if (to_device) {
        const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(to);
        content_.MarkWritten(begin, begin + size);
      }
    }
    return Status::kSuccess;
  }
  const std::uintptr_t to_begin = reinterpret_cast<std::uintptr_t>(to);
  const std::uintptr_t from_begin = reinterpret_cast<std::uintptr_t>(from);
  const std::vector<ContentMap::Range> written = content_.Written(from_begin, from_begin + size);
  if (to_begin == from_begin) return Status::kSuccess;
  if (to_begin < from_begin + size && from_begin < to_begin + size) {
    // The pieces are taken aside first: clearing and writing the target would reach into the source.
    std::vector<std::vector<char>> pieces;
    for (const ContentMap::Range& range : written) {
      pieces.emplace_back(reinterpret_cast<const char*>(range.begin), reinterpret_cast<const char*>(range.end));
    }
    Zero(to_begin, to_begin + size);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::uintptr_t at = to_begin + (written[i].begin - from_begin);
      std::memcpy(reinterpret_cast<void*>(at), pieces[i].data(), pieces[i].size());
      content_.MarkWritten(at, at + pieces[i].size());
    }
    return Status::kSuccess;
  }
  std::uintptr_t zero_from = to_begin;
  for (const ContentMap::Range& range : written) {
    const std::uintptr_t at = to_begin + (range.begin - from_begin);
    Zero(zero_from, at);
    std::memcpy(reinterpret_cast<void*>(at), reinterpret_cast<const void*>(range.begin), range.end - range.begin);
    content_.MarkWritten(at, at + (range.end - range.begin));
    zero_from = at + (range.end - range.begin);
  }
  Zero(zero_from, to_begin + size);
  return Status::kSuccess;
}

void Memory::ResetPeaks() {
  for (Device& device : devices_) device.peak = device.used;
  out_of_memory_.reset();
  out_of_memory_count_ = 0;
}

}  // namespace flce::emulator
