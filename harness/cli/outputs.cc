#include "harness/cli/outputs.h"

#include <pwd.h>
#include <re2/re2.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <tuple>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"
#include "reports/github.h"
#include "reports/reporter.h"
#include "reports/terminal.h"

namespace flce {
namespace {

struct Format {
  const char* name;
  std::string OutputFiles::*file;
};
constexpr std::array<Format, 4> kFormats = {Format{"json", &OutputFiles::json}, Format{"junit", &OutputFiles::junit},
                                            Format{"markdown", &OutputFiles::markdown}, Format{"html", &OutputFiles::html}};

bool UsesStandardOutput(const OutputFiles& files) {
  for (const Format& format : kFormats)
    if (files.*format.file == "-") return true;
  return false;
}

/// Names that must not stand in what is made to be shown to others.
std::vector<std::string> PrivateWords() {
  std::vector<std::string> words;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0') words.emplace_back(host.data());
  if (const passwd* user = ::getpwuid(::getuid()); user != nullptr && std::string_view(user->pw_name) != "root") words.emplace_back(user->pw_name);
  return words;
}

/// What a family is called in a sentence, and its sign in a matrix.
std::pair<std::string, std::string> Short(Family family) {
  switch (family) {
    case Family::kTier1:
      return {"Tier 1", "1"};
    case Family::kTier2:
      return {"Tier 2", "2"};
    case Family::kSibling:
      return {"Sibling", "S"};
    case Family::kEager:
      return {"Eager failure", "E"};
    case Family::kEnvironment:
      return {"Environment", "!"};
    case Family::kOutOfMemory:
      return {"Out of memory", "M"};
    case Family::kUnsupported:
      return {"Unsupported", "U"};
    case Family::kOtherCompile:
      return {"Other compile failure", "C"};
  }
  return {"", ""};
}

Status Emit(const std::string& file, const std::string& text) {
  if (file != "-") return WriteFileAtomically(file, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return Error{ErrorKind::kIo, "cannot write to standard output"};
  return Done{};
}

}  // namespace

ReportOptions MakeReportOptions(const Locations& at, const RunData& data, const RunRecord& run) {
  ReportOptions options;
  for (const Signature& signature : data.signatures.signatures()) {
    SignatureText text;
    std::tie(text.label, text.mark) = Short(signature.family);
    // "Tier 2: addmm ..." in the data; the writers put the label in front themselves.
    const std::string lead = text.label + ": ";
    text.title = signature.title.rfind(lead, 0) == 0 ? signature.title.substr(lead.size()) : signature.title;
    text.known_range = signature.known;
    text.what_to_do = signature.what_to_do;
    text.links = signature.links;
    for (const Clause& clause : signature.required)
      if (clause.message) text.proof.push_back(clause.message->pattern());
    options.signatures[signature.id] = std::move(text);
  }
  for (const CaseFile& file : data.cases.cases()) {
    CaseInfo info;
    info.title = file.title;
    info.module = file.module;
    info.shape = file.shape;
    if (const Result<Json> json = ParseJson(file.document, file.name)) {
      info.parameters_json = json->value("parameters", Json::object()).dump();
      info.compile_json = json->value("compile", Json::object()).dump();
    }
    options.cases[file.name] = std::move(info);
  }
  if (const Result<std::vector<FixDescription>> fixes = LoadFixes(at.cases())) {
    for (const FixDescription& fix : *fixes)
      for (const fs::path& file : fix.files)
        if (const Result<std::string> text = ReadFile(file)) options.fix_patches[fix.name] += *text;
  }
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(at.state / "envs", ignored)) {
    const Result<std::string> lock = ReadFile(entry.path() / "lock.json");
    const Result<std::string> requirements = ReadFile(entry.path() / "requirements.txt");
    if (!lock || !requirements) continue;
    const Result<Json> json = ParseJson(*lock, "lock.json");
    if (json && json->contains("sha256")) options.locks[json->at("sha256").get<std::string>()] = *requirements;
  }
  options.private_words = PrivateWords();
  // Where this machine keeps things: tracebacks inside of messages name it.
  for (const fs::path& folder : {at.state, at.root}) options.private_words.push_back(folder.string());
  if (!run.id.empty()) options.report_path = (at.runs() / run.id / "report.json").string();
  return options;
}

Status CheckOutputs(const OutputFiles& files) {
  const char* first = nullptr;
  for (const Format& format : kFormats) {
    const std::string& file = files.*format.file;
    if (file == "-") {
      if (first != nullptr)
        return Error{ErrorKind::kUsage, std::string("--") + first + " - and --" + format.name + " -: standard output takes one format"};
      first = format.name;
    } else if (!file.empty()) {
      // Told before a run of minutes, not after it.
      const fs::path folder = fs::absolute(file).parent_path();
      std::error_code ignored;
      if (!fs::is_directory(folder, ignored))
        return Error{ErrorKind::kUsage, std::string("--") + format.name + " " + file + ": there is no folder " + folder.string()};
      if (::access(folder.c_str(), W_OK) != 0)
        return Error{ErrorKind::kUsage, std::string("--") + format.name + " " + file + ": the folder cannot be written"};
    }
  }
  return Done{};
}

Status WriteOutputs(const RunRecord& run, const ReportOptions& options, const OutputFiles& files) {
  for (const Format& format : kFormats) {
    const std::string& file = files.*format.file;
    if (file.empty()) continue;
    const Reporter* reporter = FindReporter(format.name);
    if (reporter == nullptr) return Error{ErrorKind::kInternal, std::string("no writer for ") + format.name};
    FLCE_TRY_DO(Emit(file, reporter->render(run, options)));
  }
  if (const char* summary = std::getenv("GITHUB_STEP_SUMMARY"); summary != nullptr && *summary != '\0')
    std::ofstream(summary, std::ios::app) << RenderGithubSummary(run, options);
  if (std::getenv("GITHUB_ACTIONS") != nullptr && !UsesStandardOutput(files)) std::fputs(RenderGithubAnnotations(run, options).c_str(), stdout);
  return Done{};
}

void PrintVerdict(const RunRecord& run, const ReportOptions& options, const OutputFiles& files, bool quiet, bool verbose) {
  if (UsesStandardOutput(files)) return;
  TerminalOptions terminal = DetectTerminal(STDOUT_FILENO);
  terminal.quiet = quiet;
  terminal.verbose = verbose;
  std::fputs(RenderTerminal(run, options, terminal).c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace flce
