// Driver API: modules, libraries, kernels, launches, occupancy, streams.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "harness/emulator/abi_structs.h"
#include "harness/emulator/api.h"
#include "harness/emulator/launch_attributes.h"
#include "harness/emulator/occupancy.h"

using flce::emulator::CurrentThread;
using flce::emulator::DriverLaunchConfig;
using flce::emulator::DriverResult;
using flce::emulator::Kernel;
using flce::emulator::Module;
using flce::emulator::Session;
using flce::emulator::Status;
using flce::emulator::Stream;

namespace {

int Load(Module** module, const void* image) {
  if (module == nullptr || image == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  return DriverResult(session->modules.Load(image, session->profile, module));
}

int LoadFile(Module** module, const char* path) {
  if (path == nullptr) return DriverResult(Status::kInvalidValue);
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return DriverResult(Status::kFileNotFound);
  std::vector<char> bytes;
  char buffer[65536];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file)) {
    bytes.insert(bytes.end(), buffer, buffer + got);
  }
  std::fclose(file);
  bytes.resize(bytes.size() + 64);  // a PTX text ends with a zero, and headers can be read whole
  return Load(module, bytes.data());
}

// A CUfunction, or the status of what is not one.
int Resolve(Session& session, const void* function, Kernel** kernel) {
  return DriverResult(session->modules.Resolve(function, session->profile, kernel));
}

int Launch(const void* function, const Session::Dimensions& dimensions, void* stream) {
  Session session;
  Kernel* kernel = nullptr;
  if (const int error = Resolve(session, function, &kernel)) return error;
  return DriverResult(session.Launch(*kernel, dimensions, stream));
}

}  // namespace

FLCE_API int cuModuleLoadData(Module** module, const void* image) { return Load(module, image); }

FLCE_API int cuModuleLoadDataEx(Module** module, const void* image, unsigned, int*, void**) {
  return Load(module, image);
}

FLCE_API int cuModuleLoadFatBinary(Module** module, const void* image) { return Load(module, image); }

FLCE_API int cuModuleLoad(Module** module, const char* path) { return LoadFile(module, path); }

FLCE_API int cuModuleUnload(void* module) {
  Session session;
  return DriverResult(session->modules.Unload(module));
}

FLCE_API int cuModuleGetFunction(Kernel** function, void* module, const char* name) {
  if (function == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  return DriverResult(session->modules.FindKernel(module, name, session->profile, function));
}

FLCE_API int cuLibraryLoadData(Module** library, const void* code, int*, void**, unsigned, int*, void**, unsigned) {
  return Load(library, code);
}

FLCE_API int cuLibraryUnload(void* library) { return cuModuleUnload(library); }

FLCE_API int cuLibraryGetKernel(Kernel** kernel, void* library, const char* name) {
  return cuModuleGetFunction(kernel, library, name);
}

FLCE_API int cuKernelGetFunction(Kernel** function, Kernel* kernel) {
  if (function == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  return Resolve(session, kernel, function);
}

FLCE_API int cuFuncGetAttribute(int* value, int attribute, void* function) {
  if (value == nullptr) return DriverResult(Status::kInvalidValue);
  Session session;
  Kernel* kernel = nullptr;
  if (const int error = Resolve(session, function, &kernel)) return error;
  if (!flce::emulator::GetFunctionAttribute(session->profile, *kernel, attribute, value)) {
    return DriverResult(session.Refuse("cuFuncGetAttribute", std::to_string(attribute)));
  }
  return 0;
}

FLCE_API int cuKernelGetAttribute(int* value, int attribute, void* kernel, int device) {
  {
    Session session;
    if (!session->ValidDevice(device)) return DriverResult(Status::kInvalidDevice);
  }
  return cuFuncGetAttribute(value, attribute, kernel);
}

FLCE_API int cuFuncSetAttribute(void* function, int attribute, int value) {
  Session session;
  Kernel* kernel = nullptr;
  if (const int error = Resolve(session, function, &kernel)) return error;
  const flce::emulator::FunctionAttributeResult result =
      flce::emulator::SetFunctionAttribute(session->profile, *kernel, attribute, value);
  if (!result.known) return DriverResult(session.Refuse("cuFuncSetAttribute", std::to_string(attribute)));
  return DriverResult(result.status);
}

FLCE_API int cuFuncSetCacheConfig(void* function, int config) {
  if (config < 0 || config > 3) return DriverResult(Status::kInvalidValue);
  Session session;
  Kernel* kernel = nullptr;
  return Resolve(session, function, &kernel);
}

FLCE_API int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared, void* stream, void**, void**) {
  return Launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, false}, stream);
}

FLCE_API int cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                       void* stream, void**) {
  return Launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, true}, stream);
}

FLCE_API int cuLaunchKernelEx(const DriverLaunchConfig* config, void* function, void**, void**) {
  if (config == nullptr) return DriverResult(Status::kInvalidValue);
  flce::emulator::LaunchOptions options;
  {
    Session session;
    options = flce::emulator::ReadLaunchAttributes(session->profile, config->attributes, config->attribute_count);
    if (options.unknown != 0) {
      return DriverResult(session.Refuse("cuLaunchKernelEx", "attribute " + std::to_string(options.unknown)));
    }
  }
  if (options.status != Status::kSuccess) return DriverResult(options.status);
  const flce::emulator::Dim3& grid = config->grid;
  const flce::emulator::Dim3& block = config->block;
  return Launch(function,
                {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, config->dynamic_shared, options.cooperative},
                config->stream);
}

FLCE_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads,
                                                         std::size_t shared) {
  if (blocks == nullptr || threads <= 0) return DriverResult(Status::kInvalidValue);
  Session session;
  Kernel* kernel = nullptr;
  if (const int error = Resolve(session, function, &kernel)) return error;
  *blocks = flce::emulator::BlocksPerSm(session->profile, kernel->code, threads, shared);
  return 0;
}

FLCE_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int threads,
                                                                  std::size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

// A tensor map is 128 bytes that only kernels read; they are not run, so it is cleared and its arguments checked.
FLCE_API int cuTensorMapEncodeTiled(void* map, int, unsigned rank, void* address, const std::uint64_t*,
                                    const std::uint64_t*, const unsigned*, const unsigned*, int, int, int, int) {
  Session session;
  if (session->profile.major < 9) return DriverResult(Status::kNotSupported);
  if (map == nullptr || rank == 0 || rank > 5 || reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
    return DriverResult(Status::kInvalidValue);
  }
  std::memset(map, 0, 128);
  return 0;
}

FLCE_API int cuStreamCreate(void** stream, unsigned flags) {
  if (stream == nullptr || flags > 1) return DriverResult(Status::kInvalidValue);
  if (CurrentThread().context_device < 0) return DriverResult(Status::kInvalidContext);
  Session session;
  *stream = session->streams.Create(CurrentThread().context_device, flags == 0, 0);
  return 0;
}

FLCE_API int cuStreamDestroy_v2(void* stream) {
  Session session;
  return DriverResult(session->streams.Destroy(stream));
}

FLCE_API int cuStreamSynchronize(void* handle) {
  Session session;
  Stream* stream = session.FindStream(handle);
  if (stream == nullptr) return DriverResult(Status::kInvalidHandle);
  if (stream->capture == nullptr) return 0;
  session->streams.Invalidate(*stream);
  return DriverResult(Status::kCaptureUnsupported);
}

FLCE_API int cuStreamQuery(void* handle) { return cuStreamSynchronize(handle); }

FLCE_API int cuStreamIsCapturing(void* handle, int* status) {
  Session session;
  const Stream* stream = session.FindStream(handle);
  if (stream == nullptr) return DriverResult(Status::kInvalidHandle);
  if (status == nullptr) return DriverResult(Status::kInvalidValue);
  *status = static_cast<int>(session->streams.capture_status(*stream));
  return 0;
}

FLCE_API int cuStreamGetCtx(void* handle, void** context) {
  Session session;
  const Stream* stream = session.FindStream(handle);
  if (stream == nullptr) return DriverResult(Status::kInvalidHandle);
  if (context == nullptr) return DriverResult(Status::kInvalidValue);
  *context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(0xc000 + stream->device));
  return 0;
}

// Work runs at once, so a value written to memory by the stream is written now.
FLCE_API int cuStreamWriteValue32_v2(void* stream, std::uint64_t address, std::uint32_t value, unsigned) {
  Session session;
  return DriverResult(
      session.Submit(stream, flce::emulator::FillWork{reinterpret_cast<void*>(address), value, 4, 1}));
}
