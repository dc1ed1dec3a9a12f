#include "reports/run_progress.h"

#include <algorithm>
#include <cmath>

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

/// What is only a guess, without decimals.
std::string RoughSeconds(double seconds) {
  const double whole = std::ceil(std::max(1.0, seconds));
  return whole < 60 ? std::to_string(static_cast<int>(whole)) + " s" : HumanSeconds(whole);
}

}  // namespace

RunProgress::RunProgress(Options options, Clock& clock, Sink sink)
    : options_(std::move(options)), clock_(clock), sink_(std::move(sink)) {}

RunProgress::~RunProgress() { Erase(); }

void RunProgress::PrintLine(const std::string& line) {
  if (options_.quiet) return;
  Erase();
  sink_(line + "\n");
}

void RunProgress::BeginRun(size_t cells, bool several_cases, const ReportOptions& texts) {
  several_cases_ = several_cases;
  cells_ = cells;
  texts_ = &texts;
  Draw(true);
}

std::string RunProgress::FetchText(const std::string& what, const Fetch& fetch, double now) const {
  std::string text = ReadableLine(what, 80) + ": " + ReadableLine(fetch.stage, 80);
  if (fetch.done == 0 && fetch.total == 0) return text + (now - fetch.begun >= 1 ? ", " + HumanSeconds(now - fetch.begun) : "");
  text += ", " + HumanBytes(fetch.done);
  if (fetch.total > 0) text += " of about " + HumanBytes(fetch.total);
  const double seconds = now - fetch.stage_begun;
  if (seconds >= 1 && fetch.done > 0) {
    const double rate = static_cast<double>(fetch.done) / seconds;
    text += ", " + HumanBytes(static_cast<uint64_t>(rate)) + "/s";
    if (fetch.total > fetch.done) text += ", " + RoughSeconds(static_cast<double>(fetch.total - fetch.done) / rate) + " left";
  }
  return text;
}

void RunProgress::Provisioning(const std::string& what, const std::string& stage, uint64_t done_bytes, uint64_t total_bytes) {
  const double now = clock_.Monotonic();
  const bool is_new = fetches_.count(what) == 0;
  Fetch& fetch = fetches_[what];
  if (is_new) fetch.begun = fetch.told = now;
  const bool next = fetch.stage != stage;
  if (next) fetch.stage_begun = now;
  fetch.stage = stage;
  fetch.done = done_bytes;
  fetch.total = total_bytes;
  fetch.peak = std::max(fetch.peak, done_bytes);
  if (options_.live) return Draw(false);
  if (!next && now - fetch.told < kLogInterval) return;
  fetch.told = now;
  PrintLine(FetchText(what, fetch, now));
}

void RunProgress::EndProvisioning(const std::string& what) {
  const auto it = fetches_.find(what);
  if (it == fetches_.end()) return;
  const std::string size = it->second.peak > 0 ? ", " + HumanBytes(it->second.peak) : "";
  PrintLine(ReadableLine(what, 80) + ": ready" + size + " in " + HumanSeconds(clock_.Monotonic() - it->second.begun));
  fetches_.erase(it);
  Draw(true);
}

void RunProgress::CellWaits(const std::string& id, const std::string& words) {
  if (cells_begun_ < 0) cells_begun_ = clock_.Monotonic();
  running_[id] = {ReadableLine(words, 120), "", 0, 0};
  Draw(false);
}

void RunProgress::CellStage(const std::string& id, const std::string& stage) {
  const auto it = running_.find(id);
  if (it == running_.end()) return;
  if (it->second.stage.empty()) it->second.begun = it->second.told = clock_.Monotonic();
  it->second.stage = ReadableLine(stage, 20);
}

void RunProgress::CellFinished(const CellRecord& cell) {
  running_.erase(cell.id);
  ++finished_;
  if (cell.origin == "ran" && cell.verdict.outcome != Outcome::kSkipped && cell.seconds > 0) ++ran_, last_finish_ = clock_.Monotonic();
  const Mark mark = MarkOf(cell, *texts_);
  ++labels_[mark.label];
  // A single cell's verdict is about to be printed in full.
  if (options_.quiet || cells_ <= 1) return;
  const Ink ink(options_.terminal.color);
  const bool unicode = options_.terminal.unicode;
  // In a matrix the block counts; only what a person should see at once gets a line on a terminal.
  if (!options_.live || cells_ <= 20 || NeedsAttention(cell) || options_.terminal.verbose) {
    const std::string number = PadWidth(std::to_string(finished_) + "/" + std::to_string(cells_), std::to_string(cells_).size() * 2 + 2);
    std::string text = mark.label + ": " + (several_cases_ ? cell.case_name + ", " : "") + CellWords(cell);
    if (cell.origin == "reused") {
      text += " (kept from before)";
    } else if (cell.seconds > 0) {
      text += ", " + HumanSeconds(cell.seconds);
    }
    if (NeedsAttention(cell) && cell.standing && *cell.standing != Standing::kUnlisted) text += " - " + StandingWords(cell);
    text = ReadableLine(text, 400);
    const size_t lead = DisplayWidth(number) + 3;
    if (options_.live) text = FitWidth(text, options_.terminal.width - std::min(options_.terminal.width, lead));
    PrintLine(number + PaintMark(mark, unicode ? mark.sign : mark.ascii_sign, 2, ink) + " " + text);
  }
  Draw(true);
}

void RunProgress::ControlFinished(const CellRecord& cell, const ControlRecord& control) {
  running_.erase(cell.id);
  ++finished_;
  if (!options_.quiet && (!options_.live || options_.terminal.verbose || !control.as_required)) {
    const std::string number = PadWidth(std::to_string(finished_) + "/" + std::to_string(cells_), std::to_string(cells_).size() * 2 + 2);
    const std::string how = control.as_required ? " as it must" : ": " + control.text;
    PrintLine(number + "   " + ReadableLine("control " + control.case_name + ": " + std::string(Text(control.outcome)) + how, 400));
  }
  Draw(true);
}

void RunProgress::Note(std::string_view line) {
  if (line.empty()) return;
  PrintLine(ReadableLine(line, 1000));
  Draw(true);
}

std::vector<std::string> RunProgress::Unfinished() const {
  std::vector<std::string> ids;
  for (const auto& [id, cell] : running_) ids.push_back(id);
  return ids;
}

void RunProgress::SetWidth(size_t columns) {
  if (columns != 0) options_.terminal.width = columns;
}

std::string RunProgress::TimeLeft(double now) const {
  // The first cells of a run warm caches: a guess from fewer than three would be worth nothing. Cells that nothing ran
  // for say nothing about the others. Between two cells the time runs down instead of growing.
  if (ran_ < 3 || finished_ >= cells_) return "";
  const double each = (last_finish_ - cells_begun_) / static_cast<double>(ran_);
  return "about " + RoughSeconds(each * static_cast<double>(cells_ - finished_) - (now - last_finish_)) + " left";
}

std::string RunProgress::Block(size_t& lines) const {
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
  size_t shown = 0, running = 0, waiting = 0;
  for (const auto& [id, cell] : running_) ++(cell.stage.empty() ? waiting : running);
  for (const auto& [id, cell] : running_) {
    if (cell.stage.empty() || ++shown > kMaxRunning) continue;
    add("  " + ink.Cyan(spin) + " " + PadWidth(cell.stage, 14), 18, cell.words + "  " + HumanSeconds(std::max(0.0, now - cell.begun)));
  }
  if (running > kMaxRunning) add("    ", 4, "and " + std::to_string(running - kMaxRunning) + " more");
  // No cell has begun: the processes are importing torch.
  if (running == 0 && waiting > 0) {
    const std::string words = waiting == 1 ? running_.begin()->second.words : std::to_string(waiting) + " cells wait for their first process";
    add("  " + ink.Cyan(spin) + " " + PadWidth("starting", 14), 18, words);
  }
  if (cells_ > 1) {
    std::string text = std::to_string(finished_) + "/" + std::to_string(cells_) + " cells";
    // The time first: on a narrow terminal the counts are cut.
    if (const std::string left = TimeLeft(now); !left.empty()) text += ", " + left;
    for (const auto& [label, count] : labels_) text += (label == labels_.begin()->first ? "  " : ", ") + label + ": " + std::to_string(count);
    add("  " + ink.Green(Bar(static_cast<double>(finished_) / static_cast<double>(cells_), 16, unicode)) + " ", 19, text);
  }
  return out;
}

void RunProgress::Erase() {
  if (block_lines_ == 0) return;
  sink_("\x1b[" + std::to_string(block_lines_) + "A\r\x1b[J");
  block_lines_ = 0;
}

void RunProgress::Draw(bool force) {
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

void RunProgress::Tick() {
  if (options_.live) return Draw(false);
  const double now = clock_.Monotonic();
  for (auto& [id, cell] : running_) {
    if (cell.stage.empty() || now - cell.told < kLogInterval) continue;
    cell.told = now;
    PrintLine("running " + cell.words + ": " + cell.stage + ", " + HumanSeconds(now - cell.begun));
  }
}

void RunProgress::Finish() {
  Erase();
  cells_ = 0;
  fetches_.clear();
  running_.clear();
}

}  // namespace flce
