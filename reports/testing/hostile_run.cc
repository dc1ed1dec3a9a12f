#include <random>

#include "reports/testing/sample_run.h"

namespace flce::testing {
namespace {

constexpr std::string_view kPieces[] = {
    "</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "<!--", "-->", "]]>", "<![CDATA[",
    "&amp;&#0;&lt;", "\" onload=\"x", "'", "`", "```", "~~~", "|", "\\", "\n", "\r\n", "\r", "\t",
    "\x1b[31mred\x1b[0m", "\x1b]0;title\a", "\x9b" "31m", std::string_view("\0", 1), "\x01\x02\x08\x0b\x0c\x1f\x7f", "\xc2\x85\xc2\x9f",
    "\xe2\x80\xae" "gnp.exe" "\xe2\x80\xac", "\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8f\xd8\x9c", "\xe2\x80\xa8\xe2\x80\xa9", "\xef\xbb\xbf",
    "\xef\xbf\xbe\xef\xbf\xbf", "\xff\xfe", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f\x98",
    "日本語テキスト", "😀👩‍👩‍👧", "e\xcc\x81\xcc\x81\xcc\x81", "/home/alice/secret/x.py", "/Users/bob/Library/y.py", "C:\\Users\\carol\\z.py",
    "/tmp/torchinductor_dave/ab/c.py", "/root/.cache/torch", "@maintainer fixes #1", "[x](javascript:alert(1))", "::error file=a::b", "%0A%25",
    "{{template}}${x}", "<U+202E>", "\xef\xbf\xbd", "unsupported operand type(s) for *: 'torch.dtype' and 'FakeTensor'", " ", "a", "__proto__", "constructor"};

class Hostile {
 public:
  explicit Hostile(uint64_t seed) : random_(seed) {}

  std::string Text() {
    std::string text;
    const size_t kind = random_() % 120;
    const size_t count = 1 + random_() % 12;
    for (size_t i = 0; i < count; ++i) text += kPieces[random_() % std::size(kPieces)];
    if (kind == 0) text += std::string(1 << 20, "x<`&\xff"[random_() % 5]);  // a line of 1 MB
    if (kind >= 1 && kind <= 3)
      for (int i = 0; i < 3000; ++i) text += static_cast<char>(random_() % 256);
    return text;
  }
  Frame AFrame() { return {Text(), static_cast<int>(random_() % 1000) - 1, Text(), Text()}; }

 private:
  std::mt19937_64 random_;
};

}  // namespace

RunRecord HostileRun(uint64_t seed) {
  Hostile hostile(seed);
  RunRecord run = SampleRun();
  run.cells.clear();
  CellRecord cell = TierTwoCell();
  if (seed % 3 == 0) cell.verdict.outcome = Outcome::kUnexpected, cell.verdict.signature.clear(), cell.standing = Standing::kRegressed;
  for (ExceptionLink& link : cell.exception->chain) link = {hostile.Text(), hostile.Text(), link.relation, {hostile.AFrame()}};
  cell.exception->target = hostile.Text();
  cell.exception->user_frames = {hostile.AFrame()};
  cell.verdict.explanation = hostile.Text();
  cell.verdict.findings = {{"memory_budget", hostile.Text()}};
  cell.call_site = hostile.Text() + ":12";
  cell.device_name = hostile.Text();
  cell.expectation = hostile.Text();
  cell.memory.top_blocks = {{5, {hostile.AFrame()}}};
  cell.launches->kernels[hostile.Text()] = 1;
  cell.launches->gemms[0].api = hostile.Text();
  if (seed % 5 == 0) {
    cell.fix = hostile.Text();
    cell.liger = hostile.Text();
    cell.torch = hostile.Text();
    cell.case_name = hostile.Text();
    cell.id = hostile.Text();
  }
  run.cells.push_back(cell);
  cell.capability = "8.0";
  if (seed % 2 == 0) run.cells.push_back(cell);
  return run;
}

}  // namespace flce::testing
