#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flce::worker {

/// Lines over a descriptor (a socket or a pipe pair's end). Owns and closes it.
class LineChannel {
 public:
  explicit LineChannel(int fd) : fd_(fd) {}
  LineChannel(LineChannel&& other) noexcept;
  LineChannel& operator=(LineChannel&& other) noexcept;
  ~LineChannel();

  int fd() const { return fd_; }
  /// One read, to be called when poll says readable: the whole lines that are there now, without line ends. A last
  /// line without a line end is dropped at the end of file.
  std::vector<std::string> Read();
  /// True once the other end is closed.
  bool ended() const { return ended_; }
  /// Writes the line and a line end; waits while the other end is slow. False if it is gone.
  bool Write(std::string_view line);
  void Close();

 private:
  int fd_ = -1;
  bool ended_ = false;
  std::string rest_;
};

}  // namespace flce::worker
