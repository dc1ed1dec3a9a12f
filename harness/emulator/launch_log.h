#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace flce::emulator {

/// One matrix product as cuBLAS was asked for it (column-major, as cuBLAS sees it).
struct GemmRecord {
  const char* api = "";   ///< the entry point: a string literal
  char transa = 'n';      ///< n, t or c
  char transb = 'n';
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  const char* a = "";     ///< operand and result types: bf16, f16, f32, f64, ...
  const char* b = "";
  const char* c = "";
  const char* d = "";
  const char* compute = "";
  bool accumulates = false;     ///< beta is not zero: the result is added to what C holds
  const char* epilogue = "";    ///< of cublasLt, "" for the default one
};

/// What the sequence of a traced run holds; `name` is an index into the log's names.
struct TraceEvent {
  enum class Kind : std::uint8_t { kKernel, kGemm, kCopy, kFill, kAllocate, kFree, kGraph, kSynchronize };
  Kind kind;
  std::uint32_t name;
  std::uint32_t stream;
  int device;
  std::uint64_t begin_ns;  ///< host clock, monotonic
  std::uint64_t bytes;     ///< of copies, fills and allocations
};

/// Counts what the emulated device was asked to do, within fixed bounds whatever the run. Not synchronised.
class LaunchLog {
 public:
  static constexpr std::size_t kMaxGemms = 4096;
  static constexpr std::size_t kMaxEvents = 200000;
  static constexpr std::size_t kMaxRefused = 512;

  /// The log's own number for a kernel name; give it back to CountKernel(). Never 0.
  std::size_t KernelId(const std::string& name);
  void CountKernel(std::size_t id);
  void AddGemm(const GemmRecord& gemm);
  void CountCopy() { ++copies_; }

  /// A call or value that is not emulated; `detail` says which value.
  void Refuse(std::string_view api, std::string_view detail);
  /// A driver entry point that a program looked up and that is not emulated.
  void AddUnknownEntryPoint(std::string_view name);

  void set_tracing(bool tracing) { tracing_ = tracing; }
  bool tracing() const { return tracing_; }
  void Trace(TraceEvent::Kind kind, std::string_view name, std::uint32_t stream, int device, std::uint64_t bytes);

  /// Forgets the counts; names keep their numbers.
  void Reset();

  struct Refusal {
    std::uint64_t count = 0;
    std::string detail;  ///< of the first one
  };
  struct KernelCount {
    std::string name;
    std::uint64_t count = 0;
  };
  const std::vector<KernelCount>& kernels() const { return kernels_; }
  std::uint64_t kernel_count() const { return kernel_count_; }
  const std::vector<GemmRecord>& gemms() const { return gemms_; }
  std::uint64_t gemm_count() const { return gemm_count_; }
  std::uint64_t copies() const { return copies_; }
  const std::map<std::string, Refusal, std::less<>>& refused() const { return refused_; }
  const std::vector<std::string>& unknown_entry_points() const { return unknown_entry_points_; }
  const std::vector<TraceEvent>& events() const { return events_; }
  std::uint64_t dropped_events() const { return dropped_events_; }
  const std::string& event_name(const TraceEvent& event) const { return names_[event.name]; }

 private:
  std::unordered_map<std::string, std::size_t> kernel_ids_;
  std::vector<KernelCount> kernels_ = {KernelCount()};  // [0] stands for "not yet known"
  std::uint64_t kernel_count_ = 0;
  std::vector<GemmRecord> gemms_;
  std::uint64_t gemm_count_ = 0;
  std::uint64_t copies_ = 0;
  std::map<std::string, Refusal, std::less<>> refused_;
  std::vector<std::string> unknown_entry_points_;
  bool tracing_ = false;
  std::vector<TraceEvent> events_;
  std::uint64_t dropped_events_ = 0;
  std::unordered_map<std::string, std::uint32_t> name_ids_;
  std::vector<std::string> names_;
};

/// Nanoseconds of a clock that never stands still: two calls never get the same time.
std::uint64_t NowNs();

}  // namespace flce::emulator
