#include "harness/emulator/emulator.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <type_traits>

#include "harness/emulator/occupancy.h"

namespace flce::emulator {
namespace {

DeviceProfile ProfileFromEnvironment(std::string* error) {
  DeviceProfile profile;
  if (const char* text = std::getenv("FLCE_EMU_PROFILE")) *error = ApplyProfileText(text, profile);
  return profile;
}

// Never destroyed: threads may still launch while the process exits.
struct Shared {
  std::mutex mutex;
  Emulator emulator;
};

Shared& GetShared() {
  static Shared* const shared = new Shared;
  return *shared;
}

// A page that reads as zero in a forked child: tells the child that the lock's owner stayed in the parent.
volatile char* ForkPage() {
  static volatile char* const page = [] {
    void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || madvise(mapped, 4096, MADV_WIPEONFORK) != 0) std::abort();
    char* first = static_cast<char*>(mapped);
    *first = 1;
    return static_cast<volatile char*>(first);
  }();
  return page;
}

std::mutex& SharedMutex() {
  Shared& shared = GetShared();
  volatile char* page = ForkPage();
  if (*page == 0) {
    // The child has this one thread; whatever held the mutex does not exist here.
    new (&shared.mutex) std::mutex;
    *page = 1;
  }
  return shared.mutex;
}

}  // namespace

Emulator::Emulator()
    : profile(ProfileFromEnvironment(&profile_error)), memory(profile.count, profile.memory_bytes) {
  if (!profile_error.empty()) {
    // A card of other figures than asked for would give figures nobody asked for: there is no card then.
    profile.count = 0;
    std::fprintf(stderr, "FLCE_EMU_PROFILE: %s\n", profile_error.c_str());
  }
  log.set_tracing(profile.trace);
  context_active.assign(static_cast<std::size_t>(memory.devices()), false);
}

std::string Emulator::SetProfile(std::string_view text) {
  if (memory.AnyDeviceMemory()) return "device profile: cannot change while device memory is allocated";
  DeviceProfile changed = profile_error.empty() ? profile : DeviceProfile();
  if (std::string error = ApplyProfileText(text, changed); !error.empty()) return error;
  profile = changed;
  profile_error.clear();
  memory.Reconfigure(profile.count, profile.memory_bytes);
  context_active.resize(static_cast<std::size_t>(profile.count), false);
  log.set_tracing(profile.trace);
  return "";
}

ThreadState& CurrentThread() {
  thread_local ThreadState state;
  return state;
}

std::uint64_t CurrentThreadId() { return static_cast<std::uint64_t>(pthread_self()); }

Session::Session() : emulator_(GetShared().emulator), lock_(SharedMutex()) {}

Session::~Session() {
  lock_.unlock();
  for (const HostWork& work : after_) work.function(work.data);
}

Status Session::Refuse(std::string_view api, std::string_view detail) {
  emulator_.log.Refuse(api, detail);
  return Status::kNotSupported;
}

void Session::UseContext(int device) {
  if (!emulator_.ValidDevice(device)) return;
  emulator_.context_active[static_cast<std::size_t>(device)] = true;
  CurrentThread().context_device = device;
}

Status Session::CheckUnsafe() {
  return emulator_.streams.CheckUnsafe(CurrentThreadId(), CurrentThread().capture_mode);
}

Status Session::Run(const Work& work, std::uint32_t stream, int device) {
  LaunchLog& log = emulator_.log;
  return std::visit(
      [&](const auto& item) -> Status {
        using Item = std::decay_t<decltype(item)>;
        if constexpr (std::is_same_v<Item, KernelWork>) {
          log.CountKernel(item.log_id);
          if (log.tracing()) {
            log.Trace(TraceEvent::Kind::kKernel, log.kernels()[item.log_id].name, stream, device, 0);
          }
        } else if constexpr (std::is_same_v<Item, GemmWork>) {
          log.AddGemm(item.gemm);
          if (log.tracing()) {
            const GemmRecord& g = item.gemm;
            const std::string shape = std::string(g.api) + " " + std::to_string(g.m) + "x" + std::to_string(g.n) + "x" +
                                      std::to_string(g.k) + " " + g.a + "->" + g.d;
            log.Trace(TraceEvent::Kind::kGemm, shape, stream, device, 0);
          }
        } else if constexpr (std::is_same_v<Item, CopyWork>) {
          log.CountCopy();
          log.Trace(TraceEvent::Kind::kCopy, "copy", stream, device, item.width * item.height);
          const char* from = static_cast<const char*>(item.from);
          char* to = static_cast<char*>(item.to);
          for (std::size_t row = 0; row < item.height; ++row) {
            const Status status = emulator_.memory.Copy(to + row * item.pitch_to, from + row * item.pitch_from,
                                                        item.width, item.kind);
            if (status != Status::kSuccess) return status;
          }
        } else if constexpr (std::is_same_v<Item, FillWork>) {
          log.Trace(TraceEvent::Kind::kFill, "fill", stream, device, item.width * item.count);
          return emulator_.memory.Fill(item.to, item.pattern, item.width, item.count);
        } else if constexpr (std::is_same_v<Item, HostWork>) {
          after_.push_back(item);
        }
        return Status::kSuccess;
      },
      work);
}

Status Session::Submit(const void* handle, const Work& work) {
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return Status::kInvalidHandle;
  UseContext(CurrentThread().device);
  bool captured = false;
  if (const Status status = emulator_.streams.Submit(*stream, work, &captured); status != Status::kSuccess) {
    return status;
  }
  return captured ? Status::kSuccess : Run(work, stream->number, stream->device);
}

Status Session::LaunchGraph(const void* handle, const void* stream_handle) {
  GraphExec* exec = emulator_.streams.FindExec(handle);
  if (exec == nullptr) return Status::kInvalidValue;
  Stream* stream = FindStream(stream_handle);
  if (stream == nullptr) return Status::kInvalidHandle;
  bool captured = false;
  const Status submitted = emulator_.streams.SubmitGraph(*stream, *exec, &captured);
  if (captured || submitted != Status::kSuccess) return submitted;
  emulator_.log.Trace(TraceEvent::Kind::kGraph, "graph", stream->number, stream->device, 0);
  for (const Work& step : exec->steps) {
    if (const Status status = Run(step, stream->number, stream->device); status != Status::kSuccess) return status;
  }
  return Status::kSuccess;
}

Status Session::Launch(Kernel& kernel, const Dimensions& dimensions, const void* stream) {
  constexpr unsigned kMaxBlock[3] = {1024, 1024, 64};
  constexpr unsigned kMaxGrid[3] = {2147483647, 65535, 65535};
  std::uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (dimensions.grid[i] == 0 || dimensions.grid[i] > kMaxGrid[i]) return Status::kInvalidConfiguration;
    if (dimensions.block[i] == 0 || dimensions.block[i] > kMaxBlock[i]) return Status::kInvalidConfiguration;
    threads *= dimensions.block[i];
  }
  if (threads > 1024) return Status::kInvalidConfiguration;
  if (dimensions.dynamic_shared > static_cast<std::size_t>(kernel.max_dynamic_shared)) return Status::kInvalidValue;
  if (dimensions.cooperative) {
    const std::uint64_t blocks =
        static_cast<std::uint64_t>(dimensions.grid[0]) * dimensions.grid[1] * dimensions.grid[2];
    const std::uint64_t resident = static_cast<std::uint64_t>(emulator_.profile.sms) *
                                   static_cast<std::uint64_t>(BlocksPerSm(emulator_.profile, kernel.code,
                                                                          static_cast<int>(threads),
                                                                          dimensions.dynamic_shared));
    if (blocks > resident) return Status::kCooperativeLaunchTooLarge;
  }
  if (kernel.log_id == 0) kernel.log_id = emulator_.log.KernelId(kernel.name);
  return Submit(stream, KernelWork{kernel.log_id});
}

}  // namespace flce::emulator
