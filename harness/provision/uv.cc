#include "harness/provision/uv.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <set>

#include "harness/base/text.h"

namespace flce {
namespace {

bool Has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Bytes a process has written with write(2): what uv unpacks while it fetches.
uint64_t BytesWritten(pid_t pid) {
  const Result<std::string> io = ReadFile("/proc/" + std::to_string(pid) + "/io");
  if (!io) return 0;
  constexpr std::string_view kKey = "wchar: ";
  const size_t at = io->find(kKey);
  uint64_t bytes = 0;
  if (at != std::string::npos) std::from_chars(io->data() + at + kKey.size(), io->data() + io->size(), bytes);
  return bytes;
}

/// The line that follows the last "cause:" (uv prints the chain outermost first), else the last "error:" line.
std::string InnermostCause(std::string_view output) {
  std::string cause, last;
  for (const std::string_view raw : Lines(output)) {
    const std::string_view line = Trim(raw);
    if (line.rfind("cause: ", 0) == 0) cause = std::string(line.substr(7));
    if (line.rfind("Caused by: ", 0) == 0) cause = std::string(line.substr(11));
    if (line.rfind("error: ", 0) == 0) last = std::string(line.substr(7));
    if (last.empty() && !line.empty()) last = std::string(line);
  }
  return cause.empty() ? last : cause;
}

/// The address after "Failed to fetch: " or in "for url (...)", for messages about the network.
std::string FailedAddress(std::string_view output) {
  const size_t at = output.find("://");
  if (at == std::string_view::npos) return "the package index";
  const size_t begin = output.find_last_of(" `(\n", at) + 1;
  return std::string(output.substr(begin, output.find_first_of(" `)\n", at) - begin));
}

/// "cp38, cp39" from uv's hint about the Python tags it found.
std::string FoundTags(std::string_view output) {
  constexpr std::string_view kLead = "tags: ";
  const size_t at = output.rfind(kLead);
  if (at == std::string_view::npos) return "";
  return ReplaceAll(FirstLine(output.substr(at + kLead.size())), "`", "");
}

/// Runs of characters that a package name may have.
std::set<std::string> WordsOf(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_') {
      word.push_back(c);
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.insert(word);
  return words;
}

}  // namespace

Error ExplainUvFailure(std::string_view output, const std::string& what, const UvOptions& options) {
  const std::string lower = ToLower(output);
  if (Has(lower, "no space left on device"))
    return {ErrorKind::kEnvironment, "the disk is full while installing " + what + " (" + options.cache_dir.string() +
                                         "); free space, or set FLCE_REPRO_HOME to a larger file system"};
  if (Has(lower, "disk quota exceeded"))
    return {ErrorKind::kEnvironment, "the disk quota is used up while installing " + what + "; set FLCE_REPRO_HOME to another file system"};
  if (Has(lower, "hash mismatch"))
    return {ErrorKind::kEnvironment, "a file fetched for " + what + " does not have the SHA-256 that the index promised; nothing was installed"};
  if (Has(lower, "python abi tag") || Has(lower, "python version tag") || Has(lower, "python implementation tag") ||
      Has(lower, "no wheels with a matching") || Has(lower, "no wheels are available for") || Has(lower, "does not satisfy python")) {
    const std::string tags = FoundTags(output);
    return {ErrorKind::kNotFound, what + " has no wheel for " + options.python.string() + (tags.empty() ? "" : " (it has " + tags + ")") +
                                      "; name another interpreter with FLCE_PYTHON"};
  }
  if (Has(lower, "network was disabled") || Has(lower, "network connectivity is disabled"))
    return {ErrorKind::kEnvironment, what + " is not installed and --offline forbids to fetch it; run the same command once without --offline"};
  if (Has(lower, "there is no version of") || Has(lower, "was not found in the package registry") || Has(lower, "are available and you require") || Has(lower, "is available and you require") ||
      Has(lower, "was not found in the provided package locations") || Has(lower, "no versions of"))
    return {ErrorKind::kNotFound, "no " + what + " on the package index"};
  if (Has(lower, "401 unauthorized") || Has(lower, "403 forbidden"))
    return {ErrorKind::kEnvironment, FailedAddress(output) + " refuses access (needed for " + what + ")"};
  if (Has(lower, "dns error") || Has(lower, "error sending request") || Has(lower, "(connect)") || Has(lower, "timed out") ||
      Has(lower, "connection reset") || Has(lower, "failed to fetch") || Has(lower, "failed to download"))
    return {ErrorKind::kEnvironment, "cannot fetch " + what + ": no answer from " + FailedAddress(output) + " (" + InnermostCause(output) +
                                         "); check the network, or name a mirror with --torch-index or a folder with --find-links"};
  if (Has(lower, "permission denied") || Has(lower, "read-only file system"))
    return {ErrorKind::kEnvironment, "cannot write while installing " + what + ": " + InnermostCause(output)};
  return {ErrorKind::kEnvironment, "uv failed on " + what + ": " + InnermostCause(output)};
}

Error Uv::Explain(const ProcessResult& result, const std::string& what) const {
  if (!std::holds_alternative<Exited>(result.state))
    return {ErrorKind::kEnvironment, "uv ended by " + Describe(result.state) + " on " + what + "; nothing was installed"};
  Error error = ExplainUvFailure(StripAnsi(result.err), what, options_);
  if (error.kind == ErrorKind::kEnvironment) error.message += " (log: " + options_.log_file.string() + ")";
  return error;
}

Result<ProcessResult> Uv::Run(std::vector<std::string> arguments, const std::string& what, const std::function<void(pid_t)>& tick) {
  arguments.insert(arguments.begin(), {options_.uv.string(), "--color", "never", "--no-progress"});
  if (options_.offline) arguments.push_back("--offline");
  ProcessOptions process;
  process.argv = std::move(arguments);
  process.environment = {{"UV_CACHE_DIR", options_.cache_dir.string()}, {"UV_PYTHON_DOWNLOADS", "never"}, {"UV_NO_PROJECT", "1"}};
  // An activated environment or a module path of the caller must not decide what is installed where.
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_CONSTRAINT",
                           "UV_OVERRIDE", "UV_EXCLUDE", "UV_TORCH_BACKEND", "UV_REQUIRE_HASHES"})
    process.environment[name] = std::nullopt;
  if (std::getenv("UV_HTTP_TIMEOUT") == nullptr) process.environment["UV_HTTP_TIMEOUT"] = "120";
  Result<ProcessResult> result = runner_.Run(process, tick);
  if (!result)
    return Error{ErrorKind::kEnvironment, "cannot start uv (" + options_.uv.string() + "): " + result.error().message};
  (void)AppendLine(options_.log_file, "$ " + Join(process.argv, " ") + "  # " + what + ": " + Describe(result->state) + "\n" + result->err).ok();
  return result;
}

Result<ProcessResult> Uv::Compile(const std::vector<std::string>& requirements, std::vector<std::string> extra,
                                  const std::vector<std::string>& excludes, const std::string& what) {
  FLCE_TRY(const TempDir dir, TempDir::Make(fs::temp_directory_path(), "flce-resolve-"));
  const fs::path input = dir.path() / "requirements.in";
  FLCE_TRY_DO(WriteFileAtomically(input, Join(requirements, "\n") + "\n"));
  std::vector<std::string> arguments = {"pip", "compile", input.string(), "--python", options_.python.string(), "--no-header", "--no-annotate", "--no-build"};
  if (!excludes.empty()) {
    const fs::path file = dir.path() / "excludes.txt";
    FLCE_TRY_DO(WriteFileAtomically(file, Join(excludes, "\n") + "\n"));
    arguments.insert(arguments.end(), {"--excludes", file.string()});
  }
  if (!options_.torch_index.empty())
    arguments.insert(arguments.end(), {"--index", options_.torch_index, "--index-strategy", "unsafe-best-match"});
  for (const std::string& place : options_.find_links) arguments.insert(arguments.end(), {"--find-links", place});
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  return Run(std::move(arguments), what, {});
}

Result<std::optional<std::string>> Uv::Find(const IndexQuery& query) {
  const std::string requirement = query.package + query.constraint;
  std::vector<std::string> extra = {"--no-deps", "--resolution", query.oldest ? "lowest" : "highest"};
  if (query.pre_releases) extra.insert(extra.end(), {"--prerelease", "allow"});
  FLCE_TRY(const ProcessResult result, Compile({requirement}, extra, {}, requirement));
  if (!result.ok()) {
    Error error = Explain(result, requirement);
    if (error.kind == ErrorKind::kNotFound) return std::optional<std::string>();
    return error;
  }
  const std::string prefix = query.package + "==";
  for (const std::string_view line : Lines(result.out))
    if (line.substr(0, prefix.size()) == prefix) return std::optional<std::string>(std::string(Trim(line.substr(prefix.size()))));
  return std::optional<std::string>();
}

// Which packages of the closure are to be left out is known only once it is resolved: uv takes names, not patterns. So
// it is resolved twice, the second time without the names found; the second answer costs no network. A mirror without
// them makes uv fail on one name after the other, which its message gives.
Result<std::vector<LockedPackage>> Uv::Resolve(const ResolveRequest& request) {
  constexpr size_t kMaxRounds = 64;
  std::vector<std::string> extra = {"--format", "pylock.toml"};
  if (!request.dependencies) extra.push_back("--no-deps");
  std::set<std::string> excluded;
  for (size_t round = 0;; ++round) {
    FLCE_TRY(const ProcessResult result, Compile(request.requirements, extra, {excluded.begin(), excluded.end()}, request.what));
    std::vector<LockedPackage> packages;
    std::set<std::string> names;
    if (result.ok()) {
      FLCE_TRY(packages, ParsePylock(result.out));
      for (const LockedPackage& package : packages) names.insert(package.name);
    } else {
      names = WordsOf(result.err);
    }
    const size_t before = excluded.size();
    for (const std::string& name : names)
      if (MatchesAny(request.without, name)) excluded.insert(name);
    if (excluded.size() > before && round < kMaxRounds) continue;
    if (!result.ok()) return Explain(result, request.what);
    return packages;
  }
}

Status Uv::MakeEnvironment(const fs::path& dir) {
  const std::string what = "the environment " + dir.string();
  FLCE_TRY(const ProcessResult result,
           Run({"venv", "--relocatable", "--no-config", "--python", options_.python.string(), dir.string()}, what, {}));
  if (!result.ok()) return Explain(result, what);
  return Done{};
}

Status Uv::Install(const fs::path& requirements, const fs::path& python, const fs::path& target, const std::string& what,
                   const OnBytes& on_bytes) {
  std::vector<std::string> arguments = {"pip", "install", "--require-hashes", "--no-deps", "--no-build", "-r", requirements.string()};
  arguments.insert(arguments.end(), {"--python", python.string()});
  if (!target.empty()) arguments.insert(arguments.end(), {"--target", target.string()});
  if (!options_.torch_index.empty())
    arguments.insert(arguments.end(), {"--index", options_.torch_index, "--index-strategy", "unsafe-best-match"});
  for (const std::string& place : options_.find_links) arguments.insert(arguments.end(), {"--find-links", place});
  FLCE_TRY(const ProcessResult result, Run(std::move(arguments), what, [&](pid_t pid) {
             if (on_bytes) on_bytes(BytesWritten(pid));
           }));
  if (!result.ok()) return Explain(result, what);
  return Done{};
}

}  // namespace flce
