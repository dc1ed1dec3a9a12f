#include "harness/provision/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

namespace flce {
namespace {

/// A file in memory without reading it: libtorch_cuda.so alone is over a gigabyte.
class MappedFile {
 public:
  static Result<MappedFile> Open(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || ::fstat(fd, &info) != 0) {
      const int code = errno;
      if (fd >= 0) ::close(fd);
      return Error{code == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo, "cannot read " + path.string() + ": " + std::strerror(code)};
    }
    MappedFile file;
    file.size_ = static_cast<size_t>(info.st_size);
    if (file.size_ > 0) {
      void* data = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (data != MAP_FAILED) file.data_ = static_cast<const char*>(data);
    }
    ::close(fd);
    if (file.data_ == nullptr) return Error{ErrorKind::kData, path.string() + " is not a shared library (it is empty)"};
    return file;
  }
  MappedFile(MappedFile&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }

  /// The object at an offset, copied (offsets need not be aligned); false when it does not fit.
  template <typename T>
  bool Get(uint64_t offset, T& value) const {
    if (offset > size_ || sizeof(T) > size_ - offset) return false;
    std::memcpy(&value, data_ + offset, sizeof(T));
    return true;
  }
  /// The NUL-terminated text at an offset, "" when it runs over the end.
  std::string Text(uint64_t offset) const {
    if (offset >= size_) return "";
    const void* end = std::memchr(data_ + offset, 0, size_ - offset);
    return end == nullptr ? "" : std::string(data_ + offset, static_cast<const char*>(end));
  }

 private:
  MappedFile() = default;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

struct Sections {
  Elf64_Shdr dynamic{}, symbols{}, versions{}, needs{};
  std::vector<Elf64_Shdr> all;
};

using VersionOf = std::map<uint16_t, std::pair<std::string, std::string>>;  // index -> (library, version node)

bool ReadSections(const MappedFile& file, Sections& sections) {
  Elf64_Ehdr header;
  if (!file.Get(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(Elf64_Shdr))
    return false;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!file.Get(header.e_shoff + uint64_t{i} * sizeof section, section)) return false;
    sections.all.push_back(section);
    if (section.sh_type == SHT_DYNAMIC) sections.dynamic = section;
    if (section.sh_type == SHT_DYNSYM) sections.symbols = section;
    if (section.sh_type == SHT_GNU_versym) sections.versions = section;
    if (section.sh_type == SHT_GNU_verneed) sections.needs = section;
  }
  return sections.symbols.sh_type == SHT_DYNSYM && sections.dynamic.sh_type == SHT_DYNAMIC;
}

uint64_t StringsOf(const Sections& sections, const Elf64_Shdr& section) {
  return section.sh_link < sections.all.size() ? sections.all[section.sh_link].sh_offset : UINT64_MAX;
}

VersionOf ReadNeededVersions(const MappedFile& file, const Sections& sections, ElfLibrary& library) {
  VersionOf versions;
  if (sections.needs.sh_type != SHT_GNU_verneed) return versions;
  const uint64_t strings = StringsOf(sections, sections.needs);
  uint64_t at = sections.needs.sh_offset;
  for (unsigned i = 0; i < sections.needs.sh_info; ++i) {
    Elf64_Verneed need;
    if (!file.Get(at, need)) break;
    const std::string soname = file.Text(strings + need.vn_file);
    uint64_t entry_at = at + need.vn_aux;
    for (unsigned j = 0; j < need.vn_cnt; ++j) {
      Elf64_Vernaux entry;
      if (!file.Get(entry_at, entry)) break;
      const std::string node = file.Text(strings + entry.vna_name);
      versions[entry.vna_other & 0x7fff] = {soname, node};
      library.needed_versions.emplace_back(soname, node);
      if (entry.vna_next == 0) break;
      entry_at += entry.vna_next;
    }
    if (need.vn_next == 0) break;
    at += need.vn_next;
  }
  return versions;
}

}  // namespace

Result<ElfLibrary> ReadElf(const fs::path& path) {
  FLCE_TRY(const MappedFile file, MappedFile::Open(path));
  Sections sections;
  if (!ReadSections(file, sections)) return Error{ErrorKind::kData, path.string() + " is not a 64-bit shared library, or is cut short"};
  ElfLibrary library;
  const uint64_t dynamic_strings = StringsOf(sections, sections.dynamic);
  for (uint64_t offset = 0; offset + sizeof(Elf64_Dyn) <= sections.dynamic.sh_size; offset += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!file.Get(sections.dynamic.sh_offset + offset, entry)) return Error{ErrorKind::kData, path.string() + " is cut short"};
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) library.needed.push_back(file.Text(dynamic_strings + entry.d_un.d_val));
    if (entry.d_tag == DT_SONAME) library.soname = file.Text(dynamic_strings + entry.d_un.d_val);
  }
  const VersionOf versions = ReadNeededVersions(file, sections, library);
  const uint64_t strings = StringsOf(sections, sections.symbols);
  for (uint64_t i = 1; i < sections.symbols.sh_size / sizeof(Elf64_Sym); ++i) {
    Elf64_Sym symbol;
    if (!file.Get(sections.symbols.sh_offset + i * sizeof symbol, symbol)) return Error{ErrorKind::kData, path.string() + " is cut short"};
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
    std::string name = file.Text(strings + symbol.st_name);
    if (symbol.st_shndx != SHN_UNDEF) {
      library.exports.push_back(std::move(name));
      continue;
    }
    ElfImport import{std::move(name), "", "", ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT};
    uint16_t index = 0;
    if (sections.versions.sh_type == SHT_GNU_versym && file.Get(sections.versions.sh_offset + i * sizeof index, index))
      if (const auto found = versions.find(index & 0x7fff); found != versions.end())
        std::tie(import.library, import.version) = found->second;
    library.imports.push_back(std::move(import));
  }
  return library;
}

}  // namespace flce
