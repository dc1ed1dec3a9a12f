#include "harness/cli/run.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/cli/assess.h"
#include "harness/cli/cell_jobs.h"
#include "harness/cli/chrome_trace.h"
#include "harness/cli/host.h"
#include "harness/cli/messages.h"
#include "harness/cli/outputs.h"
#include "harness/cli/run_options.h"
#include "harness/cli/run_plan.h"
#include "harness/cli/run_watch.h"
#include "harness/dispatch/history.h"
#include "harness/dispatch/local_engine.h"
#include "harness/dispatch/resume.h"
#include "harness/dispatch/zygote_engine.h"
#include "harness/verdict/exit_code.h"
#include "reports/reporter.h"

namespace flce {
namespace {

constexpr double kFollowSeconds = 0.2;  // between two looks at the workers' stage files

/// "torch 2.13.0, Liger 0.8.5, emulated 9.0": a cell that has no record yet, in the words that a report uses.
std::string CellLine(const Cell& cell) {
  CellRecord record;
  record.torch = cell.torch;
  record.liger = cell.liger;
  record.fix = cell.fix;
  record.device_kind = cell.device.kind;
  record.capability = cell.device.capability;
  record.shape = cell.shape;
  return CellWords(record);
}

/// "20260131-235959-4711": sorts by time, and two runs of one second differ.
std::string NewRunId() {
  std::string id;
  for (char c : SystemClock().Utc()) {
    if (c == 'T') id += '-';
    if (std::isdigit(static_cast<unsigned char>(c))) id += c;
  }
  return id + "-" + std::to_string(::getpid());
}

/// One run, from plan to report. Each step assumes the ones before it.
class Run {
 public:
  Run(const RunOptions& options, std::vector<std::string> argv) : options_(options) { record_.argv = std::move(argv); }

  Result<int> Execute() {
    // What costs nothing is checked first: files that cannot be written, unknown names, data files.
    FLCE_TRY(profile_, ParseExitProfile(options_.exit_profile));
    FLCE_TRY_DO(CheckOutputs(files_));
    FLCE_TRY(at_, FindLocations());
    FLCE_TRY(RunData data, RunData::Load(at_));
    data_ = &data;
    FLCE_TRY_DO(CheckNames());
    FLCE_TRY_DO(PrepareState(at_));
    FLCE_TRY(const DeviceChoice devices, ChooseDevices(options_, data.devices));
    FLCE_TRY(tools_, HashTools(at_, devices.kind));
    progress_.Note(devices.note);

    // From here on the network may be asked.
    FLCE_TRY(const std::unique_ptr<Provisioner> provisioner, OpenProvisioner());
    FLCE_TRY(cells_, PlanCells(options_, data, devices, at_.cases(), *provisioner));
    progress_.Note(provisioner->note());
    if (cells_.empty()) {
      std::fprintf(stderr, "flce-repro: nothing selected: every cell is excluded\n");
      return 5;
    }
    if (!options_.trace.empty() && (cells_.size() > 1 || devices.kind == DeviceKind::kCuda))
      return Error{ErrorKind::kUsage, "--trace takes one cell on the emulated device, and this run has " + std::to_string(cells_.size()) +
                                          (devices.kind == DeviceKind::kCuda ? " on a real GPU" : "")};
    first_control_ = cells_.size();
    if (options_.controls == "always" || (options_.controls == "auto" && cells_.size() > 1)) {
      FLCE_TRY(const std::vector<Cell> controls, PlanControls(cells_.front(), data));
      cells_.insert(cells_.end(), controls.begin(), controls.end());
    }
    jobs_ = options_.jobs > 0 ? options_.jobs : devices.kind == DeviceKind::kCuda ? 1 : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    FLCE_TRY_DO(OpenJournal());
    Supply supply(*provisioner, data.cases, at_.cases(), devices.flavour, options_.python);
    const Assessor assessor(at_, data, options_.memory_budget.value_or(data.memory_budget));
    FLCE_TRY_DO(RunAllCells(supply, assessor));
    if (!options_.max_disk.empty()) FLCE_TRY_DO(Evict(*provisioner));
    return Report(data);
  }

 private:
  Status CheckNames() const {
    FLCE_TRY(const std::vector<std::string> cases, ChooseCases(options_, data_->cases));
    FLCE_TRY(const std::vector<std::string> fixes, ChooseFixes(options_, at_.cases()));
    for (const std::string& shape : options_.shapes)
      if (const Result<Shape> parsed = ParseShape(shape); !parsed) return parsed.error();
    return Done{};
  }

  Result<std::unique_ptr<Provisioner>> OpenProvisioner() {
    ProvisionOptions provision;
    provision.state_dir = at_.state;
    provision.cases_dir = at_.cases();
    provision.torch_index = options_.torch_index;
    provision.find_links = options_.find_links;
    provision.offline = options_.offline;
    provision.on_progress = [this](const Progress& step) {
      if (step.stage == "ready") {
        progress_.EndProvisioning(step.subject);
      } else {
        progress_.Provisioning(step.subject, step.stage, step.done, step.total);
      }
      // Cells that are running go on while the next environment is fetched.
      if (engine_ != nullptr && engine_->Unfinished() > 0) {
        Collect(0);
      } else {
        Follow();
      }
    };
    return Provisioner::Open(std::move(provision));
  }

  Status OpenJournal() {
    if (options_.resume.empty()) {
      record_.id = NewRunId();
      record_.started = SystemClock().Utc();
      run_folder_ = at_.runs() / record_.id;
      JournalHeader header{record_.id, record_.started, FLCE_VERSION, record_.argv, tools_};
      FLCE_TRY(Journal journal, Journal::Create(run_folder_, header));
      journal_.emplace(std::move(journal));
      return Done{};
    }
    record_.id = options_.resume;
    run_folder_ = at_.runs() / record_.id;
    FLCE_TRY(earlier_, Journal::Read(run_folder_));
    record_.started = earlier_->header.started;
    FLCE_TRY(Journal journal, Journal::Resume(run_folder_, record_.argv, SystemClock().Utc()));
    journal_.emplace(std::move(journal));
    return Done{};
  }

  /// Provides for one cell after the other, hands it to the engine, and assesses what comes back meanwhile.
  Status RunAllCells(Supply& supply, const Assessor& assessor) {
    supply_ = &supply;
    assessor_ = &assessor;
    records_.resize(cells_.size());
    LocalProcessHost zygotes, fresh;
    const std::unique_ptr<Engine> engine = MakeEngine(zygotes, fresh);
    engine_ = engine.get();
    texts_ = MakeReportOptions(at_, *data_, record_);
    several_cases_ = std::any_of(cells_.begin(), cells_.end(), [&](const Cell& cell) { return cell.case_name != cells_.front().case_name; });
    progress_.BeginRun(cells_.size(), several_cases_, texts_);
    // Controls go first: what hangs on purpose then waits out its deadline while the compiler is warmed.
    for (size_t n = 0; n < cells_.size() && failure_.ok() && !Interrupt::Requested(); ++n) {
      Submit((first_control_ + n) % cells_.size());
      Collect(0);
    }
    while (engine->Unfinished() > 0 && failure_.ok()) Collect(0.2);
    engine_ = nullptr;
    progress_.Finish();
    return failure_;
  }

  /// Warm processes pay off from the second cell on; a real GPU allows only fresh ones.
  std::unique_ptr<Engine> MakeEngine(ProcessHost& zygotes, ProcessHost& fresh) const {
    if (options_.cold || cells_.size() < 2 || cells_.front().device.kind == DeviceKind::kCuda)
      return std::make_unique<LocalEngine>(fresh, jobs_);
    ZygoteOptions options;
    options.jobs = jobs_;
    options.zygotes = std::max(2, jobs_);
    options.scratch = run_folder_ / "zygotes";
    return std::make_unique<ZygoteEngine>(zygotes, fresh, std::move(options));
  }

  /// Every run and cell, for `history`, `diff` and `rules`. A history that cannot be written spoils no run.
  void KeepHistory() {
    Result<History> history = History::Open(at_.state / "history.sqlite");
    const Status kept = history ? history->Record(record_) : Status(history.error());
    if (!kept) progress_.Note("the run is not in the history: " + kept.error().message);
  }

  void Submit(size_t index) {
    const Cell& cell = cells_[index];
    const Result<CellSupply> supplied = supply_->For(cell);
    if (!supplied) {
      // A single cell's missing environment is the run's own error; in a matrix it is that cell's result.
      if (first_control_ == 1 || supplied.error().kind == ErrorKind::kUsage) {
        if (!Interrupt::Requested()) failure_ = supplied.error();
        return;
      }
      return Keep(index, {cell.Id(), tools_}, assessor_->NotRun(cell, Outcome::kEnvironment, Reason::kNotProvisioned, supplied.error().message));
    }
    const Result<CellKey> key = MakeKey(*data_, cell, *supplied, tools_, options_);
    if (!key) return void(failure_ = key.error());
    const std::vector<ResumeDecision> decision = PlanResume({{*key, ""}}, earlier_ ? &*earlier_ : nullptr);
    if (decision.front().action == CellAction::kReuse) {
      records_[index] = decision.front().earlier->record;
      records_[index]->origin = "reused";
      assessor_->Judge(*records_[index]);  // the rules may have changed since; they are no part of the key
      return Show(index, *records_[index]);
    }
    if (!supplied->overlay->applies) {
      const std::string why = "the fix '" + supplied->overlay->name + "' does not apply: " + supplied->overlay->reason +
                              (supplied->overlay->reject.empty() ? "" : "\n" + supplied->overlay->reject);
      return Keep(index, *key, assessor_->NotRun(cell, Outcome::kSkipped, Reason::kFixDoesNotApply, why));
    }
    const std::string name = "cells/" + std::to_string(index);
    if (Status made = MakeDirectories(run_folder_ / name); !made) return void(failure_ = made.error());
    // What an interrupted run left there would show a waiting cell as running.
    std::error_code ignored;
    fs::remove(CellFiles(run_folder_ / name).progress, ignored);
    Result<CellJob> job = MakeJob(at_, *data_, options_, cell, *supplied, run_folder_ / name);
    if (!job) return void(failure_ = job.error());
    job->order = static_cast<double>(index);
    keys_[index] = *key;
    supplies_[index] = *supplied;
    progress_.CellWaits(cell.Id(), (several_cases_ ? cell.case_name + ", " : "") + CellLine(cell));
    folders_[cell.Id()] = run_folder_ / name;
    engine_->Submit(std::move(*job));
  }

  /// Takes the results that are there, waiting at most `wait_s`.
  void Collect(double wait_s) {
    for (CellResult& result : engine_->Wait(wait_s)) {
      const size_t index = static_cast<size_t>(result.job.order);
      if (result.interrupted) continue;
      const std::string name = "cells/" + std::to_string(index);
      Keep(index, keys_[index], assessor_->Assess(cells_[index], supplies_[index], result.observation, run_folder_ / name, name));
    }
    Follow();
  }

  /// Shows how far the cells are.
  void Follow() {
    const double now = SystemClock().Monotonic();
    if (now - followed_ < kFollowSeconds) return progress_.Tick();
    followed_ = now;
    progress_.SetWidth(StderrWidth());
    for (const std::string& id : progress_.Unfinished())
      if (const std::string stage = LastStage(folders_[id]); !stage.empty()) progress_.CellStage(id, stage);
    progress_.Tick();
  }

  void Show(size_t index, const CellRecord& record) {
    if (index < first_control_) return progress_.CellFinished(record);
    for (const ControlRecord& control : ReportControls({record}, data_->expectations)) progress_.ControlFinished(record, control);
  }

  void Keep(size_t index, const CellKey& key, CellRecord record) {
    if (const Status written = journal_->Append(key, record); !written && failure_.ok()) failure_ = written.error();
    Show(index, record);
    records_[index] = std::move(record);
  }

  Status Evict(Provisioner& provisioner) {
    FLCE_TRY(const uint64_t limit, ParseBytes(options_.max_disk));
    FLCE_TRY(const std::vector<std::string> removed, provisioner.Evict(limit));
    for (const std::string& id : removed) progress_.Note("removed environment " + id + " (--max-disk)");
    return Done{};
  }

  Result<int> Report(const RunData& data) {
    std::vector<CellRecord> controls;
    for (size_t i = 0; i < records_.size(); ++i)
      if (records_[i]) (i < first_control_ ? record_.cells : controls).push_back(std::move(*records_[i]));
    record_.controls = ReportControls(controls, data.expectations);
    record_.tool_version = FLCE_VERSION;
    record_.finished = SystemClock().Utc();
    record_.host = DescribeHost();
    const bool interrupted = Interrupt::Requested();
    ControlsVerdict named = CheckControls(record_.cells, data.expectations, false);
    if (!controls.empty())
      for (std::string& problem : CheckControls(controls, data.expectations, true).problems) named.problems.push_back(std::move(problem));
    record_.exit_code = interrupted ? kExitInterrupted : ExitCode(profile_, record_.cells, named);
    const ReportOptions options = MakeReportOptions(at_, data, record_);
    FLCE_TRY_DO(WriteFileAtomically(run_folder_ / "report.json", RenderRecord(record_)));
    if (!interrupted) FLCE_TRY_DO(journal_->Finish(record_.exit_code, record_.finished));
    KeepHistory();
    if (interrupted) {
      std::fprintf(stderr, "flce-repro: interrupted with %zu of %zu cells done; go on with: flce-repro %s --resume %s\n", record_.cells.size(),
                   first_control_, Join({record_.argv.begin() + 1, record_.argv.end()}, " ").c_str(), record_.id.c_str());
    } else {
      PrintVerdict(record_, options, files_, options_.quiet, options_.verbose);
    }
    FLCE_TRY_DO(WriteOutputs(record_, options, files_));
    if (!options_.trace.empty() && !interrupted) {
      FLCE_TRY(const std::string trace, ChromeTrace(run_folder_ / "cells" / "0" / "sequence.json"));
      FLCE_TRY_DO(WriteFileAtomically(options_.trace, trace));
    }
    return record_.exit_code;
  }

  const RunOptions& options_;
  ExitProfile profile_ = ExitProfile::kGate;
  OutputFiles files_{options_.json, options_.junit, options_.markdown, options_.html};
  ReportOptions texts_;
  RunProgress progress_{ProgressOnStderr(options_.quiet, options_.verbose), SystemClock(), WriteToStderr};
  Locations at_;
  const RunData* data_ = nullptr;
  std::map<std::string, std::string> tools_;
  std::vector<Cell> cells_;  ///< the plan, then the controls
  size_t first_control_ = 0;
  int jobs_ = 1;
  fs::path run_folder_;
  std::optional<Journal> journal_;
  std::optional<JournalContent> earlier_;
  Supply* supply_ = nullptr;
  const Assessor* assessor_ = nullptr;
  Engine* engine_ = nullptr;
  std::map<size_t, CellKey> keys_;
  std::map<size_t, CellSupply> supplies_;
  std::map<std::string, fs::path> folders_;  // of cells handed to the engine, by id
  double followed_ = 0;
  bool several_cases_ = false;
  std::vector<std::optional<CellRecord>> records_;
  Status failure_ = Done{};
  RunRecord record_;
};

}  // namespace

int RunCells(const RunOptions& options, const std::vector<std::string>& argv) {
  Run run(options, argv);
  const Result<int> code = run.Execute();
  if (code) return *code;
  PrintError(code.error());
  const Result<ExitProfile> profile = ParseExitProfile(options.exit_profile);
  return ExitCode(profile ? *profile : ExitProfile::kGate, code.error());
}

void SetupRun(CLI::App& app, Command& chosen) {
  // The options stand on the program itself and on the subcommand; both fill the same struct, and either runs it.
  const auto options = std::make_shared<RunOptions>();
  AddRunOptions(app, *options);
  CLI::App* sub = app.add_subcommand("run", "run cells (the default)");
  AddRunOptions(*sub, *options);
  chosen = [options](const std::vector<std::string>& argv) { return RunCells(*options, argv); };
}

}  // namespace flce
