#include "reports/publishable.h"

#include "reports/clean_text.h"

namespace flce {
namespace {

class Cleaner {
 public:
  explicit Cleaner(const std::vector<std::string>& private_words) : words_(private_words) {}

  void Clean(std::string& text) const {
    if (!text.empty()) text = Scrub(text, words_);
  }
  void Clean(std::vector<std::string>& texts) const {
    for (std::string& text : texts) Clean(text);
  }
  void Clean(std::vector<Frame>& frames) const {
    for (Frame& frame : frames) {
      Clean(frame.file);
      Clean(frame.code);
    }
  }
  void Clean(CellRecord& cell) const {
    for (std::string* text : {&cell.id, &cell.liger, &cell.call_site, &cell.expectation, &cell.verdict.explanation}) Clean(*text);
    for (Finding& finding : cell.verdict.findings) Clean(finding.text);
    if (cell.exception) {
      for (ExceptionLink& link : cell.exception->chain) {
        Clean(link.message);
        Clean(link.frames);
      }
      Clean(cell.exception->user_frames);
    }
    if (cell.numerics) Clean(cell.numerics->violations);
    for (MemoryBlock& block : cell.memory.top_blocks) Clean(block.frames);
  }

 private:
  const std::vector<std::string>& words_;
};

}  // namespace

RunRecord Publishable(RunRecord run, const std::vector<std::string>& private_words) {
  const Cleaner cleaner(private_words);
  cleaner.Clean(run.argv);
  for (auto& [name, value] : run.host) cleaner.Clean(value);
  for (CellRecord& cell : run.cells) cleaner.Clean(cell);
  for (ControlRecord& control : run.controls) cleaner.Clean(control.text);
  return run;
}

}  // namespace flce
