// A worker without Python, for tests of the engines: it speaks both contracts of flce-worker (--request FILE and
// --serve FD) and does what the case's parameter "behaviour" says: good, crash, hang, leave, or kill_zygote (the process
// that serves dies under its cells, as often as the file named by "until" holds no more bytes than "times").
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

#include "harness/base/files.h"
#include "harness/model/json_reader.h"

namespace {

using flce::Json;

int RunCell(const Json& request) {
  const flce::fs::path folder = request["output_dir"].get<std::string>();
  const std::string behaviour = request["case"]["parameters"].value("behaviour", "good");
  std::ofstream(folder / "progress.ndjson") << "{\"stage\":\"import\",\"t\":0}\n{\"stage\":\"eager\",\"t\":1}\n" << std::flush;
  if (behaviour == "crash") ::raise(SIGSEGV);
  if (behaviour == "leave") return 7;
  while (behaviour == "hang") ::pause();
  const Json observation = {{"format", 1}, {"cell_id", request["cell_id"]}, {"case", request["case"]["name"]}, {"complete", true},
                            {"versions", {{"python", "fake"}}}, {"stages", {"import", "eager"}}};
  return flce::WriteFileAtomically(folder / "observation.json", observation.dump()).ok() ? 0 : 1;
}

void Say(int fd, const Json& line) {
  const std::string text = line.dump() + "\n";
  (void)!::write(fd, text.data(), text.size());
}

/// True if the zygote is to die for this cell: the first "times" tries.
bool DiesFor(const Json& request) {
  const Json& parameters = request["case"]["parameters"];
  if (parameters.value("behaviour", "") != "kill_zygote") return false;
  const std::string file = parameters["until"].get<std::string>();
  std::ofstream(file, std::ios::app) << "x" << std::flush;
  return flce::ReadFile(file)->size() <= parameters["times"].get<size_t>();
}

void ReportEnd(int fd, const std::string& id, int status, bool late) {
  Json exit = late ? Json{{"timed_out", true}} : WIFSIGNALED(status) ? Json{{"signal", WTERMSIG(status)}} : Json{{"code", WEXITSTATUS(status)}};
  Say(fd, {{"cell_id", id}, {"exit", exit}, {"seconds", 0.5}, {"max_rss_bytes", 1000}});
}

int Serve(int fd) {
  std::string buffer;
  std::map<pid_t, std::string> cells;
  std::map<pid_t, int> patience;  // rounds left until the deadline
  bool started = false;
  for (;;) {
    pollfd wait{fd, POLLIN, 0};
    if (::poll(&wait, 1, 2) > 0) {
      char chunk[1 << 16];
      const ssize_t got = ::read(fd, chunk, sizeof chunk);
      if (got <= 0) break;
      buffer.append(chunk, static_cast<size_t>(got));
    }
    for (size_t end; (end = buffer.find('\n')) != std::string::npos;) {
      const Json line = Json::parse(buffer.substr(0, end));
      buffer.erase(0, end + 1);
      if (!started) {
        started = true;
        const bool imports = line["start"]["fix"]["python"] != "does-not-import";
        Say(fd, {{"ready", imports}, {"pid", ::getpid()}, {"error", "no module"}});
        if (!imports) return 3;
        continue;
      }
      if (DiesFor(line)) ::raise(SIGKILL);
      const pid_t child = ::fork();
      if (child == 0) ::_exit(RunCell(line));
      cells[child] = line["cell_id"].get<std::string>();
      patience[child] = static_cast<int>(line["limits"]["deadline_s"].get<double>() * 500);
    }
    for (auto& [pid, left] : patience)
      if (--left <= 0) ::kill(pid, SIGKILL);
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      ReportEnd(fd, cells[pid], status, patience[pid] <= 0);
      patience.erase(pid);
    }
  }
  for (const auto& [pid, left] : patience) ::kill(pid, SIGKILL);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (std::string(argv[1]) == "--serve") return Serve(std::stoi(argv[2]));
  return RunCell(Json::parse(*flce::ReadFile(argv[2])));
}
