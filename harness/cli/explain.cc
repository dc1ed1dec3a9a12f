#include "harness/cli/explain.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/classify/explain.h"
#include "harness/cli/locations.h"
#include "harness/cli/messages.h"

namespace flce {
namespace {

struct ExplainOptions {
  std::string log, json;
};

/// Whatever goes wrong before the log is read is "unreadable" to who asks about the log.
int CannotExplain(const Error& error) {
  PrintError(error);
  return static_cast<int>(ExplainExit::kUnreadable);
}

int RunExplain(const ExplainOptions& options) {
  const Result<Locations> locations = FindLocations();
  if (!locations) return CannotExplain(locations.error());
  const Result<SignatureBook> book = SignatureBook::Load(locations->cases() / "signatures.json");
  if (!book) return CannotExplain(book.error());
  const Result<LogExplanation> explanation = ExplainFile(book.value(), options.log);
  if (!explanation) return CannotExplain(explanation.error());
  const ExplainExit exit = ExitOf(explanation.value());
  if (exit == ExplainExit::kUnreadable) CannotExplain({ErrorKind::kData, options.log + ": " + explanation->unreadable});
  if (!options.json.empty()) {
    const std::string json = ExplanationJson(book.value(), explanation.value()).dump(2) + "\n";
    if (options.json == "-") {
      std::fputs(json.c_str(), stdout);
    } else if (const Status written = WriteFileAtomically(options.json, json); !written) {
      return CannotExplain(written.error());
    }
  }
  if (options.json != "-" && exit != ExplainExit::kUnreadable)
    std::fputs(ExplanationText(book.value(), explanation.value()).c_str(), stdout);
  return static_cast<int>(exit);
}

}  // namespace

void SetupExplain(CLI::App& app, Command& chosen) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* sub = app.add_subcommand("explain", "say which failure a log or a pasted traceback shows, and what to do about it");
  sub->add_option("LOG", options->log, "a file, or - for standard input")->required();
  sub->add_option("--json", options->json, "write the explanation as JSON (- is standard output)")->type_name("F");
  sub->footer("Exit codes: 0 a known signature, 1 a failure of no known signature, 2 unreadable, 5 no failure found.");
  sub->callback([&chosen, options] { chosen = [options](const std::vector<std::string>&) { return RunExplain(*options); }; });
}

}  // namespace flce
