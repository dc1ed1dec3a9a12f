#include "harness/worker/line_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace flce::worker {

LineChannel::LineChannel(LineChannel&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), ended_(other.ended_), rest_(std::move(other.rest_)) {}

LineChannel& LineChannel::operator=(LineChannel&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
    ended_ = other.ended_;
    rest_ = std::move(other.rest_);
  }
  return *this;
}

LineChannel::~LineChannel() { Close(); }

void LineChannel::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::vector<std::string> LineChannel::Read() {
  char buffer[65536];
  ssize_t count = read(fd_, buffer, sizeof buffer);
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) ended_ = true;
  if (count > 0) rest_.append(buffer, static_cast<size_t>(count));
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (end > begin) lines.push_back(rest_.substr(begin, end - begin));
  }
  rest_.erase(0, begin);
  return lines;
}

bool LineChannel::Write(std::string_view line) {
  std::string text(line);
  text += '\n';
  for (size_t done = 0; done < text.size();) {
    // MSG_NOSIGNAL: a driver that is gone is an answer, not a signal. A pipe is no socket and needs write().
    ssize_t count = send(fd_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == ENOTSOCK) count = write(fd_, text.data() + done, text.size() - done);
    if (count >= 0) {
      done += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      pollfd wait{fd_, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace flce::worker
