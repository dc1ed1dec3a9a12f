// Runtime API: registered code, kernel attributes, launches, libraries.
#include <vector>

#include "harness/emulator/abi_structs.h"
#include "harness/emulator/api.h"
#include "harness/emulator/launch_attributes.h"
#include "harness/emulator/occupancy.h"

using flce::emulator::CurrentThread;
using flce::emulator::Dim3;
using flce::emulator::FuncAttributes;
using flce::emulator::Kernel;
using flce::emulator::LaunchConfig;
using flce::emulator::Module;
using flce::emulator::RuntimeResult;
using flce::emulator::Session;
using flce::emulator::Status;
using flce::emulator::Symbol;

namespace {

struct CallConfiguration {
  Dim3 grid, block;
  std::size_t shared;
  void* stream;
};

std::vector<CallConfiguration>& CallConfigurations() {
  thread_local std::vector<CallConfiguration> stack;
  return stack;
}

int Launch(const void* function, Dim3 grid, Dim3 block, std::size_t shared, void* stream, bool cooperative) {
  Session session;
  Kernel* kernel = nullptr;
  if (const Status status = session->modules.Resolve(function, session->profile, &kernel); status != Status::kSuccess) {
    return RuntimeResult(status);
  }
  return RuntimeResult(session.Launch(
      *kernel, {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, cooperative}, stream));
}

Status SetAttribute(Session& session, Kernel& kernel, int attribute, int value) {
  const flce::emulator::FunctionAttributeResult result =
      flce::emulator::SetFunctionAttribute(session->profile, kernel, attribute, value);
  if (!result.known) return session.Refuse("cudaFuncSetAttribute", std::to_string(attribute));
  return result.status;
}

Status SymbolAddress(Session& session, const void* host, Symbol** symbol) {
  *symbol = session->modules.FindSymbol(host);
  if (*symbol == nullptr) return Status::kInvalidSymbol;
  if ((*symbol)->address != nullptr) return Status::kSuccess;
  const int device = CurrentThread().device;
  if (!session->ValidDevice(device)) return Status::kNoDevice;
  return session->memory.AllocateVariable(device, (*symbol)->size, &(*symbol)->address);
}

}  // namespace

FLCE_API void** __cudaRegisterFatBinary(void* wrapper) {
  Session session;
  return reinterpret_cast<void**>(session->modules.RegisterFatBinary(wrapper));
}

FLCE_API void __cudaRegisterFatBinaryEnd(void**) {}

FLCE_API void __cudaUnregisterFatBinary(void** handle) {
  Session session;
  session->modules.UnregisterFatBinary(reinterpret_cast<Module*>(handle));
}

FLCE_API void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, void*, void*,
                                     void*, void*, int*) {
  Session session;
  session->modules.RegisterFunction(reinterpret_cast<Module*>(handle), stub, name);
}

FLCE_API void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t size, int, int) {
  Session session;
  session->modules.RegisterVariable(reinterpret_cast<Module*>(handle), host, name, size);
}

FLCE_API char __cudaInitModule(void**) { return 1; }

FLCE_API unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, void* stream) {
  CallConfigurations().push_back({grid, block, shared, stream});
  return 0;
}

FLCE_API int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared, void* stream) {
  if (CallConfigurations().empty()) return RuntimeResult(Status::kMissingConfiguration);
  const CallConfiguration call = CallConfigurations().back();
  CallConfigurations().pop_back();
  *grid = call.grid;
  *block = call.block;
  *shared = call.shared;
  *static_cast<void**>(stream) = call.stream;
  return 0;
}

FLCE_API int __cudaGetKernel(const void** kernel, const void* stub) {
  if (kernel == nullptr) return RuntimeResult(Status::kInvalidValue);
  *kernel = stub;  // a stub and a kernel handle are told apart when launched
  return 0;
}

FLCE_API int __cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void**, std::size_t shared, void* stream) {
  return Launch(kernel, grid, block, shared, stream, false);
}

FLCE_API int __cudaLaunchKernel_ptsz(const void* kernel, Dim3 grid, Dim3 block, void**, std::size_t shared,
                                     void* stream) {
  return Launch(kernel, grid, block, shared, stream, false);
}

FLCE_API int cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void**, std::size_t shared, void* stream) {
  return Launch(function, grid, block, shared, stream, false);
}

FLCE_API int cudaLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block, void**, std::size_t shared,
                                         void* stream) {
  return Launch(function, grid, block, shared, stream, true);
}

FLCE_API int cudaLaunchKernelExC(const LaunchConfig* config, const void* function, void**) {
  if (config == nullptr) return RuntimeResult(Status::kInvalidValue);
  flce::emulator::LaunchOptions options;
  {
    Session session;
    options = flce::emulator::ReadLaunchAttributes(session->profile, config->attributes, config->attribute_count);
    if (options.unknown != 0) {
      return RuntimeResult(session.Refuse("cudaLaunchKernelExC", "attribute " + std::to_string(options.unknown)));
    }
  }
  if (options.status != Status::kSuccess) return RuntimeResult(options.status);
  return Launch(function, config->grid, config->block, config->dynamic_shared, config->stream, options.cooperative);
}

FLCE_API int cudaFuncGetAttributes(FuncAttributes* attributes, const void* function) {
  if (attributes == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  Kernel* kernel = nullptr;
  if (const Status status = session->modules.Resolve(function, session->profile, &kernel); status != Status::kSuccess) {
    return RuntimeResult(status);
  }
  *attributes = FuncAttributes();
  attributes->shared_size_bytes = static_cast<std::size_t>(kernel->code.static_shared_bytes);
  attributes->local_size_bytes = static_cast<std::size_t>(kernel->code.local_bytes);
  attributes->max_threads_per_block = 1024;
  attributes->num_regs = kernel->code.registers;
  attributes->binary_version = flce::emulator::BinaryVersion(session->profile, *kernel);
  attributes->ptx_version = attributes->binary_version;
  attributes->max_dynamic_shared_size_bytes = kernel->max_dynamic_shared;
  attributes->preferred_shmem_carveout = -1;
  return 0;
}

FLCE_API int cudaFuncSetAttribute(const void* function, int attribute, int value) {
  Session session;
  Kernel* kernel = nullptr;
  if (const Status status = session->modules.Resolve(function, session->profile, &kernel); status != Status::kSuccess) {
    return RuntimeResult(status);
  }
  return RuntimeResult(SetAttribute(session, *kernel, attribute, value));
}

FLCE_API int cudaKernelSetAttributeForDevice(const void* function, int attribute, int value, int device) {
  {
    Session session;
    if (!session->ValidDevice(device)) return RuntimeResult(Status::kInvalidDevice);
  }
  return cudaFuncSetAttribute(function, attribute, value);
}

FLCE_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                    std::size_t shared, unsigned) {
  if (blocks == nullptr || threads <= 0) return RuntimeResult(Status::kInvalidValue);
  Session session;
  Kernel* kernel = nullptr;
  if (const Status status = session->modules.Resolve(function, session->profile, &kernel); status != Status::kSuccess) {
    return RuntimeResult(status);
  }
  *blocks = flce::emulator::BlocksPerSm(session->profile, kernel->code, threads, shared);
  return 0;
}

FLCE_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                           std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

FLCE_API int cudaGetSymbolAddress(void** address, const void* host) {
  if (address == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  Symbol* symbol = nullptr;
  const Status status = SymbolAddress(session, host, &symbol);
  if (status == Status::kSuccess) *address = symbol->address;
  return RuntimeResult(status);
}

FLCE_API int cudaMemcpyToSymbol(const void* host, const void* from, std::size_t size, std::size_t offset, int kind) {
  Session session;
  Symbol* symbol = nullptr;
  if (const Status status = SymbolAddress(session, host, &symbol); status != Status::kSuccess) {
    return RuntimeResult(status);
  }
  if (offset > symbol->size || size > symbol->size - offset) return RuntimeResult(Status::kInvalidValue);
  return RuntimeResult(session->memory.Copy(static_cast<char*>(symbol->address) + offset, from, size,
                                            static_cast<flce::emulator::CopyKind>(kind)));
}

FLCE_API int cudaLibraryLoadData(Module** library, const void* code, void*, void**, unsigned, void*, void**, unsigned) {
  if (library == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  session.UseContext(CurrentThread().device);
  return RuntimeResult(session->modules.Load(code, session->profile, library));
}

FLCE_API int cudaLibraryUnload(void* library) {
  Session session;
  return RuntimeResult(session->modules.Unload(library));
}

FLCE_API int cudaLibraryGetKernel(Kernel** kernel, void* library, const char* name) {
  if (kernel == nullptr) return RuntimeResult(Status::kInvalidValue);
  Session session;
  return RuntimeResult(session->modules.FindKernel(library, name, session->profile, kernel));
}

FLCE_API int cudaLibraryGetKernelCount(unsigned* count, void* library) {
  Session session;
  if (count == nullptr || !session->modules.IsModule(library)) return RuntimeResult(Status::kInvalidValue);
  *count = static_cast<unsigned>(static_cast<Module*>(library)->kernel_count());
  return 0;
}
