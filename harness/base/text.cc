#include "harness/base/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace flce {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
    }
    std::swap(previous, current);
  }
  return previous[b.size()];
}

/// Length of the well-formed UTF-8 sequence at the front of `bytes`, 0 if malformed (RFC 3629, table of section 4).
size_t Utf8SequenceLength(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto continues = [&](size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return i < bytes.size() && at(i) >= low && at(i) <= high;
  };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (text.empty()) return pieces;
  size_t start = 0;
  for (size_t end; (end = text.find(separator, start)) != std::string_view::npos; start = end + 1)
    pieces.emplace_back(text.substr(start, end - start));
  pieces.emplace_back(text.substr(start));
  return pieces;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const size_t start = text.find_first_not_of(kBlank);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kBlank) - start + 1);
}

std::string Join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string joined;
  for (const std::string& piece : pieces) {
    if (&piece != &pieces.front()) joined += separator;
    joined += piece;
  }
  return joined;
}

std::string ReplaceAll(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::string FirstLine(std::string_view text) {
  return std::string(Trim(Trim(text).substr(0, Trim(text).find('\n'))));
}

std::string NearestName(std::string_view name, const std::vector<std::string>& candidates) {
  std::string nearest;
  // A third of the letters wrong is still a slip; more is another word.
  size_t best = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(ToLower(name), ToLower(candidate));
    if (distance < best) best = distance, nearest = candidate;
  }
  return nearest;
}

std::string UnknownName(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  std::string message = "unknown " + std::string(what) + " '" + std::string(name) + "'";
  const std::string nearest = NearestName(name, known);
  if (!nearest.empty()) return message + "; did you mean '" + nearest + "'?";
  return message + "; known: " + Join(known, ", ");
}

std::string HumanBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.995 && unit + 1 < std::size(kUnits)) value /= 1000, ++unit;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
  return buffer;
}

Result<uint64_t> ParseBytes(std::string_view text) {
  const Error bad{ErrorKind::kUsage, "size '" + std::string(text) + "': expected a number with a unit, such as 40GB"};
  const std::string lower = ToLower(Trim(text));
  char* end = nullptr;
  const double number = std::strtod(lower.c_str(), &end);
  if (end == lower.c_str() || !(number >= 0)) return bad;
  constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1},       {"b", 1},           {"kb", 1e3},           {"mb", 1e6},  {"gb", 1e9},
                                                            {"tb", 1e12},  {"kib", 1024},      {"mib", 1048576},      {"gib", 1073741824},
                                                            {"tib", 1099511627776.0}};
  for (const auto& [unit, factor] : kUnits)
    if (Trim(end) == unit && number * factor < 1e18) return static_cast<uint64_t>(number * factor);
  return bad;
}

std::string HumanSeconds(double seconds) {
  char buffer[48];
  if (seconds < 1) {
    std::snprintf(buffer, sizeof buffer, "%.3g ms", seconds * 1000);
  } else if (seconds < 60) {
    std::snprintf(buffer, sizeof buffer, "%.1f s", seconds);
  } else {
    const long whole = std::lround(seconds);
    if (whole < 3600) {
      std::snprintf(buffer, sizeof buffer, "%ld min %ld s", whole / 60, whole % 60);
    } else {
      std::snprintf(buffer, sizeof buffer, "%ld h %ld min", whole / 3600, whole % 3600 / 60);
    }
  }
  return buffer;
}

std::string ToValidUtf8(std::string_view bytes) {
  std::string valid;
  valid.reserve(bytes.size());
  // Nearly every text is ASCII from one end to the other: such stretches are copied whole.
  size_t plain = 0;
  for (size_t at = 0; at < bytes.size();) {
    if (static_cast<unsigned char>(bytes[at]) < 0x80) {
      ++at;
      continue;
    }
    const size_t length = Utf8SequenceLength(bytes.substr(at));
    if (length != 0) {
      at += length;
      continue;
    }
    valid += bytes.substr(plain, at - plain);
    valid += "\xEF\xBF\xBD";
    plain = ++at;
  }
  return valid += bytes.substr(plain);
}

std::string StripAnsi(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    if (i + 1 >= text.size()) break;
    const char kind = text[++i];
    if (kind == '[') {  // CSI: parameters, then one final byte in @..~
      while (i + 1 < text.size() && !(text[i + 1] >= '@' && text[i + 1] <= '~')) ++i;
      ++i;
    } else if (kind == ']') {  // OSC: up to BEL or ESC backslash
      while (i + 1 < text.size() && text[i + 1] != '\a' && text[i + 1] != '\x1b') ++i;
      if (i + 1 < text.size() && text[i + 1] == '\x1b') ++i;
      ++i;
    }
  }
  return plain;
}

std::string Truncate(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "… [" + std::to_string(text.size() - end) + " bytes more]";
}

}  // namespace flce
