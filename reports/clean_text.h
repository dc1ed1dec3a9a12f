#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Texts of exceptions come from anywhere. These functions make them safe to show: what a terminal, a browser or a
/// reader's eye would act on becomes visible text.
namespace flce {

/// Valid UTF-8 without escape sequences; control characters and bidirectional controls become visible ("<U+202E>"), a
/// carriage return a line end. Line ends and tabs stay. At most `limit` bytes, with a note of what is gone.
std::string Readable(std::string_view text, size_t limit = 16 * 1024);

/// The same on one line: line ends and tabs become spaces, runs of spaces one.
std::string ReadableLine(std::string_view text, size_t limit = 300);

/// Removes what names a person or a machine: home folders become "~", temporary folders "<tmp>", what lies before
/// site-packages goes, and each of `private_words` (whole words, three letters or more) becomes "<private>".
std::string Scrub(std::string_view text, const std::vector<std::string>& private_words);

/// Columns of a terminal that `text` (valid UTF-8, no control characters) takes.
size_t DisplayWidth(std::string_view text);
/// Cut to `width` columns, with "…" when cut; never longer.
std::string FitWidth(std::string_view text, size_t width);
/// `text` followed by spaces up to `width` columns.
std::string PadWidth(std::string_view text, size_t width);
/// Words wrapped to `width` columns; a longer word is cut into pieces. At least one line.
std::vector<std::string> WrapWords(std::string_view text, size_t width);

}  // namespace flce
