#include "harness/dispatch/zygote_engine.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <set>

namespace flce {
namespace {

constexpr int kDeathsUntilCold = 3;
/// While fresh processes run beside zygotes, both are looked at in turn.
constexpr double kColdPeriod = 0.05;

CellResult Interrupted(CellJob job) {
  CellResult result;
  result.interrupted = true;
  result.job = std::move(job);
  return result;
}

CellResult Collect(CellJob job, ProcessEnd end) {
  const CellFiles files(job.request.output_dir);
  ProcessResult none;
  end.stderr_tail = EndOf(none, files.err).stderr_tail;
  CellResult result;
  result.observation = CollectObservation(job, end);
  if (!job.keep_private) (void)RemoveTree(files.private_files);
  result.job = std::move(job);
  return result;
}

}  // namespace

ZygoteEngine::ZygoteEngine(ProcessHost& zygotes, ProcessHost& cells, ZygoteOptions options, Clock& clock)
    : host_(zygotes), options_(std::move(options)), clock_(clock), cold_(cells, options_.jobs) {
  options_.jobs = std::max(options_.jobs, 1);
  options_.zygotes = std::max(options_.zygotes, 1);
}

ZygoteEngine::~ZygoteEngine() {
  live_.clear();
  (void)host_.Wait(0);
  // What the zygotes printed stays as evidence; their caches do not.
  for (int i = 0; i < next_folder_; ++i) (void)RemoveTree(CellFiles(options_.scratch / std::to_string(i)).private_files);
}

void ZygoteEngine::Submit(CellJob job) {
  std::string key = ZygoteKey(job);
  queue_.push_back({std::move(job), std::move(key)});
}

size_t ZygoteEngine::CellsInZygotes() const {
  size_t count = 0;
  for (const auto& [key, live] : live_) count += live.cells.size();
  return count;
}

/// Cells that want a core: a control that sleeps until its deadline does not.
size_t ZygoteEngine::PlacesTaken() const {
  size_t count = cold_.Running();
  for (const auto& [key, live] : live_)
    for (const auto& [id, flight] : live.cells) count += flight.cell.job.sleeps ? 0 : 1;
  return count;
}

size_t ZygoteEngine::Running() const { return CellsInZygotes() + cold_.Running(); }
size_t ZygoteEngine::Unfinished() const { return queue_.size() + CellsInZygotes() + cold_.Unfinished(); }

void ZygoteEngine::RunCold(Waiting cell) {
  ++statistics_.cold_cells;
  cold_.Submit(std::move(cell.job));
}

/// A place for another zygote: one that has no cell left is closed. False if all are at work.
bool ZygoteEngine::MakeRoom() {
  if (live_.size() < static_cast<size_t>(options_.zygotes)) return true;
  std::set<std::string> wanted;
  for (const Waiting& cell : queue_) wanted.insert(cell.key);
  for (auto it = live_.begin(); it != live_.end(); ++it)
    if (it->second.cells.empty() && !wanted.count(it->first)) return live_.erase(it), true;
  return false;
}

bool ZygoteEngine::StartZygote(const std::string& key, const CellJob& like) {
  Result<Zygote> zygote = Zygote::Start(host_, like, options_.scratch / std::to_string(next_folder_++));
  if (!zygote) return false;
  ++statistics_.started;
  live_.emplace(key, Live{std::move(*zygote), false, clock_.Monotonic() + options_.start_s, {}, {}});
  return true;
}

void ZygoteEngine::SendCell(Live& live, Waiting cell, std::vector<CellResult>& ended) {
  const Status prepared = PrepareCellFolder(cell.job);
  Result<std::string> line = prepared ? ZygoteCellLine(cell.job) : Result<std::string>(prepared.error());
  if (!line) {
    ProcessEnd end;
    end.kind = ProcessEnd::Kind::kNotStarted;
    end.detail = line.error().message;
    return ended.push_back(Collect(std::move(cell.job), end));
  }
  (void)live.zygote.Send(*line);  // a zygote that is gone is found when it is read
  const std::string id = cell.job.request.cell_id;
  const double give_up_at = clock_.Monotonic() + cell.job.request.deadline_s + options_.grace_s;
  live.cells.insert_or_assign(id, InFlight{std::move(cell), give_up_at});
}

/// A device that no cell has come back from, and that a cell of this zygote waits for: another one would only wait too.
bool ZygoteEngine::IsWarming(const Live& live, const std::string& device) {
  if (live.warmed.count(device)) return false;
  return std::any_of(live.cells.begin(), live.cells.end(), [&](const auto& entry) { return entry.second.cell.job.request.profile_document == device; });
}

void ZygoteEngine::Fill(std::vector<CellResult>& ended) {
  // Warming a device takes one core, so the other places first go to other devices and to those that are warm.
  FillOnce(true, ended);
  FillOnce(false, ended);
}

void ZygoteEngine::FillOnce(bool spread, std::vector<CellResult>& ended) {
  const size_t jobs = static_cast<size_t>(options_.jobs);
  // The whole queue is looked at, so that the next zygote imports while the cells of this one fill every place.
  for (size_t i = 0; i < queue_.size();) {
    Waiting& cell = queue_[i];
    const auto take = [&] {
      Waiting taken = std::move(cell);
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      return taken;
    };
    const bool cold = cell.job.request.device.kind == DeviceKind::kCuda || cell.losses > 1 || deaths_[cell.key] >= kDeathsUntilCold;
    if (cold) {
      // A cell that waits in the cold engine would be run before its turn; it is handed over when there is a place.
      if (PlacesTaken() >= jobs) {
        ++i;
      } else {
        RunCold(take());
        for (CellResult& result : cold_.Wait(0)) ended.push_back(std::move(result));
      }
      continue;
    }
    const auto live = live_.find(cell.key);
    if (live == live_.end()) {
      if (!MakeRoom()) {
        ++i;
        continue;
      }
      if (!StartZygote(cell.key, cell.job)) deaths_[cell.key] = kDeathsUntilCold;
      continue;
    }
    if (!live->second.ready || (PlacesTaken() >= jobs && !cell.job.sleeps) || live->second.cells.count(cell.job.request.cell_id) ||
        (spread && IsWarming(live->second, cell.job.request.profile_document))) {
      ++i;
      continue;
    }
    SendCell(live->second, take(), ended);
  }
}

/// A zygote that is gone: its cells go back to the front of the queue.
void ZygoteEngine::Bury(const std::string& key) {
  auto node = live_.extract(key);
  if (node.empty()) return;
  ++statistics_.died;
  ++deaths_[key];
  for (auto& [id, flight] : node.mapped().cells) {
    ++flight.cell.losses;
    queue_.push_front(std::move(flight.cell));
  }
}

void ZygoteEngine::Handle(const std::string& key, Live& live, const std::string& line, std::vector<CellResult>& ended) {
  const ZygoteNews peek = ParseZygoteLine(line, 0);
  if (peek.kind == ZygoteNews::Kind::kReady) {
    live.ready = true;
    return;
  }
  if (peek.kind == ZygoteNews::Kind::kNotReady) {
    deaths_[key] = kDeathsUntilCold;
    return;
  }
  auto node = live.cells.extract(peek.cell_id);
  if (node.empty()) return;
  Waiting cell = std::move(node.mapped().cell);
  switch (peek.kind) {
    case ZygoteNews::Kind::kEnded: {
      live.warmed.insert(cell.job.request.profile_document);
      const ZygoteNews news = ParseZygoteLine(line, cell.job.memory_limit_bytes);
      if (news.cancelled) return ended.push_back(Interrupted(std::move(cell.job)));
      const bool killed = news.end.kind == ProcessEnd::Kind::kSignaled && news.end.code == SIGKILL && news.end.detail.empty();
      if (killed && cell.job.kills < kKillsForgiven) {
        ++cell.job.kills;
        return queue_.push_front(std::move(cell));
      }
      return ended.push_back(Collect(std::move(cell.job), news.end));
    }
    case ZygoteNews::Kind::kRefused:
    case ZygoteNews::Kind::kLost:
      return RunCold(std::move(cell));
    case ZygoteNews::Kind::kReady:
    case ZygoteNews::Kind::kNotReady:
    case ZygoteNews::Kind::kOther:
      live.cells.insert_or_assign(peek.cell_id, InFlight{std::move(cell), node.mapped().give_up_at});
  }
}

void ZygoteEngine::Read(const std::string& key, std::vector<CellResult>& ended) {
  const auto live = live_.find(key);
  if (live == live_.end()) return;
  bool closed = false;
  for (const std::string& line : live->second.zygote.ReadLines(closed)) Handle(key, live->second, line, ended);
  if (closed) Bury(key);
}

void ZygoteEngine::CheckDeadlines() {
  const double now = clock_.Monotonic();
  std::vector<std::string> silent;
  for (const auto& [key, live] : live_) {
    bool late = !live.ready && now > live.ready_by;
    for (const auto& [id, flight] : live.cells) late |= now > flight.give_up_at;
    if (late) silent.push_back(key);
  }
  for (const std::string& key : silent) Bury(key);
}

void ZygoteEngine::GiveBackAll(std::vector<CellResult>& ended) {
  for (Waiting& cell : queue_) ended.push_back(Interrupted(std::move(cell.job)));
  queue_.clear();
  for (auto& [key, live] : live_)
    for (auto& [id, flight] : live.cells) ended.push_back(Interrupted(std::move(flight.cell.job)));
  live_.clear();
}

std::vector<CellResult> ZygoteEngine::Wait(double wait_s) {
  std::vector<CellResult> ended;
  const double until = clock_.Monotonic() + wait_s;
  for (;;) {
    if (Interrupt::Requested()) GiveBackAll(ended);
    Fill(ended);
    if (cold_.Unfinished() > 0)
      for (CellResult& result : cold_.Wait(0)) ended.push_back(std::move(result));
    (void)host_.Wait(0);  // reaps zygotes that ended; their cells are known from the closed socket
    if (!ended.empty() || Unfinished() == 0) return ended;
    const double left = std::max(0.0, until - clock_.Monotonic());
    std::vector<std::string> keys;
    std::vector<pollfd> fds;
    for (const auto& [key, live] : live_) {
      keys.push_back(key);
      fds.push_back({live.zygote.descriptor(), POLLIN, 0});
    }
    if (Interrupt::Descriptor() >= 0) fds.push_back({Interrupt::Descriptor(), POLLIN, 0});
    const double slice = std::min(left, cold_.Unfinished() > 0 ? kColdPeriod : 1.0);
    (void)::poll(fds.data(), fds.size(), static_cast<int>(slice * 1000) + 1);
    for (size_t i = 0; i < keys.size(); ++i)
      if (fds[i].revents != 0) Read(keys[i], ended);
    CheckDeadlines();
    if (!ended.empty() || left <= 0) return ended;
  }
}

}  // namespace flce
