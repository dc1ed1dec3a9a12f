#include "reports/github.h"

#include "harness/base/text.h"
#include "reports/clean_text.h"
#include "reports/markdown.h"
#include "reports/words.h"

namespace flce {
namespace {

std::string EscapeData(std::string text) {
  text = ReplaceAll(std::move(text), "%", "%25");
  text = ReplaceAll(std::move(text), "\r", "%0D");
  return ReplaceAll(std::move(text), "\n", "%0A");
}
std::string EscapeProperty(std::string text) {
  return ReplaceAll(ReplaceAll(EscapeData(std::move(text)), ":", "%3A"), ",", "%2C");
}

struct Annotations {
  const char* kind;
  std::string text;
  size_t count = 0;
};

bool IsError(const CellRecord& cell) {
  if (IsInconclusive(cell.verdict.outcome)) return false;
  return cell.standing != Standing::kChanged && cell.standing != Standing::kImproved;
}

}  // namespace

std::string RenderGithubAnnotations(const RunRecord& run, const ReportOptions& options) {
  const auto line = [&](std::string_view text, size_t limit) { return Scrub(ReadableLine(text, limit), options.private_words); };
  size_t errors = 0, warnings = 0;
  for (const CellRecord& cell : run.cells)
    if (NeedsAttention(cell)) ++(IsError(cell) ? errors : warnings);
  Annotations kinds[] = {{"error", "", errors}, {"warning", "", warnings}};
  size_t shown[] = {0, 0};
  for (const CellRecord& cell : run.cells) {
    if (!NeedsAttention(cell)) continue;
    const size_t kind = IsError(cell) ? 0 : 1;
    const bool all_fit = kinds[kind].count <= kAnnotationLimit;
    if (shown[kind] >= kAnnotationLimit - (all_fit ? 0 : 1)) continue;
    ++shown[kind];
    std::string properties;
    const size_t colon = cell.call_site.rfind(':');
    if (colon != std::string::npos) {
      properties = " file=" + EscapeProperty(options.annotation_prefix + line(cell.call_site.substr(0, colon), 200));
      const std::string number = cell.call_site.substr(colon + 1);
      if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) properties += ",line=" + number;
      properties += ",";
    } else {
      properties = " ";
    }
    const std::string failure = cell.exception ? FailureLine(cell) : cell.verdict.explanation;
    const std::string standing = StandingWords(cell);
    kinds[kind].text += "::" + std::string(kinds[kind].kind) + properties + "title=" + EscapeProperty("flce-repro: " + VerdictWords(cell)) + "::" +
                        EscapeData(line(CellWords(cell) + (standing.empty() ? "" : " — " + standing) + (failure.empty() ? "" : " — " + failure), 1000)) + "\n";
  }
  std::string out;
  for (size_t kind = 0; kind < 2; ++kind) {
    out += kinds[kind].text;
    if (kinds[kind].count > shown[kind])
      out += "::" + std::string(kinds[kind].kind) + " title=flce-repro::" + std::to_string(kinds[kind].count - shown[kind]) + " more cells need attention: see the step summary\n";
  }
  return out + "::notice title=flce-repro::" + EscapeData(line(Headline(run, options), 1000)) + "\n";
}

std::string RenderGithubSummary(const RunRecord& run, const ReportOptions& options) { return RenderMarkdown(run, options, kStepSummaryLimit); }

}  // namespace flce
