#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace flce::emulator {

/// Which bytes of the emulated device memory hold something. Fresh memory reads as zero and occupies no host page; only
/// what a copy from the host, or a fill with another value than zero, has put there is `written`. Kernels are accepted
/// but not run, so nothing else ever writes. A copy then moves the written ranges alone, and a fill with zero gives the
/// pages back: neither costs host memory in proportion to the size of a block that was never written.
class ContentMap {
 public:
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;  ///< one past the last byte
  };

  void MarkWritten(std::uintptr_t begin, std::uintptr_t end);
  void MarkZero(std::uintptr_t begin, std::uintptr_t end);

  /// The written parts of [begin, end), in order, clipped to it.
  std::vector<Range> Written(std::uintptr_t begin, std::uintptr_t end) const;

  /// Number of separate written ranges: what a look-up costs grows with its logarithm.
  std::size_t size() const { return ranges_.size(); }

 private:
  std::map<std::uintptr_t, std::uintptr_t> ranges_;  // begin -> end; disjoint, not adjacent
};

}  // namespace flce::emulator
