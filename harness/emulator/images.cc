#include "harness/emulator/images.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace flce::emulator {
namespace {

// Facts about the formats, read off the files that nvcc and ptxas of CUDA 12.4 to 13.2 write.
constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatMagic = 0xba55ed50;
constexpr std::uint16_t kEntryPtx = 1;
constexpr std::uint16_t kEntryElf = 2;
constexpr std::uint64_t kEntrySpecific = 1 << 20;  // sm_90a and the like
constexpr std::uint64_t kEntryPacked = 0x2000 | 0x8000;  // LZ4 or zstd
constexpr std::uint16_t kMachineCuda = 190;
constexpr int kAbiShiftedSm = 8;  // from this ELF ABI version on, the SM stands in the second byte of e_flags

struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void* file_name;
};
static_assert(sizeof(Wrapper) == 24);

struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t payload_bytes;
};
static_assert(sizeof(FatHeader) == 16);

struct FatEntry {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;
  std::uint32_t packed_bytes;
  std::uint32_t options_offset;
  std::uint32_t code_version;
  std::uint32_t sm;
  std::uint32_t name_offset;
  std::uint32_t name_bytes;
  std::uint64_t flags;
};
static_assert(sizeof(FatEntry) == 48);

template <typename T>
T Read(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

ImageArch CubinArch(const Elf64_Ehdr& header) {
  ImageArch arch;
  if (header.e_ident[EI_ABIVERSION] >= kAbiShiftedSm) {
    arch.sm = static_cast<int>((header.e_flags >> 8) & 0xff);
    arch.specific = (header.e_flags & 0x8) != 0;
  } else {
    arch.sm = static_cast<int>(header.e_flags & 0xff);
    arch.specific = (header.e_flags & 0x800) != 0;
  }
  return arch;
}

// .nv.info holds {format, attribute, size} records; those of a whole function begin with its symbol index.
constexpr std::uint8_t kInfoSized = 4;
constexpr std::uint8_t kInfoFrameSize = 0x11;

void ReadFrameSizes(const unsigned char* info, std::size_t size, std::map<std::uint32_t, int>& frames) {
  std::size_t at = 0;
  while (at + 4 <= size) {
    const std::uint8_t format = info[at];
    const std::uint8_t attribute = info[at + 1];
    const std::uint16_t bytes = Read<std::uint16_t>(info + at + 2);
    const std::size_t body = format == kInfoSized ? bytes : 0;
    if (at + 4 + body > size) return;
    if (format == kInfoSized && attribute == kInfoFrameSize && body >= 8) {
      frames[Read<std::uint32_t>(info + at + 4)] = static_cast<int>(Read<std::uint32_t>(info + at + 8));
    }
    at += 4 + body;
  }
}

Status ReadCubin(const unsigned char* data, Image& image) {
  const Elf64_Ehdr header = Read<Elf64_Ehdr>(data);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineCuda ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shstrndx >= header.e_shnum) {
    return Status::kInvalidImage;
  }
  image.archs.push_back(CubinArch(header));
  const auto section = [&](std::size_t i) {
    return Read<Elf64_Shdr>(data + header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const char* names = reinterpret_cast<const char*>(data) + section(header.e_shstrndx).sh_offset;
  constexpr std::string_view kText = ".text.";
  constexpr std::string_view kShared = ".nv.shared.";
  std::map<std::string, int> shared;
  std::map<std::uint32_t, int> frames;
  std::map<std::string, std::uint32_t> symbol_of;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr head = section(i);
    const std::string_view name = names + head.sh_name;
    if (name.starts_with(kText)) {
      // The high byte of a code section's info is the number of registers.
      image.kernels[std::string(name.substr(kText.size()))].registers = static_cast<int>(head.sh_info >> 24);
    } else if (name.starts_with(kShared)) {
      shared[std::string(name.substr(kShared.size()))] = static_cast<int>(head.sh_size);
    } else if (name == ".nv.info") {
      ReadFrameSizes(data + head.sh_offset, head.sh_size, frames);
    } else if (head.sh_type == SHT_SYMTAB && head.sh_link < header.e_shnum) {
      const char* strings = reinterpret_cast<const char*>(data) + section(head.sh_link).sh_offset;
      for (std::size_t s = 0; s < head.sh_size / sizeof(Elf64_Sym); ++s) {
        const Elf64_Sym symbol = Read<Elf64_Sym>(data + head.sh_offset + s * sizeof(Elf64_Sym));
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
          symbol_of[strings + symbol.st_name] = static_cast<std::uint32_t>(s);
        }
      }
    }
  }
  for (auto& [name, code] : image.kernels) {
    if (const auto it = shared.find(name); it != shared.end()) code.static_shared_bytes = it->second;
    if (const auto it = symbol_of.find(name); it != symbol_of.end() && frames.count(it->second) != 0) {
      code.local_bytes = frames[it->second];
    }
  }
  image.lists_kernels = true;
  return Status::kSuccess;
}

Status ReadPtx(const char* text, Image& image) {
  const char* target = std::strstr(text, ".target");
  const char* sm = target == nullptr ? nullptr : std::strstr(target, "sm_");
  if (sm == nullptr) return Status::kInvalidPtx;
  ImageArch arch;
  arch.ptx = true;
  const char* digit = sm + 3;
  while (*digit >= '0' && *digit <= '9' && arch.sm < 1000) arch.sm = 10 * arch.sm + (*digit++ - '0');
  arch.specific = *digit == 'a';
  image.archs.push_back(arch);
  for (const char* entry = std::strstr(text, ".entry"); entry != nullptr; entry = std::strstr(entry, ".entry")) {
    entry += std::strlen(".entry");
    const char* begin = entry + std::strspn(entry, " \t\n\r");
    const std::size_t length = std::strcspn(begin, " \t\n\r(");
    if (length != 0) image.kernels.emplace(std::string(begin, length), KernelCode());
  }
  image.lists_kernels = true;
  return Status::kSuccess;
}

Status ReadFatBinary(const unsigned char* data, Image& image) {
  const FatHeader header = Read<FatHeader>(data);
  const unsigned char* at = data + header.header_bytes;
  const unsigned char* end = at + header.payload_bytes;
  bool all_listed = true;
  while (at + sizeof(FatEntry) <= end) {
    const FatEntry entry = Read<FatEntry>(at);
    if (entry.header_bytes < sizeof(FatEntry)) return Status::kInvalidImage;
    if (entry.kind == kEntryPtx || entry.kind == kEntryElf) {
      ImageArch arch;
      arch.sm = static_cast<int>(entry.sm);
      arch.ptx = entry.kind == kEntryPtx;
      arch.specific = (entry.flags & kEntrySpecific) != 0;
      image.archs.push_back(arch);
      Image inner;
      const unsigned char* payload = at + entry.header_bytes;
      if (entry.kind == kEntryElf && (entry.flags & kEntryPacked) == 0 && ReadImage(payload, inner) == Status::kSuccess) {
        image.kernels.merge(inner.kernels);
      } else {
        all_listed = false;
      }
    }
    at += entry.header_bytes + entry.payload_bytes;
  }
  image.lists_kernels = all_listed && !image.archs.empty();
  return Status::kSuccess;
}

}  // namespace

bool ImageArch::RunsOn(int capability) const {
  if (specific) return sm == capability;
  return ptx ? sm <= capability : sm / 10 == capability / 10 && sm <= capability;
}

bool Image::RunsOn(int capability) const {
  return std::any_of(archs.begin(), archs.end(),
                     [capability](const ImageArch& arch) { return arch.RunsOn(capability); });
}

const void* FatBinaryOf(const void* wrapper) {
  if (wrapper == nullptr) return nullptr;
  const Wrapper head = Read<Wrapper>(static_cast<const unsigned char*>(wrapper));
  return head.magic == kWrapperMagic ? head.data : nullptr;
}

Status ReadImage(const void* data, Image& image) {
  if (data == nullptr) return Status::kInvalidValue;
  const unsigned char* bytes = static_cast<const unsigned char*>(data);
  if (const void* inner = std::memcmp(bytes, "\xb1\x43\x62\x46", 4) == 0 ? FatBinaryOf(data) : nullptr) {
    return ReadImage(inner, image);
  }
  if (std::memcmp(bytes, ELFMAG, SELFMAG) == 0) return ReadCubin(bytes, image);
  if (Read<std::uint32_t>(bytes) == kFatMagic) return ReadFatBinary(bytes, image);
  const char* text = static_cast<const char*>(data);
  const char* start = text + std::strspn(text, " \t\r\n");
  if (std::strncmp(start, ".version", 8) == 0 || std::strncmp(start, "//", 2) == 0) return ReadPtx(text, image);
  return Status::kInvalidImage;
}

}  // namespace flce::emulator
