#include "harness/emulator/content_map.h"

#include <algorithm>
#include <iterator>

namespace flce::emulator {

void ContentMap::MarkWritten(std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= end) return;
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second >= begin) --it;
  while (it != ranges_.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = ranges_.erase(it);
  }
  ranges_.emplace(begin, end);
}

void ContentMap::MarkZero(std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= end) return;
  auto it = ranges_.lower_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second > begin) --it;
  while (it != ranges_.end() && it->first < end) {
    const Range old{it->first, it->second};
    it = ranges_.erase(it);
    if (old.begin < begin) ranges_.emplace(old.begin, begin);
    if (old.end > end) it = std::next(ranges_.emplace(end, old.end).first);
  }
}

std::vector<ContentMap::Range> ContentMap::Written(std::uintptr_t begin, std::uintptr_t end) const {
  std::vector<Range> written;
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second > begin) --it;
  for (; it != ranges_.end() && it->first < end; ++it) {
    written.push_back({std::max(it->first, begin), std::min(it->second, end)});
  }
  return written;
}

}  // namespace flce::emulator
