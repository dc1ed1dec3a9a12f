#pragma once

#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"

namespace flce {

/// A dynamic symbol that a library takes from another.
struct ElfImport {
  std::string name;
  std::string library;  ///< SONAME its version names, "" when unversioned
  std::string version;  ///< version node, "" when unversioned
  bool is_object = false;

  auto operator<=>(const ElfImport&) const = default;
};

/// The dynamic interface of a shared library.
struct ElfLibrary {
  std::string soname;  ///< "" when it has none
  std::vector<std::string> needed;
  std::vector<ElfImport> imports;
  std::vector<std::string> exports;
  /// Version nodes it demands of each library, used by an import or not.
  std::vector<std::pair<std::string, std::string>> needed_versions;
};

/// Reads the section tables of a 64-bit little-endian ELF file; kData when it is none or is cut short.
Result<ElfLibrary> ReadElf(const fs::path& file);

}  // namespace flce
