#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/emulator/status.h"

namespace flce::emulator {

/// For which devices a piece of code is: sm = 10 * major + minor.
struct ImageArch {
  int sm = 0;
  bool ptx = false;       ///< text for the driver's compiler, not machine code
  bool specific = false;  ///< "a" targets (sm_90a): this capability and no other

  /// Machine code runs within its major version on the same or a later minor one; PTX on any later device.
  bool RunsOn(int capability) const;
};

/// What the machine code of one kernel asks of the device.
struct KernelCode {
  int registers = 0;
  int static_shared_bytes = 0;
  int local_bytes = 0;  ///< stack frame, spills included
};

/// A loaded image: what cuModuleLoadData, cudaLibraryLoadData and __cudaRegisterFatBinary are given.
struct Image {
  std::vector<ImageArch> archs;
  std::map<std::string, KernelCode> kernels;  ///< of machine code that is not compressed; else empty
  bool lists_kernels = false;                 ///< `kernels` is complete: another name does not exist

  bool RunsOn(int capability) const;
};

/// Reads a cubin (ELF), a fat binary or PTX text, told apart by their first bytes. Like the driver, it is given no size
/// and trusts the headers. kInvalidImage: none of them.
Status ReadImage(const void* data, Image& image);

/// The data that a __fatBinC_Wrapper points at, or null when its magic number is wrong.
const void* FatBinaryOf(const void* wrapper);

}  // namespace flce::emulator
