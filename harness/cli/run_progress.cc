#include "harness/cli/run_progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr const char* kSpinner[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};

/// The stage that a worker last began, from its progress file.
std::string StageOf(const fs::path& folder) {
  const std::string tail = ReadTail(folder / "progress.ndjson", 512);
  const std::vector<std::string_view> lines = Lines(tail);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const Result<Json> json = ParseJson(*line, "progress");
    if (json && json->is_object() && json->contains("stage") && (*json)["stage"].is_string()) return (*json)["stage"].get<std::string>();
  }
  return "starting";
}

/// Characters, counting a multi-byte one once: widths of the line's signs are all one.
std::string CutToWidth(const std::string& text, size_t width) {
  size_t shown = 0, i = 0;
  for (; i < text.size() && shown < width; ++shown) {
    ++i;
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) ++i;
  }
  return text.substr(0, i);
}

}  // namespace

RunProgress::RunProgress(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") terminal_ = false;
  winsize size{};
  if (terminal_ && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) width_ = size.ws_col;
  started_ = SystemClock().Monotonic();
}

RunProgress::~RunProgress() { Clear(); }

void RunProgress::Note(const std::string& text) {
  if (quiet_ || text.empty()) return;
  Clear();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void RunProgress::Provisioning(const Progress& step) {
  provisioning_ = step.subject + ": " + step.stage;
  if (step.stage == "ready") provisioning_.clear();
  if (!terminal_ && !quiet_ && !provisioning_.empty() && provisioning_ != last_logged_) {
    last_logged_ = provisioning_;
    std::fprintf(stderr, "%s\n", provisioning_.c_str());
  }
  if (step.total > 0 && !provisioning_.empty()) {
    provisioning_ += ", " + HumanBytes(step.done) + " of about " + HumanBytes(step.total);
  } else if (step.done > 0 && !provisioning_.empty()) {
    provisioning_ += ", " + HumanBytes(step.done);
  }
  Tick();
}

void RunProgress::Start(size_t cells) {
  total_ = cells;
  started_ = SystemClock().Monotonic();
}

void RunProgress::Begun(const Cell& cell, const fs::path& folder) { running_[cell.Id()] = folder; }

void RunProgress::Ended(const CellRecord& record) {
  running_.erase(record.id);
  ++done_;
  ++outcomes_[std::string(Text(record.verdict.outcome))];
  if (total_ > 1 && !terminal_ && !quiet_)
    std::fprintf(stderr, "[%zu/%zu] %s: %s%s%s (%s)\n", done_, total_, record.id.c_str(), std::string(Text(record.verdict.outcome)).c_str(),
                 record.verdict.signature.empty() ? "" : " ", record.verdict.signature.c_str(),
                 record.origin == "ran" ? HumanSeconds(record.seconds).c_str() : record.origin.c_str());
  drawn_at_ = -1;
}

std::string RunProgress::StatusLine() const {
  const double now = SystemClock().Monotonic(), elapsed = now - started_;
  std::string line = kSpinner[static_cast<size_t>(now * 10) % std::size(kSpinner)];
  if (total_ > 1) {
    constexpr size_t kBar = 20;
    const size_t full = total_ == 0 ? 0 : done_ * kBar / total_;
    line += " ";
    for (size_t i = 0; i < kBar; ++i) line += i < full ? "█" : "░";
    line += " " + std::to_string(done_) + "/" + std::to_string(total_);
    if (done_ > 0 && done_ < total_) line += ", about " + HumanSeconds(elapsed / static_cast<double>(done_) * static_cast<double>(total_ - done_)) + " left";
    for (const auto& [outcome, count] : outcomes_) line += "  " + std::to_string(count) + " " + outcome;
  }
  if (!provisioning_.empty()) line += "  " + provisioning_;
  if (!running_.empty()) {
    const auto& [id, folder] = *running_.begin();
    line += "  " + id + ": " + StageOf(folder);
    if (total_ == 1) line += ", " + HumanSeconds(elapsed);
  }
  return line;
}

void RunProgress::Tick() {
  if (quiet_ || !terminal_) return;
  const double now = SystemClock().Monotonic();
  if (drawn_at_ >= 0 && now - drawn_at_ < kRedrawSeconds) return;
  drawn_at_ = now;
  Draw(StatusLine());
}

void RunProgress::Finish() { Clear(); }

void RunProgress::Draw(const std::string& line) {
  std::fprintf(stderr, "\r\x1b[2K%s", CutToWidth(line, width_ - 1).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void RunProgress::Clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace flce
