#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace flce {

/// Pieces between separators; an empty text has no pieces, "a,,b" has an empty one.
std::vector<std::string> Split(std::string_view text, char separator);
/// Lines without their line ends ("\n" or "\r\n"); a final line end opens no further line.
std::vector<std::string_view> Lines(std::string_view text);
std::string_view Trim(std::string_view text);
std::string Join(const std::vector<std::string>& pieces, std::string_view separator);
std::string ReplaceAll(std::string text, std::string_view from, std::string_view to);
std::string ToLower(std::string_view text);
/// The first line, trimmed.
std::string FirstLine(std::string_view text);

/// The candidate nearest to `name` by edit distance (case-insensitive), if near enough to be a typing error, else "".
std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);
/// "unknown case 'x'; did you mean 'y'?" or "unknown case 'x'; known: a, b, c".
std::string UnknownName(std::string_view what, std::string_view name, const std::vector<std::string>& known);

/// 39523000000 -> "39.52 GB" (decimal units, as the figures of PyTorch's memory reports are quoted).
std::string HumanBytes(uint64_t bytes);
/// "40GB", "1.5 TB", "512MiB", "1000" -> bytes; kUsage for anything else.
Result<uint64_t> ParseBytes(std::string_view text);
/// 0.0042 -> "4.2 ms", 75 -> "1 min 15 s".
std::string HumanSeconds(double seconds);

/// Valid UTF-8: each malformed byte becomes U+FFFD. Reports must stay valid whatever an exception message holds.
std::string ToValidUtf8(std::string_view bytes);
/// Removes ANSI escape sequences (colours, cursor movement, titles).
std::string StripAnsi(std::string_view text);
/// At most `limit` bytes, cut at a character boundary, with a note of how much is gone.
std::string Truncate(std::string_view text, size_t limit);

}  // namespace flce
