#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "harness/emulator/images.h"
#include "harness/emulator/profile.h"
#include "harness/emulator/status.h"

namespace flce::emulator {

class Module;

/// A kernel that a program can launch: a CUfunction, cudaKernel_t or the host stub of one.
struct Kernel {
  std::string name;  ///< mangled
  Module* module = nullptr;
  KernelCode code;
  int max_dynamic_shared = 0;  ///< what the program may ask for at launch: raised by the opt-in attribute
  std::size_t log_id = 0;      ///< of the launch log, 0 until first launched
};

/// A registered fat binary, a loaded module or a library.
class Module {
 public:
  /// Reads `data` when first needed: torch registers hundreds of fat binaries and launches from a few.
  explicit Module(const void* data) : data_(data) {}

  const Image& image();
  /// The kernel of that name, made on first use. kNotFound: the image does not have it. `known` is for the kernels of
  /// compressed fat binaries, which the program names itself when it registers them.
  Status Find(const std::string& name, bool known, const DeviceProfile& profile, Kernel** kernel);
  std::size_t kernel_count() { return image().kernels.size(); }

  std::vector<const void*> stubs;      ///< host functions registered for it
  std::vector<const void*> variables;  ///< host variables registered for it

 private:
  const void* data_;
  bool read_ = false;
  Image image_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

struct Symbol {
  std::string name;
  std::size_t size = 0;
  void* address = nullptr;  ///< in device memory, made on first use
};

/// Everything loaded. Not synchronised: the caller holds the emulator's lock.
class Modules {
 public:
  Module* RegisterFatBinary(const void* wrapper);
  void UnregisterFatBinary(Module* module);
  void RegisterFunction(Module* module, const void* stub, const char* name);
  void RegisterVariable(Module* module, const void* host, const char* name, std::size_t size);

  /// Loads a cubin, fat binary or PTX for `profile`'s capability: kNoKernelImage when none of its code runs there.
  Status Load(const void* data, const DeviceProfile& profile, Module** module);
  Status Unload(const void* module);
  bool IsModule(const void* module) const { return modules_.count(module) != 0; }

  Status FindKernel(const void* module, const char* name, const DeviceProfile& profile, Kernel** kernel);
  /// From a host stub or a handle. kInvalidDeviceFunction: neither; kNoKernelImage: no code for this device.
  Status Resolve(const void* function, const DeviceProfile& profile, Kernel** kernel);
  Symbol* FindSymbol(const void* host);

 private:
  struct Stub {
    Module* module;
    const char* name;
    Kernel* kernel;
  };
  std::unordered_map<const void*, std::unique_ptr<Module>> modules_;
  std::unordered_map<const void*, Stub> stubs_;
  std::unordered_set<const void*> kernels_;
  std::unordered_map<const void*, Symbol> symbols_;
};

}  // namespace flce::emulator
