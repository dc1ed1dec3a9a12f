#include "harness/emulator/launch_log.h"

#include <time.h>

#include <algorithm>
#include <atomic>

namespace flce::emulator {

std::uint64_t NowNs() {
  static std::atomic<std::uint64_t> last{0};
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::uint64_t time = static_cast<std::uint64_t>(now.tv_sec) * 1000000000ULL + static_cast<std::uint64_t>(now.tv_nsec);
  std::uint64_t seen = last.load(std::memory_order_relaxed);
  do {
    if (time <= seen) time = seen + 1;
  } while (!last.compare_exchange_weak(seen, time, std::memory_order_relaxed));
  return time;
}

std::size_t LaunchLog::KernelId(const std::string& name) {
  const auto [it, added] = kernel_ids_.emplace(name, kernels_.size());
  if (added) kernels_.push_back({name, 0});
  return it->second;
}

void LaunchLog::CountKernel(std::size_t id) {
  ++kernels_[id].count;
  ++kernel_count_;
}

void LaunchLog::AddGemm(const GemmRecord& gemm) {
  ++gemm_count_;
  if (gemms_.size() < kMaxGemms) gemms_.push_back(gemm);
}

void LaunchLog::Refuse(std::string_view api, std::string_view detail) {
  auto it = refused_.find(api);
  if (it == refused_.end()) {
    if (refused_.size() >= kMaxRefused) return;
    it = refused_.emplace(std::string(api), Refusal{0, std::string(detail)}).first;
  }
  ++it->second.count;
}

void LaunchLog::AddUnknownEntryPoint(std::string_view name) {
  if (unknown_entry_points_.size() >= kMaxRefused) return;
  if (std::find(unknown_entry_points_.begin(), unknown_entry_points_.end(), name) == unknown_entry_points_.end()) {
    unknown_entry_points_.emplace_back(name);
  }
}

void LaunchLog::Trace(TraceEvent::Kind kind, std::string_view name, std::uint32_t stream, int device,
                      std::uint64_t bytes) {
  if (!tracing_) return;
  if (events_.size() >= kMaxEvents) {
    ++dropped_events_;
    return;
  }
  const auto [it, added] = name_ids_.emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (added) names_.emplace_back(name);
  events_.push_back({kind, it->second, stream, device, NowNs(), bytes});
}

void LaunchLog::Reset() {
  for (KernelCount& kernel : kernels_) kernel.count = 0;
  kernel_count_ = 0;
  gemms_.clear();
  gemm_count_ = 0;
  copies_ = 0;
  refused_.clear();
  unknown_entry_points_.clear();
  events_.clear();
  dropped_events_ = 0;
}

}  // namespace flce::emulator
