#include "harness/dispatch/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr int kProtocolFormat = 1;

/// Lines are short; a peer that does not take one within this time is gone for our purposes.
constexpr int kSendTimeoutMs = 10000;

/// What a zygote and its cells agree on, from a whole request: Liger and what a fix makes of it are each cell's own.
Json SharedPart(const Json& request, size_t own_entries) {
  Json sys_path = Json::array();
  for (size_t i = own_entries; i < request["sys_path"].size(); ++i) sys_path.push_back(request["sys_path"][i]);
  const Json& fix = request["fix"];
  return {{"python", request["python"]}, {"sys_path", std::move(sys_path)}, {"fix", {{"hooks", fix["hooks"]}, {"python", fix["python"]}}}};
}

}  // namespace

std::string ZygoteKey(const CellJob& job) {
  std::vector<std::string> parts = {job.worker.string(), job.emulator.string(), job.stubs.string(), job.kept.string(),
                                    job.request.python.string(), job.request.fix.python};
  for (const ImportHook& hook : job.request.fix.hooks) parts.push_back(hook.module + "=" + hook.file.string());
  for (size_t i = job.request.own_entries; i < job.request.sys_path.size(); ++i) parts.push_back(job.request.sys_path[i].string());
  for (const auto& [name, value] : job.environment) parts.push_back(name + "=" + value);
  return Join(parts, "\n");
}

ZygoteNews ParseZygoteLine(std::string_view line, uint64_t memory_limit_bytes) {
  ZygoteNews news;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return news;
  const auto text = [&](const char* key) { return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string(); };
  news.cell_id = text("cell_id");
  if (json.contains("ready") && json["ready"].is_boolean()) {
    news.kind = json["ready"].get<bool>() ? ZygoteNews::Kind::kReady : ZygoteNews::Kind::kNotReady;
    news.why = text("error");
  } else if (news.cell_id.empty()) {
    return news;
  } else if (json.contains("refused")) {
    news.kind = ZygoteNews::Kind::kRefused;
    news.why = text("refused");
  } else if (json.contains("lost")) {
    news.kind = ZygoteNews::Kind::kLost;
    news.why = text("lost");
  } else if (json.contains("exit") && json["exit"].is_object()) {
    news.kind = ZygoteNews::Kind::kEnded;
    const Json& exit = json["exit"];
    const auto is = [&](const char* key) { return exit.contains(key) && exit[key].is_boolean() && exit[key].get<bool>(); };
    const auto number = [](const Json& object, const char* key) {
      return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0.0;
    };
    news.end.seconds = number(json, "seconds");
    news.end.max_rss_bytes = static_cast<uint64_t>(number(json, "max_rss_bytes"));
    if (is("timed_out")) {
      news.end.kind = ProcessEnd::Kind::kTimedOut;
    } else if (is("out_of_memory")) {
      news.end.kind = ProcessEnd::Kind::kSignaled;
      news.end.code = SIGKILL;
      news.end.detail = "stopped: it used more memory than its limit of " + HumanBytes(memory_limit_bytes);
    } else if (is("cancelled")) {
      news.cancelled = true;
    } else if (exit.contains("signal")) {
      news.end.kind = ProcessEnd::Kind::kSignaled;
      news.end.code = static_cast<int>(number(exit, "signal"));
    } else {
      news.end.code = static_cast<int>(number(exit, "code"));
    }
  }
  return news;
}

Result<std::string> ZygoteStartLine(const CellJob& job) {
  FLCE_TRY(const Json request, ToJson(job.request));
  return Json{{"format", kProtocolFormat}, {"start", SharedPart(request, job.request.own_entries)}}.dump();
}

Result<std::string> ZygoteCellLine(const CellJob& job) {
  FLCE_TRY(Json request, ToJson(job.request));
  FLCE_TRY(const auto variables, WorkerEnvironment(job));
  Json environment = Json::object();
  for (const char* name : {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TMPDIR", "HOME", "XDG_CACHE_HOME"}) environment[name] = *variables.at(name);
  request["environment"] = std::move(environment);
  if (job.memory_limit_bytes > 0) request["limits"]["memory_bytes"] = job.memory_limit_bytes;
  return request.dump();
}

Result<Zygote> Zygote::Start(ProcessHost& host, const CellJob& like, const fs::path& folder) {
  CellJob own = like;
  own.request.output_dir = folder;
  FLCE_TRY_DO(PrepareCellFolder(own));
  FLCE_TRY(ProcessOptions options, WorkerProcess(own));
  options.environment["FLCE_EMU_PROFILE"] = std::nullopt;  // profiles come with the cells
  options.deadline_s = 0;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{ErrorKind::kEnvironment, std::string("cannot create a socket: ") + std::strerror(errno)};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  options.argv = {own.worker.string(), "--serve", std::to_string(ends[1])};
  options.keep_fds = {ends[1]};
  Result<int> handle = host.Start(std::move(options));
  ::close(ends[1]);
  if (!handle) {
    ::close(ends[0]);
    return handle.error();
  }
  Zygote zygote(host, *handle, ends[0]);
  FLCE_TRY(const std::string start, ZygoteStartLine(own));
  (void)zygote.Send(start);  // if it is gone already, reading finds out
  return zygote;
}

Zygote::Zygote(Zygote&& other) noexcept
    : host_(other.host_), handle_(other.handle_), fd_(other.fd_), buffer_(std::move(other.buffer_)) {
  other.fd_ = -1;
}

Zygote::~Zygote() {
  if (fd_ < 0) return;
  ::close(fd_);
  host_->Stop(handle_);
}

bool Zygote::Send(const std::string& line) {
  std::string text = line + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      rest.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd wait{fd_, POLLOUT, 0};
      if (::poll(&wait, 1, kSendTimeoutMs) > 0) continue;
    }
    return false;
  }
  return true;
}

std::vector<std::string> Zygote::ReadLines(bool& closed) {
  char chunk[1 << 14];
  for (;;) {
    const ssize_t got = ::recv(fd_, chunk, sizeof chunk, 0);
    if (got > 0) {
      buffer_.append(chunk, static_cast<size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    closed = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    break;
  }
  std::vector<std::string> lines;
  size_t start = 0;
  for (size_t end; (end = buffer_.find('\n', start)) != std::string::npos; start = end + 1) lines.push_back(buffer_.substr(start, end - start));
  buffer_.erase(0, start);
  return lines;
}

}  // namespace flce
