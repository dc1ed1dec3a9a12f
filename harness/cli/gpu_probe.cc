#include "harness/cli/gpu_probe.h"

#include <dlfcn.h>

#include <cstdio>

#include "harness/base/subprocess.h"
#include "harness/base/text.h"

namespace flce {
namespace {

// CUdevice_attribute, from the CUDA driver API reference.
constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76;

template <typename F>
F Symbol(void* library, const char* name) {
  return reinterpret_cast<F>(::dlsym(library, name));
}

}  // namespace

int GpuProbeMain() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return std::puts("no NVIDIA driver library (libcuda.so.1)"), 1;
  const auto init = Symbol<int (*)(unsigned)>(library, "cuInit");
  const auto version = Symbol<int (*)(int*)>(library, "cuDriverGetVersion");
  const auto count = Symbol<int (*)(int*)>(library, "cuDeviceGetCount");
  const auto name = Symbol<int (*)(char*, int, int)>(library, "cuDeviceGetName");
  const auto attribute = Symbol<int (*)(int*, int, int)>(library, "cuDeviceGetAttribute");
  if (!init || !version || !count || !name || !attribute) return std::puts("the NVIDIA driver library lacks entry points"), 1;
  int driver = 0, devices = 0, major = 0, minor = 0;
  char text[256] = "";
  if (const int code = init(0); code != 0) return std::printf("the NVIDIA driver answers error %d (no GPU?)\n", code), 1;
  version(&driver);
  if (count(&devices) != 0 || devices == 0) return std::puts("the NVIDIA driver knows no GPU"), 1;
  if (name(text, sizeof text, 0) != 0 || attribute(&major, kComputeCapabilityMajor, 0) != 0 || attribute(&minor, kComputeCapabilityMinor, 0) != 0)
    return std::puts("the GPU does not answer"), 1;
  std::printf("%d\t%d\t%d.%d\t%s\n", devices, driver, major, minor, text);
  return 0;
}

std::optional<RealGpu> ProbeGpu(std::string* why) {
  ProcessOptions options;
  options.argv = {"/proc/self/exe", "--probe-gpu"};
  options.deadline_s = 20;
  Result<ProcessResult> result = RunProcess(options);
  if (!result) return *why = result.error().message, std::nullopt;
  const std::string line = FirstLine(result->out);
  if (!result->ok()) return *why = line.empty() ? Describe(result->state) : line, std::nullopt;
  const std::vector<std::string> fields = Split(line, '\t');
  if (fields.size() != 4) return *why = "unreadable answer '" + line + "'", std::nullopt;
  return RealGpu{fields[3], fields[2], std::atoi(fields[0].c_str()), std::atoi(fields[1].c_str())};
}

}  // namespace flce
