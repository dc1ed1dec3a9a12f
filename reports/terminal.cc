#include "reports/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/text.h"
#include "reports/clean_text.h"
#include "reports/terminal_parts.h"

namespace flce {
namespace {

constexpr size_t kLabelWidth = 11;
constexpr size_t kMaxTextWidth = 110;  // longer lines tire the eye

std::string Asciify(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {{"—", "-"}, {"…", "..."}, {"·", "-"}, {"→", "->"}};
  for (const auto& [from, to] : kReplacements) text = ReplaceAll(std::move(text), from, to);
  return text;
}

std::string PaintVerdict(const CellRecord& cell, const Ink& ink) {
  const std::string words = VerdictWords(cell);
  if (IsFailure(cell.verdict.outcome)) return ink.Bold(ink.Red(words));
  if (IsInconclusive(cell.verdict.outcome)) return ink.Bold(ink.Yellow(words));
  return cell.verdict.outcome == Outcome::kSkipped ? ink.Bold(words) : ink.Bold(ink.Green(words));
}

std::string FrameText(const Frame& frame) {
  return frame.file + ":" + std::to_string(frame.line) + (frame.function.empty() ? "" : " in " + frame.function);
}

std::string VerboseText(const CellRecord& cell, const TerminalOptions& terminal, const Ink& ink) {
  std::string out;
  if (cell.exception) {
    out += "\n" + ink.Bold("  Exception chain") + "\n";
    for (const ExceptionLink& link : cell.exception->chain) {
      out += LabelledText(link.relation.empty() ? "raised" : link.relation, ReadableLine(link.type + ": " + FirstLine(link.message), 600), terminal);
      const size_t from = link.frames.size() > 4 ? link.frames.size() - 4 : 0;
      for (size_t i = from; i < link.frames.size(); ++i)
        out += std::string(kLabelWidth + 4, ' ') + ink.Dim(FitWidth(ReadableLine(FrameText(link.frames[i])), terminal.width - kLabelWidth - 5)) + "\n";
    }
    for (const Frame& frame : cell.exception->user_frames) out += LabelledText("user code", ReadableLine(FrameText(frame)), terminal);
  }
  if (cell.launches) {
    out += "\n" + ink.Bold("  Launches") + "\n";
    out += LabelledText("products", std::to_string(cell.launches->gemm_count), terminal);
    for (size_t i = 0; i < std::min<size_t>(cell.launches->gemms.size(), 8); ++i) {
      const GemmCall& g = cell.launches->gemms[i];
      out += LabelledText("", ReadableLine(g.api + " " + std::to_string(g.m) + "x" + std::to_string(g.n) + "x" + std::to_string(g.k) + " " + g.a + "," +
                                           g.b + " -> " + g.c + (g.accumulates ? ", accumulates" : "")), terminal);
    }
    out += LabelledText("kernels", std::to_string(cell.launches->kernel_count), terminal);
  }
  out += "\n" + ink.Bold("  Environment") + "\n";
  out += LabelledText("torch git", cell.torch_git, terminal);
  out += LabelledText("lock", cell.lock_sha256, terminal);
  out += LabelledText("evidence", ReadableLine(cell.folder), terminal);
  for (const auto& [name, ms] : cell.timings_ms) out += LabelledText("time", ReadableLine(name) + " " + HumanSeconds(ms / 1000), terminal);
  return out;
}

}  // namespace

std::string Ink::Wrap(const char* code, std::string_view text) const {
  if (!color_ || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

TerminalOptions DetectTerminal(bool is_terminal, size_t columns, const std::function<const char*(const char*)>& environment) {
  const auto value = [&](const char* name) {
    const char* text = environment(name);
    return std::string(text == nullptr ? "" : text);
  };
  TerminalOptions terminal;
  terminal.color = is_terminal && value("NO_COLOR").empty() && value("TERM") != "dumb";
  if (columns == 0) columns = static_cast<size_t>(std::max(0, std::atoi(value("COLUMNS").c_str())));
  terminal.width = std::clamp<size_t>(columns == 0 ? 100 : columns, 40, 240);
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = ToLower(value(name));
    if (locale.empty()) continue;
    terminal.unicode = locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    break;  // the first that is set decides
  }
  return terminal;
}

TerminalOptions DetectTerminal(int fd) {
  winsize size{};
  const bool is_terminal = isatty(fd) == 1;
  const size_t columns = is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
  return DetectTerminal(is_terminal, columns, [](const char* name) -> const char* { return std::getenv(name); });
}

std::string LabelledText(std::string_view label, std::string_view text, const TerminalOptions& terminal) {
  if (text.empty()) return "";
  const size_t indent = kLabelWidth + 3;
  std::string out;
  const size_t width = std::min(terminal.width > indent ? terminal.width - indent : 8, kMaxTextWidth);
  for (const std::string& line : WrapWords(text, width))
    out += (out.empty() ? "  " + Ink(terminal.color).Dim(PadWidth(label, kLabelWidth)) + " " : std::string(indent, ' ')) + line + "\n";
  return out;
}

std::string CellText(const CellRecord& cell, const ReportOptions& options, const TerminalOptions& terminal) {
  const Ink ink(terminal.color);
  const SignatureText signature = SignatureOf(cell.verdict.signature, options);
  const bool known = !cell.verdict.signature.empty();
  if (terminal.quiet)
    return PaintVerdict(cell, ink) + (known ? " " + signature.label : "") + ": " + ReadableLine(CellWords(cell)) + "\n";

  std::string out;
  std::string what = "PyTorch " + cell.torch;
  if (!cell.cuda.empty()) what += " (CUDA " + cell.cuda + ")";
  if (!cell.triton.empty()) what += ", Triton " + cell.triton;
  what += ", Liger " + cell.liger;
  if (!cell.python.empty()) what += ", Python " + cell.python;
  const auto info = options.cases.find(cell.case_name);
  out += LabelledText("case", ReadableLine(cell.case_name + (info == options.cases.end() || info->second.title.empty() ? "" : ": " + info->second.title) +
                                           (cell.shape ? ", shape " + Text(*cell.shape) : "") + (cell.seed ? ", seed " + std::to_string(*cell.seed) : "")), terminal);
  out += LabelledText("run on", ReadableLine(what), terminal);
  const std::string device = cell.device_name.empty() ? "a GPU" : cell.device_name;
  out += LabelledText("device", ReadableLine((cell.device_kind == DeviceKind::kEmulated ? "emulated " : "") + device + ", compute capability " + cell.capability), terminal);
  if (cell.fix != "none") out += LabelledText("fix", ReadableLine(cell.fix), terminal);

  const std::string failure = ReadableLine(FailureLine(cell), 1000);
  const std::string first = failure.empty() ? "" : " — " + failure;
  out += "\n";
  // The seed's own words, so that a person who knows them finds them and a script can look for them.
  const size_t result_width = std::min(terminal.width, kMaxTextWidth) - 8;
  std::vector<std::string> lines = WrapWords(VerdictWords(cell) + first, result_width);
  const std::string plain = VerdictWords(cell);
  if (lines[0].starts_with(plain)) lines[0] = PaintVerdict(cell, ink) + lines[0].substr(plain.size());
  for (const std::string& line : lines) out += (&line == &lines.front() ? ink.Bold("Result: ") : std::string(8, ' ')) + line + "\n";
  out += "\n";

  if (known) out += LabelledText("failure", signature.label + (signature.title == signature.label ? "" : ": " + signature.title), terminal);
  if (cell.exception && !cell.exception->target.empty())
    out += LabelledText("target", ReadableLine(cell.exception->target) + (cell.verdict.stage ? ", at the stage '" + std::string(Text(*cell.verdict.stage)) + "'" : ""), terminal);
  else if (cell.verdict.stage)
    out += LabelledText("stage", Text(*cell.verdict.stage), terminal);
  out += LabelledText("call site", ReadableLine(cell.call_site), terminal);
  if (known) out += LabelledText("known", signature.known_range, terminal);
  if (!known || cell.verdict.outcome != Outcome::kReproduced || terminal.verbose) out += LabelledText("why", ReadableLine(cell.verdict.explanation, 600), terminal);
  out += LabelledText("memory", MemoryWords(cell), terminal);
  out += LabelledText("time", TimeWords(cell), terminal);
  out += LabelledText("numbers", NumericsWords(cell), terminal);
  for (const Finding& finding : cell.verdict.findings)
    out += LabelledText("note", ReadableLine(finding.text, 400), terminal);
  out += LabelledText("evidence", EvidenceWords(cell), terminal);
  out += LabelledText("standing", StandingWords(cell) + (cell.expectation.empty() || !cell.standing ? "" : " (" + ReadableLine(cell.expectation) + ")"), terminal);
  if (known) {
    out += "\n" + LabelledText("what to do", signature.what_to_do, terminal);
    for (const std::string& link : signature.links) out += LabelledText("", link, terminal);
  }
  if (terminal.verbose) out += VerboseText(cell, terminal, ink);
  return out;
}

std::string RenderTerminal(const RunRecord& run, const ReportOptions& options, const TerminalOptions& terminal) {
  std::string out;
  if (run.cells.empty()) {
    out = "No cell was selected: nothing ran.\n";
  } else if (run.cells.size() == 1) {
    out = CellText(run.cells.front(), options, terminal);
  } else {
    out = MatrixText(run, options, terminal);
  }
  const std::string controls = ControlsWords(run);
  const bool wrong = std::any_of(run.controls.begin(), run.controls.end(), [](const ControlRecord& control) { return !control.as_required; });
  if (!controls.empty() && (!terminal.quiet || wrong)) out += LabelledText("controls", ReadableLine(controls, 600), terminal);
  if (!terminal.quiet && !options.report_path.empty())
    out += "\n  " + Ink(terminal.color).Dim(PadWidth("report", kLabelWidth)) + " " + options.report_path + "\n";
  return terminal.unicode ? out : Asciify(std::move(out));
}

}  // namespace flce
