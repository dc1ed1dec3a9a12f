#include <dlfcn.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "harness/emulator/api.h"

namespace flce::emulator {
namespace {

// Functions that fail and record the name they were handed out under. There is a fixed number of them; torch and Triton
// together ask for some twenty entry points that are not emulated.
constexpr std::size_t kRefusing = 256;

struct Names {
  std::mutex mutex;
  std::array<std::string, kRefusing> names;
  std::size_t count = 0;
};

Names& GetNames() {
  static Names* const names = new Names;
  return *names;
}

template <std::size_t kIndex>
int Refusing() {
  Session session;
  return DriverResult(session.Refuse(GetNames().names[kIndex]));
}

using Function = int (*)();

template <std::size_t... kIndices>
constexpr std::array<Function, sizeof...(kIndices)> MakeRefusing(std::index_sequence<kIndices...>) {
  return {&Refusing<kIndices>...};
}

constexpr std::array<Function, kRefusing> kRefusingFunctions = MakeRefusing(std::make_index_sequence<kRefusing>());

// This library itself, however it came into the process.
void* OwnHandle() {
  static void* const handle = [] {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&kRefusingFunctions), &info) == 0) return static_cast<void*>(nullptr);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return handle;
}

void* FindOwn(const std::string& name) {
  void* found = OwnHandle() == nullptr ? nullptr : dlsym(OwnHandle(), name.c_str());
  Dl_info info{};
  Dl_info own{};
  // dlsym also looks in what this library links against.
  if (found == nullptr || dladdr(found, &info) == 0) return nullptr;
  if (dladdr(reinterpret_cast<const void*>(&kRefusingFunctions), &own) == 0) return nullptr;
  return info.dli_fbase == own.dli_fbase ? found : nullptr;
}

}  // namespace

void* RefusingEntryPoint(const char* name) {
  {
    Session session;
    session->log.AddUnknownEntryPoint(name);
  }
  Names& known = GetNames();
  const std::lock_guard<std::mutex> lock(known.mutex);
  for (std::size_t i = 0; i < known.count; ++i) {
    if (known.names[i] == name) return reinterpret_cast<void*>(kRefusingFunctions[i]);
  }
  if (known.count == kRefusing) return nullptr;
  known.names[known.count] = name;
  return reinterpret_cast<void*>(kRefusingFunctions[known.count++]);
}

void* FindDriverEntryPoint(const char* name, int) {
  if (std::strncmp(name, "cu", 2) != 0) return nullptr;
  // A plain name means the newest version that the caller's headers know; here each function has one version.
  for (const char* suffix : {"_v2", ""}) {
    if (void* found = FindOwn(name + std::string(suffix))) return found;
  }
  return nullptr;
}

}  // namespace flce::emulator
