#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model/observation.h"

namespace flce {

/// A frame as pytest prints it: "path/file.py:249: in function", "path/file.py:249: " or, last, "path/file.py:249: TypeError".
/// `is_end` says that it is the last. Its function may be unknown ("").
bool ReadPytestFrame(std::string_view line, Frame& frame, bool& is_end);

/// The frames of the pytest report that `recent`, the end of a log, ends in: those since the last heading or exception.
std::vector<Frame> PytestFramesIn(std::string_view recent);

/// What stands on a line of a box, without the borders: "│ text │" or, where the terminal knows no such signs, "| text |".
struct BoxLine {
  enum class Kind { kNone, kTop, kText, kBottom };
  Kind kind = Kind::kNone;
  std::string_view text;
  size_t width = 0;  ///< of the whole box, in characters
};
BoxLine ReadBoxLine(std::string_view line);

/// Reads the frames out of the text of a traceback in a box (rich, Typer): "path/file.py:249 in function". What is too long
/// for the box goes on in the next line, anywhere.
class BoxedFrames {
 public:
  /// The frame that `text` ends, if it does.
  std::optional<Frame> Feed(std::string_view text);

 private:
  std::string pending_;
};

/// True if `next` is where a printer of `width` characters went on with `line`: its first word had no room there.
bool IsWrapped(std::string_view line, std::string_view next, size_t width);

}  // namespace flce
