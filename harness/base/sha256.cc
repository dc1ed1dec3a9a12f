#include "harness/base/sha256.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>

namespace flce {
namespace {

/// The round constants: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
std::array<uint32_t, 64> RoundConstants() {
  std::array<uint32_t, 64> constants{};
  size_t found = 0;
  for (uint32_t n = 2; found < constants.size(); ++n) {
    bool prime = true;
    for (uint32_t d = 2; d * d <= n && prime; ++d) prime = n % d != 0;
    if (!prime) continue;
    const long double root = std::cbrt(static_cast<long double>(n));
    constants[found++] = static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
  }
  return constants;
}

uint32_t BigEndian(const uint8_t* p) { return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3]; }

}  // namespace

void Sha256::Block(const uint8_t* bytes) {
  static const std::array<uint32_t, 64> kRound = RoundConstants();
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) w[i] = BigEndian(bytes + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> sum = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += sum[i];
}

void Sha256::Update(std::string_view bytes) {
  total_ += bytes.size();
  while (!bytes.empty()) {
    const size_t take = std::min(bytes.size(), pending_.size() - pending_size_);
    std::memcpy(pending_.data() + pending_size_, bytes.data(), take);
    pending_size_ += take;
    bytes.remove_prefix(take);
    if (pending_size_ < pending_.size()) break;
    Block(pending_.data());
    pending_size_ = 0;
  }
}

std::string Sha256::Hex() {
  const uint64_t bits = total_ * 8;
  std::string end(1, '\x80');
  end.append((119 - total_ % 64) % 64, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) end.push_back(static_cast<char>(bits >> shift));
  Update(end);
  std::string hex;
  for (const uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) hex.push_back("0123456789abcdef"[(word >> shift) & 15]);
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

Result<std::string> Sha256OfFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{errno == ENOENT ? ErrorKind::kNotFound : ErrorKind::kIo, "cannot read " + path.string() + ": " + std::strerror(errno)};
  Sha256 hash;
  std::string buffer(1 << 16, '\0');
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0)
    hash.Update(std::string_view(buffer).substr(0, static_cast<size_t>(file.gcount())));
  if (file.bad()) return Error{ErrorKind::kIo, "cannot read " + path.string()};
  return hash.Hex();
}

}  // namespace flce
