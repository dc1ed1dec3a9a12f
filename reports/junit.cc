#include "reports/junit.h"

#include <algorithm>
#include <cstdio>

#include "harness/base/text.h"
#include "reports/clean_text.h"
#include "reports/words.h"

namespace flce {
namespace {

struct TestResult {
  enum class Kind { kPassed, kSkipped, kFailed, kError };
  Kind kind = Kind::kPassed;
  std::string type, message;
};

TestResult ResultOf(const CellRecord& cell, const ReportOptions& options) {
  const Mark mark = MarkOf(cell, options);
  const Outcome outcome = cell.verdict.outcome;
  const std::string type = "flce." + std::string(Text(outcome));
  std::string what = VerdictWords(cell);
  if (mark.mark_class == MarkClass::kSignature) what += " " + mark.label;
  const std::string line = cell.exception ? FailureLine(cell) : cell.verdict.explanation;
  if (!line.empty()) what += ": " + line;
  const bool bad = IsFailure(outcome) || IsInconclusive(outcome);
  if (cell.standing == Standing::kImproved) return {TestResult::Kind::kFailed, "flce.xpass", "XPASS: better than expected, update the expectations. " + what};
  if (cell.standing == Standing::kExpected && bad) return {TestResult::Kind::kSkipped, "flce.xfail", "XFAIL: " + what};
  if (outcome == Outcome::kSkipped) return {TestResult::Kind::kSkipped, "flce.skipped", what};
  if (IsInconclusive(outcome)) return {TestResult::Kind::kError, type, what};
  if (cell.standing == Standing::kRegressed || cell.standing == Standing::kChanged) return {TestResult::Kind::kFailed, type, StandingWords(cell) + ". " + what};
  if (IsFailure(outcome)) return {TestResult::Kind::kFailed, type, what};
  return {};
}

std::string Seconds(double seconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f", seconds < 0 ? 0 : seconds);
  return buffer;
}

std::string Details(const CellRecord& cell) {
  std::string text;
  const auto add = [&](const char* label, const std::string& value) {
    if (!value.empty()) text += std::string(label) + ": " + value + "\n";
  };
  add("cell", cell.id);
  add("verdict", VerdictWords(cell));
  add("signature", cell.verdict.signature);
  add("why", cell.verdict.explanation);
  add("stage", cell.verdict.stage ? std::string(Text(*cell.verdict.stage)) : "");
  add("call site", cell.call_site);
  add("target", cell.exception ? cell.exception->target : "");
  add("fingerprint", cell.verdict.fingerprint);
  add("memory", MemoryWords(cell));
  add("numbers", NumericsWords(cell));
  for (const Finding& finding : cell.verdict.findings) add("note", finding.text);
  add("evidence", EvidenceWords(cell));
  add("expectation", cell.expectation);
  if (cell.exception)
    for (const ExceptionLink& link : cell.exception->chain) add(link.relation.c_str(), link.type + ": " + Readable(link.message, 4000));
  return text;
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      case '\n': out += "&#10;"; break;
      case '\t': out += "&#9;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string RenderJunit(const RunRecord& run, const ReportOptions& options) {
  // Readable() has made control characters visible before anything is escaped, so no section needs CDATA.
  const auto line = [&](std::string_view text, size_t limit = 500) { return XmlText(Scrub(ReadableLine(text, limit), options.private_words)); };
  const auto block = [&](std::string_view text) {
    return ReplaceAll(XmlText(Scrub(Readable(text, 12 * 1024), options.private_words)), "&#10;", "\n");
  };
  struct Counts {
    size_t tests = 0, failures = 0, errors = 0, skipped = 0;
    double seconds = 0;
  };
  const auto attributes = [](const Counts& c) {
    return " tests=\"" + std::to_string(c.tests) + "\" failures=\"" + std::to_string(c.failures) + "\" errors=\"" + std::to_string(c.errors) +
           "\" skipped=\"" + std::to_string(c.skipped) + "\" time=\"" + Seconds(c.seconds) + "\"";
  };
  Counts all;
  std::string suites;
  for (const std::string& case_name : CaseNames(run)) {
    Counts counts;
    std::string tests;
    for (const CellRecord& cell : run.cells) {
      if (cell.case_name != case_name) continue;
      const TestResult result = ResultOf(cell, options);
      ++counts.tests;
      counts.seconds += std::max(0.0, cell.seconds);
      tests += "    <testcase classname=\"" + line(cell.case_name + "." + (cell.fix.empty() ? "none" : cell.fix)) + "\" name=\"" + line(CellWords(cell)) + "\" time=\"" +
               Seconds(cell.seconds) + "\">\n";
      const std::string body = " type=\"" + line(result.type) + "\" message=\"" + line(result.message) + "\"";
      switch (result.kind) {
        case TestResult::Kind::kPassed:
          break;
        case TestResult::Kind::kSkipped:
          ++counts.skipped;
          tests += "      <skipped" + body + "/>\n";
          break;
        case TestResult::Kind::kFailed:
          ++counts.failures;
          tests += "      <failure" + body + ">" + block(Details(cell)) + "</failure>\n";
          break;
        case TestResult::Kind::kError:
          ++counts.errors;
          tests += "      <error" + body + ">" + block(Details(cell)) + "</error>\n";
          break;
      }
      if (result.kind == TestResult::Kind::kPassed || result.kind == TestResult::Kind::kSkipped)
        tests += "      <system-out>" + block(Details(cell)) + "</system-out>\n";
      tests += "    </testcase>\n";
    }
    suites += "  <testsuite name=\"" + line(case_name) + "\"" + attributes(counts) + " timestamp=\"" + line(ReplaceAll(run.started, "Z", "")) + "\">\n" + tests + "  </testsuite>\n";
    all.tests += counts.tests, all.failures += counts.failures, all.errors += counts.errors, all.skipped += counts.skipped, all.seconds += counts.seconds;
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"flce-repro\"" + attributes(all) + ">\n" + suites + "</testsuites>\n";
}

}  // namespace flce
