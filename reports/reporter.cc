#include "reports/reporter.h"

#include "harness/model/json_reader.h"
#include "reports/github.h"
#include "reports/html.h"
#include "reports/junit.h"
#include "reports/markdown.h"
#include "reports/publishable.h"

namespace flce {

extern const std::string_view kReportSchemaText;

std::string_view ReportSchema() { return kReportSchemaText; }

std::string RenderRecord(const RunRecord& run) { return ToJson(run).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

namespace {
std::string RenderJson(const RunRecord& run, const ReportOptions& options) { return RenderRecord(Publishable(run, options.private_words)); }
}  // namespace

const std::vector<Reporter>& Reporters() {
  static const std::vector<Reporter> all = {
      {"json", "report.json", "the whole report, for programs", RenderJson},
      {"junit", "junit.xml", "JUnit XML for GitLab, Jenkins and GitHub viewers", RenderJunit},
      {"markdown", "report.md", "an issue comment", RenderMarkdown},
      {"html", "report.html", "a page to look at: heat maps, every cell in full", RenderHtml},
      {"github-summary", "summary.md", "the step summary of GitHub Actions", RenderGithubSummary},
      {"github-annotations", "annotations.txt", "annotations of GitHub Actions, for standard output", RenderGithubAnnotations},
  };
  return all;
}

const Reporter* FindReporter(std::string_view name) {
  for (const Reporter& reporter : Reporters())
    if (reporter.name == name) return &reporter;
  return nullptr;
}

}  // namespace flce
