#include "harness/cli/bisect.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "harness/base/subprocess.h"
#include "harness/base/text.h"
#include "harness/cli/locations.h"
#include "harness/cli/messages.h"
#include "harness/model/identity.h"
#include "harness/model/json_reader.h"
#include "harness/model/run_record.h"
#include "harness/plan/bisect.h"
#include "harness/provision/provisioner.h"

namespace flce {
namespace {

struct BisectOptions {
  std::string axis = "torch", from, to;
  std::string torch = "newest", liger = "newest", capability, device = "emulated", case_name = "flce-bf16-fp32-accum", fix = "none";
  std::string checkout, json;
  int budget = 8;
  double timeout_s = 600;
  bool offline = false, quiet = false;
};

/// Quotes what a shell would take apart.
std::string Quoted(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@~") == std::string::npos;
  return plain ? text : "'" + ReplaceAll(text, "'", "'\\''") + "'";
}

/// Runs one git command in a checkout.
Result<std::string> Git(const std::string& checkout, std::vector<std::string> arguments) {
  ProcessOptions options;
  options.argv = {"git", "-C", checkout};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.deadline_s = 120;
  FLCE_TRY(ProcessResult result, RunProcess(std::move(options)));
  if (!result.ok()) return Error{ErrorKind::kUsage, "git " + arguments.front() + " in " + checkout + ": " + FirstLine(result.err)};
  return std::string(Trim(result.out));
}

/// A worktree of a checkout that is removed when it is no longer needed.
class Worktree {
 public:
  Worktree(std::string checkout, fs::path folder) : checkout_(std::move(checkout)), folder_(std::move(folder)) {}
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;
  ~Worktree() { (void)Git(checkout_, {"worktree", "remove", "--force", folder_.string()}); }
  const fs::path& folder() const { return folder_; }

  static Result<std::unique_ptr<Worktree>> Add(const std::string& checkout, const std::string& commit, const fs::path& parent) {
    FLCE_TRY_DO(MakeDirectories(parent));
    const fs::path folder = parent / commit.substr(0, 12);
    (void)Git(checkout, {"worktree", "remove", "--force", folder.string()});  // of a run that was killed
    FLCE_TRY(const std::string said, Git(checkout, {"worktree", "add", "--detach", "--force", folder.string(), commit}));
    (void)said;
    return std::make_unique<Worktree>(checkout, folder);
  }

 private:
  std::string checkout_;
  fs::path folder_;
};

class BisectRun {
 public:
  BisectRun(const BisectOptions& options, Locations at) : o_(options), at_(std::move(at)) {}

  Result<int> Execute() {
    FLCE_TRY(const BisectSpec spec, Spec());
    FLCE_TRY(TempDir scratch, TempDir::Make(fs::temp_directory_path(), "flce-bisect-"));
    scratch_ = scratch.path();
    Result<BisectReport> report = Bisect(spec, [this](const std::string& point) { return ProbePoint(point); });
    if (Interrupt::Requested()) return 130;
    if (!report) return report.error();
    // Offline the axis holds what is installed: a release that is not there may hold the change.
    if (o_.offline && o_.axis != "commit") report->confidence += "; --offline: releases that are not installed were left out";
    const std::string json = JsonOf(*report).dump(1) + "\n";
    if (!o_.json.empty() && o_.json != "-") FLCE_TRY_DO(WriteFileAtomically(o_.json, json));
    std::fputs(o_.json == "-" ? json.c_str() : TextOf(*report).c_str(), stdout);
    return 0;
  }

 private:
  Result<BisectSpec> Spec() {
    BisectSpec spec;
    spec.budget = o_.budget;
    if (o_.axis == "commit") {
      FLCE_TRY(spec.points, Commits());
      return spec;
    }
    ProvisionOptions provision;
    provision.state_dir = at_.state;
    provision.cases_dir = at_.cases();
    provision.offline = o_.offline;
    FLCE_TRY_DO(PrepareState(at_));
    FLCE_TRY(const std::unique_ptr<Provisioner> provisioner, Provisioner::Open(std::move(provision)));
    const std::string range = o_.from + ".." + o_.to;
    if (o_.axis == "torch") {
      FLCE_TRY(spec.points, provisioner->ExpandTorch(range));
      spec.fine = WithEarlierPatches(spec.points);
    } else {
      FLCE_TRY(spec.points, provisioner->ExpandLiger(range));
    }
    return spec;
  }

  /// The commits from --from to --to along the first parents, oldest first, both ends included.
  Result<std::vector<std::string>> Commits() {
    if (o_.checkout.empty()) return Error{ErrorKind::kUsage, "--axis commit needs --checkout PATH, a git checkout of Liger"};
    FLCE_TRY(const std::string first, Git(o_.checkout, {"rev-parse", "--verify", o_.from + "^{commit}"}));
    FLCE_TRY(const std::string later, Git(o_.checkout, {"rev-list", "--reverse", "--first-parent", o_.from + ".." + o_.to}));
    std::vector<std::string> commits = {first};
    for (const std::string_view line : Lines(later)) commits.emplace_back(line);
    return commits;
  }

  std::vector<std::string> Arguments(const std::string& point) const {
    std::vector<std::string> argv = {"run",          "--torch",  o_.axis == "torch" ? point : o_.torch, "--liger",
                                     o_.axis == "torch" ? o_.liger : point, "--device", o_.device,     "--case",
                                     o_.case_name,   "--fix",    o_.fix};
    if (!o_.capability.empty()) argv.insert(argv.end(), {"--capability", o_.capability});
    if (o_.offline) argv.push_back("--offline");
    return argv;
  }

  std::string Replay(const std::string& point) const {
    const bool is_commit = o_.axis == "commit";
    std::string command = is_commit ? "git -C " + Quoted(o_.checkout) + " checkout " + point.substr(0, 12) + " && " : "";
    command += "flce-repro";
    for (const std::string& argument : Arguments(is_commit ? o_.checkout : point)) command += " " + Quoted(argument);
    return command;
  }

  /// One cell, as a run of this very program: its journal, evidence and history are those of any other run.
  Probe ProbePoint(const std::string& point) {
    if (Interrupt::Requested()) return {"", "interrupted"};
    std::unique_ptr<Worktree> worktree;
    std::string value = point;
    if (o_.axis == "commit") {
      Result<std::unique_ptr<Worktree>> added = Worktree::Add(o_.checkout, point, at_.state / "commits");
      if (!added) return {"", added.error().message};
      worktree = std::move(*added);
      value = worktree->folder().string();
    }
    const fs::path report = scratch_ / ("probe-" + std::to_string(probes_++) + ".json");
    ProcessOptions process;
    process.argv = {fs::read_symlink("/proc/self/exe").string()};
    const std::vector<std::string> arguments = Arguments(value);
    process.argv.insert(process.argv.end(), arguments.begin(), arguments.end());
    process.argv.insert(process.argv.end(), {"--quiet", "--json", report.string(), "--timeout", std::to_string(static_cast<int>(o_.timeout_s))});
    const Result<ProcessResult> ended = RunProcess(std::move(process));
    const Probe probe = ended ? ReadProbe(report, *ended) : Probe{"", ended.error().message};
    if (!o_.quiet)
      std::fprintf(stderr, "%s %s: %s\n", o_.axis.c_str(), point.c_str(), probe.identity.empty() ? ("skipped, " + probe.why).c_str() : probe.identity.c_str());
    return probe;
  }

  static Probe ReadProbe(const fs::path& report, const ProcessResult& ended) {
    const Result<std::string> text = ReadFile(report);
    if (!text) return {"", FirstLine(ended.err).empty() ? "no report was written" : FirstLine(ended.err)};
    const Result<Json> json = ParseJson(*text, "report");
    const Result<RunRecord> run = json ? RunRecordFromJson(*json) : Result<RunRecord>(json.error());
    if (!run || run->cells.size() != 1) return {"", run ? "no cell was run" : run.error().message};
    const Verdict& verdict = run->cells.front().verdict;
    if (!Decides(verdict)) return {"", verdict.explanation.empty() ? IdentityOf(verdict) : FirstLine(verdict.explanation)};
    return {IdentityOf(verdict), ""};
  }

  std::string TextOf(const BisectReport& report) const {
    std::string text;
    for (const ChangePoint& change : report.changes) {
      text += o_.axis + " " + change.before + " -> " + change.after + ": " + change.from + " -> " + change.to;
      if (!change.unclear.empty()) text += " (not decided between them: " + Join(change.unclear, ", ") + ")";
      text += "\n  replay: " + Replay(change.before) + "\n          " + Replay(change.after) + "\n";
    }
    if (report.changes.empty()) text += "no change found: " + report.probed.front().second.identity + " throughout\n";
    text += std::to_string(report.ran) + " cells run. Confidence: " + report.confidence + "\n";
    return text;
  }

  Json JsonOf(const BisectReport& report) const {
    Json changes = Json::array(), probed = Json::array();
    for (const ChangePoint& change : report.changes)
      changes.push_back({{"before", change.before}, {"after", change.after}, {"from", change.from}, {"to", change.to}, {"undecided_between", change.unclear},
                         {"replay", {Replay(change.before), Replay(change.after)}}});
    for (const auto& [point, probe] : report.probed) probed.push_back({{"point", point}, {"result", probe.identity}, {"why", probe.why}});
    return {{"axis", o_.axis}, {"changes", std::move(changes)}, {"probed", std::move(probed)}, {"assumed", report.assumed}, {"ran", report.ran},
            {"confidence", report.confidence}};
  }

  const BisectOptions& o_;
  Locations at_;
  fs::path scratch_;
  int probes_ = 0;
};

int RunBisect(const BisectOptions& options) {
  const Result<Locations> at = FindLocations();
  if (!at) return PrintError(at.error());
  const Result<int> code = BisectRun(options, *at).Execute();
  return code ? *code : PrintError(code.error());
}

}  // namespace

void SetupBisect(CLI::App& app, Command& chosen) {
  const auto options = std::make_shared<BisectOptions>();
  CLI::App* sub = app.add_subcommand("bisect", "every point of an axis at which the result changes");
  sub->add_option("--axis", options->axis, "what moves: torch releases, Liger releases, or commits of a Liger checkout")
      ->check(CLI::IsMember({"torch", "liger", "commit"}))
      ->capture_default_str();
  sub->add_option("--from", options->from, "the first version or commit")->required()->type_name("A");
  sub->add_option("--to", options->to, "the last one")->required()->type_name("B");
  sub->add_option("--checkout", options->checkout, "for --axis commit: a git checkout of Liger")->type_name("PATH");
  sub->add_option("--torch", options->torch, "the torch release that stays, for the other axes")->capture_default_str()->type_name("V");
  sub->add_option("--liger", options->liger, "the Liger that stays, for --axis torch")->capture_default_str()->type_name("V|PATH");
  sub->add_option("--device", options->device, "as for run")->capture_default_str()->type_name("D");
  sub->add_option("--capability", options->capability, "as for run")->type_name("M.m");
  sub->add_option("--case", options->case_name, "the case")->capture_default_str()->type_name("NAME");
  sub->add_option("--fix", options->fix, "the fix")->capture_default_str()->type_name("NAME|FILE");
  sub->add_option("--budget", options->budget, "cells to spend; what halving leaves of them looks into stretches that seem unchanged")
      ->capture_default_str()
      ->type_name("N");
  sub->add_option("--timeout", options->timeout_s, "seconds a cell may take")->capture_default_str()->type_name("S");
  sub->add_flag("--offline", options->offline, "use only what is installed");
  sub->add_flag("-q,--quiet", options->quiet, "print only the finding");
  sub->add_option("--json", options->json, "write the finding as JSON (- is standard output)")->type_name("F");
  sub->footer("Exit codes: 0 when both ends could be decided, 2 usage, 4 when one could not.");
  sub->callback([&chosen, options] { chosen = [options](const std::vector<std::string>&) { return RunBisect(*options); }; });
}

}  // namespace flce
