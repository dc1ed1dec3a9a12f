#include "reports/progress.h"

#include <algorithm>

#include "harness/base/text.h"
#include "reports/clean_text.h"
#include "reports/terminal_parts.h"

namespace flce {
namespace {

constexpr double kRedraw = 0.1;       // seconds between two drawings
constexpr double kLogInterval = 15;   // seconds between two lines on one thing in a log
constexpr size_t kMaxRunning = 6;     // lines for running cells
constexpr const char* kSpinner[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
constexpr const char* kAsciiSpinner[] = {"|", "/", "-", "\\"};

std::string Bar(double share, size_t width, bool unicode) {
  const auto filled = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width) + 0.5);
  std::string bar;
  for (size_t i = 0; i < width; ++i) bar += i < filled ? (unicode ? "━" : "#") : (unicode ? "─" : ".");
  return bar;
}

}  // namespace

Progress::Progress(Options options, const ReportOptions& texts, Clock& clock, Sink sink)
    : options_(std::move(options)), texts_(texts), clock_(clock), sink_(std::move(sink)), begun_(clock.Monotonic()) {}

Progress::~Progress() { Erase(); }

void Progress::PrintLine(const std::string& line) {
  if (options_.quiet) return;
  Erase();
  sink_(line + "\n");
}

void Progress::BeginRun(size_t cells) {
  cells_ = cells;
  Draw(true);
}

std::string Progress::FetchText(const std::string& what, const Fetch& fetch, double now) const {
  std::string text = ReadableLine(what, 80) + "  " + HumanBytes(fetch.done);
  if (fetch.total > 0) text += " of " + HumanBytes(fetch.total);
  const double seconds = now - fetch.begun;
  if (seconds >= 1 && fetch.done > 0) {
    const double rate = static_cast<double>(fetch.done) / seconds;
    text += ", " + HumanBytes(static_cast<uint64_t>(rate)) + "/s";
    if (fetch.total > fetch.done) text += ", " + HumanSeconds(static_cast<double>(fetch.total - fetch.done) / rate) + " left";
  }
  return text;
}

void Progress::Provisioning(const std::string& what, uint64_t done_bytes, uint64_t total_bytes) {
  const double now = clock_.Monotonic();
  const bool is_new = fetches_.count(what) == 0;
  Fetch& fetch = fetches_[what];
  if (is_new) fetch.begun = fetch.told = now;
  fetch.done = done_bytes;
  fetch.total = total_bytes;
  if (total_bytes != 0 && done_bytes >= total_bytes) return EndProvisioning(what);
  if (options_.live) return Draw(false);
  if (is_new) {
    PrintLine("provisioning " + ReadableLine(what, 80));
  } else if (now - fetch.told >= kLogInterval) {
    fetch.told = now;
    PrintLine("provisioning " + FetchText(what, fetch, now));
  }
}

void Progress::EndProvisioning(const std::string& what) {
  const auto it = fetches_.find(what);
  if (it == fetches_.end()) return;
  const std::string size = it->second.done > 0 ? " (" + HumanBytes(it->second.done) + ")" : "";
  PrintLine("provisioned " + ReadableLine(what, 80) + size + " in " + HumanSeconds(clock_.Monotonic() - it->second.begun));
  fetches_.erase(it);
  Draw(true);
}

void Progress::CellStarted(const std::string& id, const std::string& words) {
  const double now = clock_.Monotonic();
  if (cells_begun_ < 0) cells_begun_ = now;
  running_[id] = {ReadableLine(words, 120), "starting", now, now};
  Draw(false);
}

void Progress::CellStage(const std::string& id, Stage stage) {
  const auto it = running_.find(id);
  if (it == running_.end()) return;
  it->second.stage = Text(stage);
  Draw(false);
}

void Progress::CellFinished(const CellRecord& cell) {
  running_.erase(cell.id);
  ++finished_;
  const Mark mark = MarkOf(cell, texts_);
  ++labels_[mark.label];
  if (options_.quiet) return;
  const Ink ink(options_.terminal.color);
  const bool unicode = options_.terminal.unicode;
  // In a matrix the block counts; only what a person should see at once gets a line on a terminal.
  if (!options_.live || cells_ <= 20 || NeedsAttention(cell) || options_.terminal.verbose) {
    const std::string number = std::to_string(finished_) + "/" + std::to_string(std::max(cells_, finished_));
    std::string line = PadWidth(number, std::to_string(cells_).size() * 2 + 2) + PaintMark(mark, unicode ? mark.sign : mark.ascii_sign, 2, ink) + " ";
    std::string text = mark.label + ": " + CellWords(cell);
    if (cell.origin == "reused") {
      text += " (kept from before)";
    } else {
      text += ", " + HumanSeconds(cell.seconds);
    }
    if (NeedsAttention(cell) && cell.standing && *cell.standing != Standing::kUnlisted) text += " - " + StandingWords(cell);
    text = ReadableLine(text, 400);
    if (options_.live) text = FitWidth(text, options_.terminal.width - std::min(options_.terminal.width, DisplayWidth(number) + 8));
    PrintLine(line + text);
  }
  Draw(true);
}

void Progress::Note(std::string_view line) {
  PrintLine(ReadableLine(line, 1000));
  Draw(true);
}

std::string Progress::TimeLeft(double now) const {
  // The first cells of a run warm caches: a guess from fewer than three would be worth nothing.
  if (finished_ < 3 || finished_ >= cells_ || cells_begun_ < 0) return "";
  const double each = (now - cells_begun_) / static_cast<double>(finished_);
  return HumanSeconds(std::max(1.0, each * static_cast<double>(cells_ - finished_))) + " left";
}

std::string Progress::Block(size_t& lines) const {
  const Ink ink(options_.terminal.color);
  const bool unicode = options_.terminal.unicode;
  const size_t width = options_.terminal.width - 1;  // the last column would wrap on some terminals
  const double now = clock_.Monotonic();
  const std::string spin = unicode ? kSpinner[frame_ % std::size(kSpinner)] : kAsciiSpinner[frame_ % std::size(kAsciiSpinner)];
  std::string out;
  const auto add = [&](const std::string& lead, size_t lead_width, const std::string& text) {
    out += lead + FitWidth(text, width > lead_width ? width - lead_width : 0) + "\n";
    ++lines;
  };
  for (const auto& [what, fetch] : fetches_) {
    if (fetch.total > 0) {
      add("  " + ink.Cyan(Bar(static_cast<double>(fetch.done) / static_cast<double>(fetch.total), 16, unicode)) + " ", 19, FetchText(what, fetch, now));
    } else {
      add("  " + ink.Cyan(spin) + " ", 4, FetchText(what, fetch, now));
    }
  }
  size_t shown = 0;
  for (const auto& [id, cell] : running_) {
    if (++shown > kMaxRunning) break;
    add("  " + ink.Cyan(spin) + " " + PadWidth(cell.stage, 14), 18, cell.words + "  " + HumanSeconds(std::max(0.0, now - cell.begun)));
  }
  if (running_.size() > kMaxRunning) add("    ", 4, "and " + std::to_string(running_.size() - kMaxRunning) + " more");
  if (cells_ > 1) {
    std::string text = std::to_string(finished_) + "/" + std::to_string(cells_) + " cells";
    for (const auto& [label, count] : labels_) text += ", " + std::to_string(count) + " " + label;
    const std::string left = TimeLeft(now);
    if (!left.empty()) text += ", " + left;
    add("  " + ink.Green(Bar(static_cast<double>(finished_) / static_cast<double>(cells_), 16, unicode)) + " ", 19, text);
  }
  return out;
}

void Progress::Erase() {
  if (block_lines_ == 0) return;
  sink_("\x1b[" + std::to_string(block_lines_) + "A\r\x1b[J");
  block_lines_ = 0;
}

void Progress::Draw(bool force) {
  if (!options_.live || options_.quiet) return;
  const double now = clock_.Monotonic();
  if (!force && drawn_ >= 0 && now - drawn_ < kRedraw) return;
  drawn_ = now;
  ++frame_;
  size_t lines = 0;
  const std::string block = Block(lines);
  // One write, so that no half of it is seen: erase, then the new block.
  const std::string erase = block_lines_ == 0 ? "" : "\x1b[" + std::to_string(block_lines_) + "A\r\x1b[J";
  if (!(erase.empty() && block.empty())) sink_(erase + block);
  block_lines_ = lines;
}

double Progress::Tick() {
  if (options_.live) {
    Draw(false);
    return kRedraw;
  }
  const double now = clock_.Monotonic();
  for (auto& [id, cell] : running_) {
    if (now - cell.told < kLogInterval) continue;
    cell.told = now;
    PrintLine("running " + cell.words + ": " + cell.stage + ", " + HumanSeconds(now - cell.begun));
  }
  return 1.0;
}

void Progress::Finish() {
  Erase();
  cells_ = 0;
  fetches_.clear();
  running_.clear();
}

}  // namespace flce
