#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/provision/data.h"
#include "harness/provision/elf.h"
#include "harness/provision/runner.h"

namespace flce {

/// A library that stands in for one of NVIDIA's, so that the loader finds every name a CUDA build of torch was linked
/// against. Its functions are for the emulated device to shadow; one that is reached says so once on standard error
/// ("[stub] NAME called"), tells `flce_emu_record_unknown` each time when the process has it, and fails.
struct StubLibrary {
  std::string soname;
  int failure = 1;  ///< what its functions return
  std::map<std::string, std::set<std::string>> functions;  ///< version node ("" for none) -> names
  std::map<std::string, std::set<std::string>> objects;    ///< likewise, data

  size_t size() const;
};

/// Changes when the generated code does: part of the identity of a stub folder.
inline constexpr int kStubFormat = 2;

/// The libraries that `scanned` need, that none of `present` (SONAMEs and file names) is, and that a rule knows.
std::vector<StubLibrary> PlanStubs(const std::vector<ElfLibrary>& scanned, const std::set<std::string>& present,
                                   const std::vector<StubRule>& rules);

/// C source and linker version script ("" when nothing is versioned) of a stub.
std::string StubSource(const StubLibrary& library, const std::vector<std::string>& text_results);
std::string StubVersionScript(const StubLibrary& library);

/// Compiles the stubs into `dir` (made if absent). kEnvironment when there is no C compiler or it fails.
Status BuildStubs(const std::vector<StubLibrary>& libraries, const std::vector<std::string>& text_results,
                  const std::string& compiler, const fs::path& dir, ProcessRunner& runner);

/// $CC, else the first of cc, gcc, clang in PATH; "" when there is none.
std::string FindCompiler();

/// A folder in which libcuda.so and libcuda.so.1 are links to `driver`: what TRITON_LIBCUDA_PATH wants.
Status MakeLibcudaDirectory(const fs::path& driver, const fs::path& dir);

}  // namespace flce
