#include "harness/emulator/profile.h"

#include <charconv>
#include <functional>
#include <vector>

#include "harness/base/text.h"

namespace flce::emulator {
namespace {

bool ParseInteger(std::string_view text, std::uint64_t low, std::uint64_t high, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= low && value <= high;
}

struct Key {
  const char* name;
  std::uint64_t low;
  std::uint64_t high;
  std::function<void(DeviceProfile&, std::uint64_t)> set;
};

// The limits are those of the types that CUDA reports the figures in; the emulator makes no use of nonsense beyond them.
const std::vector<Key>& IntegerKeys() {
  constexpr std::uint64_t kInt = 2147483647;
  static const std::vector<Key> keys = {
      {"sms", 1, 4096, [](DeviceProfile& p, std::uint64_t v) { p.sms = static_cast<int>(v); }},
      {"memory_bytes", 1 << 20, 1ULL << 44, [](DeviceProfile& p, std::uint64_t v) { p.memory_bytes = v; }},
      {"shared_memory_per_block", 1, kInt,
       [](DeviceProfile& p, std::uint64_t v) { p.shared_memory_per_block = static_cast<int>(v); }},
      {"shared_memory_optin", 1, kInt,
       [](DeviceProfile& p, std::uint64_t v) { p.shared_memory_optin = static_cast<int>(v); }},
      {"shared_memory_per_sm", 1, kInt,
       [](DeviceProfile& p, std::uint64_t v) { p.shared_memory_per_sm = static_cast<int>(v); }},
      {"registers_per_sm", 1, kInt,
       [](DeviceProfile& p, std::uint64_t v) { p.registers_per_sm = static_cast<int>(v); }},
      {"threads_per_sm", 1, kInt, [](DeviceProfile& p, std::uint64_t v) { p.threads_per_sm = static_cast<int>(v); }},
      {"blocks_per_sm", 1, kInt, [](DeviceProfile& p, std::uint64_t v) { p.blocks_per_sm = static_cast<int>(v); }},
      {"l2_bytes", 0, kInt, [](DeviceProfile& p, std::uint64_t v) { p.l2_bytes = static_cast<int>(v); }},
      {"clock_khz", 0, kInt, [](DeviceProfile& p, std::uint64_t v) { p.clock_khz = static_cast<int>(v); }},
      {"memory_clock_khz", 0, kInt,
       [](DeviceProfile& p, std::uint64_t v) { p.memory_clock_khz = static_cast<int>(v); }},
      {"memory_bus_bits", 0, kInt, [](DeviceProfile& p, std::uint64_t v) { p.memory_bus_bits = static_cast<int>(v); }},
      {"count", 1, 64, [](DeviceProfile& p, std::uint64_t v) { p.count = static_cast<int>(v); }},
      {"driver", 10000, 99990, [](DeviceProfile& p, std::uint64_t v) { p.driver = static_cast<int>(v); }},
      {"integrated", 0, 1, [](DeviceProfile& p, std::uint64_t v) { p.integrated = v != 0; }},
      {"trace", 0, 1, [](DeviceProfile& p, std::uint64_t v) { p.trace = v != 0; }},
  };
  return keys;
}

std::vector<std::string> KeyNames() {
  std::vector<std::string> names = {"name", "capability"};
  for (const Key& key : IntegerKeys()) names.emplace_back(key.name);
  return names;
}

bool SetCapability(std::string_view value, DeviceProfile& profile) {
  const std::size_t dot = value.find('.');
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  if (dot == std::string_view::npos || !ParseInteger(value.substr(0, dot), 1, 99, major) ||
      !ParseInteger(value.substr(dot + 1), 0, 9, minor)) {
    return false;
  }
  profile.major = static_cast<int>(major);
  profile.minor = static_cast<int>(minor);
  return true;
}

std::string ApplyPair(std::string_view pair, DeviceProfile& profile) {
  const std::size_t equals = pair.find('=');
  if (equals == std::string_view::npos) return "device profile: '" + std::string(pair) + "' is not key=value";
  const std::string_view key = Trim(pair.substr(0, equals));
  const std::string_view value = Trim(pair.substr(equals + 1));
  const auto bad_value = [&](const std::string& wanted) {
    return "device profile: " + std::string(key) + "='" + std::string(value) + "': want " + wanted;
  };
  if (key == "name") {
    if (value.empty() || value.size() > 255) return bad_value("1 to 255 characters");
    profile.name = std::string(value);
    return "";
  }
  if (key == "capability") {
    return SetCapability(value, profile) ? "" : bad_value("major.minor, such as 9.0");
  }
  for (const Key& known : IntegerKeys()) {
    if (key != known.name) continue;
    std::uint64_t number = 0;
    if (!ParseInteger(value, known.low, known.high, number)) {
      return bad_value("an integer from " + std::to_string(known.low) + " to " + std::to_string(known.high));
    }
    known.set(profile, number);
    return "";
  }
  return "device profile: " + UnknownName("key", key, KeyNames());
}

}  // namespace

std::string ApplyProfileText(std::string_view text, DeviceProfile& profile) {
  DeviceProfile changed = profile;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(";\n");
    const std::string_view pair = Trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (pair.empty() || pair.front() == '#') continue;
    if (std::string error = ApplyPair(pair, changed); !error.empty()) return error;
  }
  if (changed.shared_memory_optin < changed.shared_memory_per_block ||
      changed.shared_memory_per_sm < changed.shared_memory_optin) {
    return "device profile: shared memory per block, opt-in and per SM must not decrease in this order";
  }
  profile = changed;
  return "";
}

}  // namespace flce::emulator
