#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/files.h"
#include "harness/base/result.h"

namespace flce {

/// SHA-256 of a stream of bytes (FIPS 180-4).
class Sha256 {
 public:
  void Update(std::string_view bytes);
  /// 64 lower-case hexadecimal digits. Nothing may be added afterwards.
  std::string Hex();

 private:
  void Block(const uint8_t* bytes);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  size_t pending_size_ = 0;
  uint64_t total_ = 0;
};

std::string Sha256Hex(std::string_view bytes);
Result<std::string> Sha256OfFile(const fs::path& path);

}  // namespace flce
