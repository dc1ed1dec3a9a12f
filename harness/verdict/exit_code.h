#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/model/run_record.h"
#include "harness/verdict/expectations.h"

namespace flce {

/// What the controls of a run say of the harness itself.
struct ControlsVerdict {
  std::set<std::string> cells;        ///< ids of the control cells
  std::vector<std::string> problems;  ///< one line each; any makes the run inconclusive
};

/// Checks the cells that a control rule matches. With `required`, each of the roles clean, failing, crashed and timed_out
/// must have been run.
ControlsVerdict CheckControls(const std::vector<CellRecord>& cells, const Expectations& expectations, bool required);

/// How the control cells of a run came out, for its report. Cells that no control rule matches are left out.
std::vector<ControlRecord> ReportControls(const std::vector<CellRecord>& controls, const Expectations& expectations);

enum class ExitProfile { kGate, kSeed, kGitBisect };
/// "gate", "seed", "git-bisect"; kUsage naming the known ones.
Result<ExitProfile> ParseExitProfile(std::string_view text);

constexpr int kExitInterrupted = 130;

/// The exit code of a finished run, of its judged cells. Control cells count only through `controls`.
/// gate: 0 all as expected (an unlisted pass fails nothing), 1 unexpected failure or numerics, or a broken
///   memory budget, 3 only improvements,
///   4 inconclusive (a wrong control, environment, time-out, skip, no GPU where one is required), 5 no cell.
///   A wrong control outranks all: what the harness says then cannot be trusted. Else 1 before 4 before 3.
/// seed: 0 reproduced, 1 not reproduced or unexpected, 2 skipped or nothing decided. Of several cells any 1 wins, then 2.
/// git-bisect: 1 bad (the bug is there in a cell), 125 cannot be told (a cell decided nothing, did not exercise the code,
///   or failed otherwise), 0 good, 128 no cell.
int ExitCode(ExitProfile profile, const std::vector<CellRecord>& cells, const ControlsVerdict& controls = {});

/// The exit code of a run that ended before any verdict. git-bisect reads 1 to 127 as "bad", so there a wrong request
/// is 128 and a machine that lacks something 125.
int ExitCode(ExitProfile profile, const Error& error);

}  // namespace flce
