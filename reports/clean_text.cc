#include "reports/clean_text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>

#include "harness/base/text.h"

namespace flce {
namespace {

struct Decoded {
  uint32_t code;
  size_t length;
};

/// The first character of valid UTF-8.
Decoded Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  if (byte(0) < 0x80) return {byte(0), 1};
  if (byte(0) < 0xE0) return {(byte(0) & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (byte(0) < 0xF0) return {(byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}

/// Characters that change how others are shown, or that no XML document may hold.
bool IsUnsafe(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

size_t WidthOf(uint32_t code) {
  if (code == 0x200B || code == 0x200D || (code >= 0x0300 && code <= 0x036F) || (code >= 0xFE00 && code <= 0xFE0F)) return 0;
  const bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                    (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                    (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                    (code >= 0xFFE0 && code <= 0xFFE6) || (code >= 0x1F300 && code <= 0x1FAFF);
  return wide ? 2 : 1;
}

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || (c & 0x80);
}
bool IsPathCharacter(char c) { return IsNameCharacter(c) || c == '/' || c == '+' || c == '~' || c == '@'; }

size_t NameEnd(std::string_view text, size_t at) {
  while (at < text.size() && IsNameCharacter(text[at])) ++at;
  return at;
}

/// If a private folder begins at `at`, where it ends and what to say instead.
struct Replacement {
  size_t end = 0;
  std::string_view text;
};
Replacement PrivateFolder(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  struct Rule {
    std::string_view prefix;
    int names;  // how many path components after the prefix belong to it
    std::string_view instead;
  };
  static constexpr Rule kRules[] = {{"/home/", 1, "~"},           {"/Users/", 1, "~"},       {"/root", 0, "~"},
                                    {"/var/folders/", 3, "<tmp>"}, {"/private/var/folders/", 3, "<tmp>"},
                                    {"/var/tmp/", 1, "<tmp>"},     {"/tmp/", 1, "<tmp>"},     {"/dev/shm/", 1, "<tmp>"},
                                    {"/run/user/", 1, "<tmp>"}};
  for (const Rule& rule : kRules) {
    if (!rest.starts_with(rule.prefix)) continue;
    size_t end = at + rule.prefix.size();
    if (rule.names == 0) {
      if (end < text.size() && IsNameCharacter(text[end])) continue;  // "/rootless" is another folder
      return {end, rule.instead};
    }
    const size_t first = end;
    for (int i = 0; i < rule.names; ++i) {
      end = NameEnd(text, end);
      if (i + 1 < rule.names && end < text.size() && text[end] == '/') ++end;
    }
    if (end > first) return {end, rule.instead};
  }
  return {};
}

bool EqualsAt(std::string_view text, size_t at, std::string_view word) {
  if (at + word.size() > text.size()) return false;
  for (size_t i = 0; i < word.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(text[at + i])) != std::tolower(static_cast<unsigned char>(word[i]))) return false;
  return true;
}

std::string ReplaceWord(std::string text, std::string_view word) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at + word.size();
    if (EqualsAt(text, at, word) && (at == 0 || !is_word(text[at - 1])) && (end >= text.size() || !is_word(text[end]))) {
      out += "<private>";
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace

std::string Readable(std::string_view text, size_t limit) {
  const size_t whole = text.size();
  // A little more than the limit is cleaned, so that a cut inside an escape sequence does not show.
  // Escape sequences go first: one may swallow a byte of a character behind it.
  const std::string valid = ToValidUtf8(StripAnsi(text.substr(0, std::min(whole, limit + 64))));
  std::string out;
  out.reserve(valid.size());
  bool cut = whole > limit + 64;
  for (std::string_view rest = valid; !rest.empty();) {
    const Decoded next = Decode(rest);
    if (out.size() + next.length > limit) {
      cut = true;
      break;
    }
    if (next.code == '\n' || next.code == '\t') {
      out += static_cast<char>(next.code);
    } else if (next.code == '\r') {
      if (rest.size() < 2 || rest[1] != '\n') out += '\n';
    } else if (IsUnsafe(next.code)) {
      char buffer[16];
      std::snprintf(buffer, sizeof buffer, "<U+%04X>", next.code);
      out += buffer;
    } else {
      out += rest.substr(0, next.length);
    }
    rest.remove_prefix(next.length);
  }
  if (cut) out += "… [cut: " + std::to_string(whole) + " bytes in all]";
  return out;
}

std::string ReadableLine(std::string_view text, size_t limit) {
  std::string out;
  for (char c : Readable(text, limit)) {
    if (c == '\n' || c == '\t') c = ' ';
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string Scrub(std::string_view text, const std::vector<std::string>& private_words) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const bool windows = at + 9 < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) && EqualsAt(text, at + 1, ":\\Users\\");
    if (windows) {
      out += "~";
      at = NameEnd(text, at + 9);
      continue;
    }
    if (text.substr(at).starts_with("torchinductor_")) {  // Inductor's cache carries the user's name
      out += "torchinductor";
      at = NameEnd(text, at + 14);
      continue;
    }
    if (text[at] != '/') {
      out += text[at++];
      continue;
    }
    const bool starts_path = at == 0 || !IsPathCharacter(text[at - 1]);
    if (starts_path) {
      size_t end = at;
      while (end < text.size() && IsPathCharacter(text[end])) ++end;
      const size_t packages = text.substr(at, end - at).rfind("/site-packages/");
      if (packages != std::string_view::npos) {
        at += packages + 1;
        continue;
      }
    }
    const Replacement folder = PrivateFolder(text, at);
    if (folder.end != 0 && starts_path) {
      out += folder.text;
      at = folder.end;
    } else if (folder.end != 0 && !text.substr(at).starts_with("/root")) {
      out += "/<private>";  // such a folder below another
      at = folder.end;
    } else {
      out += text[at++];
    }
  }
  for (const std::string& word : private_words)
    if (word.size() >= 3) out = ReplaceWord(std::move(out), word);
  return out;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Decoded next = Decode(text);
    width += WidthOf(next.code);
    text.remove_prefix(next.length);
  }
  return width;
}

std::string FitWidth(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    const Decoded next = Decode(text);
    if (used + WidthOf(next.code) + 1 > width) break;
    used += WidthOf(next.code);
    out += text.substr(0, next.length);
    text.remove_prefix(next.length);
  }
  return width == 0 ? std::string() : out + "…";
}

std::string PadWidth(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::vector<std::string> WrapWords(std::string_view text, size_t width) {
  width = std::max<size_t>(width, 8);
  std::vector<std::string> lines(1);
  size_t used = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t space = rest.find(' ');
    std::string_view word = rest.substr(0, space);
    rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
    if (word.empty()) continue;
    size_t columns = DisplayWidth(word);
    if (used > 0 && used + 1 + columns > width) lines.emplace_back(), used = 0;
    if (used > 0) lines.back() += ' ', ++used;
    while (columns > width) {
      size_t taken = 0, bytes = 0;
      while (bytes < word.size()) {
        const Decoded next = Decode(word.substr(bytes));
        if (taken + WidthOf(next.code) > width) break;
        taken += WidthOf(next.code), bytes += next.length;
      }
      lines.back() += word.substr(0, bytes);
      lines.emplace_back();
      word.remove_prefix(bytes);
      columns -= taken;
    }
    lines.back() += word;
    used += columns;
  }
  return lines;
}

}  // namespace flce
