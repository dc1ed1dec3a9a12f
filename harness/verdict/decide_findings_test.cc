#include <gtest/gtest.h>

#include "harness/verdict/decide_given.h"

namespace flce {
namespace {

std::string Findings(const Verdict& verdict) {
  std::string text;
  for (const Finding& finding : verdict.findings) text += finding.kind + ": " + finding.text + "\n";
  return text;
}

TEST(DecideTest, AMemoryBudgetIsAFindingBesideTheOutcome) {
  Given given;
  given.budget = 2.0;
  given.o.eager.peak_bytes = 630000000;
  given.o.compiled.peak_bytes = 39523000000;
  EXPECT_EQ(given.Decided().outcome, Outcome::kNotReproduced);
  EXPECT_EQ(Findings(given.Decided()), "memory_budget: compiled peak 39.52 GB is 62.7 times eager's 630.00 MB; the budget is 2.0\n");
  given.o.compiled.peak_bytes = 1260000000;
  EXPECT_EQ(Findings(given.Decided()), "");
  given.o.compiled.peak_bytes.reset();
  EXPECT_EQ(Findings(given.Decided()), "");
  // Three blocks of 512 bytes instead of one are no finding: from 64 MiB on a peak is worth a ratio.
  given.o.eager.peak_bytes = 512;
  given.o.compiled.peak_bytes = (64 << 20) - 512;
  EXPECT_EQ(Findings(given.Decided()), "");
  given.o.compiled.peak_bytes = 64 << 20;
  EXPECT_EQ(Findings(given.Decided()), "memory_budget: compiled peak 67.11 MB is 131072.0 times eager's 512 B; the budget is 2.0\n");
}

TEST(DecideTest, OutOfMemoryBreaksTheBudgetByWhatItAskedFor) {
  Given given;
  given.budget = 2.0;
  given.o.eager.peak_bytes = 1000000000;
  given.FailCompiled(std::nullopt);
  given.o.compiled.out_of_memory = OutOfMemory{39000000000, 24000000000, 1000000000, ""};
  EXPECT_EQ(Findings(given.Decided()),
            "out_of_memory: The compiled run needs more memory than the device has: 39.00 GB asked for with 1.00 GB in use of 24.00 GB; eager fits\n"
            "memory_budget: compiled peak 39.00 GB is 39.0 times eager's 1.00 GB; the budget is 2.0\n");
}

TEST(DecideTest, FindingsNameWhatDisagrees) {
  Given given;
  Match match = MatchOf(kTier1, Family::kTier1, {"addmm"});
  match.version_surprise = "surprise";
  match.stage = Stage::kDecomposition;
  given.FailCompiled(match, Stage::kDecomposition);
  given.o.stage = Stage::kLowering;
  given.o.refused = {{"cudaGraphLaunch", 3}};
  given.o.end = {ProcessEnd::Kind::kSignaled, 6, 1, 0, "", ""};
  given.readings.probe = Reading(std::nullopt);
  given.o.probe_exception = Raised("a.B", "c");
  const Verdict verdict = given.Decided();
  EXPECT_EQ(verdict.stage, Stage::kDecomposition);
  EXPECT_EQ(verdict.fingerprint, "0123456789ab");
  EXPECT_EQ(Findings(verdict),
            "version_surprise: surprise\n"
            "stage_disagreement: the worker says stage lowering, the traceback says decomposition\n"
            "refused_api: the emulated device refused cudaGraphLaunch (3 times)\n"
            "probe_failed: the watched eager run failed, the plain one did not: a.B: c\n"
            "process_end: after its result was written the worker died of signal 6\n");
}

TEST(DecideTest, AFixOfWhichNothingRanIsNamedWhateverTheOutcome) {
  Given given;
  given.o.fix = FixEffect{true, {{"liger_kernel/ops/a.py", "f", false}, {"liger_kernel/ops/a.py", "<module>", false},
                                 {"liger_kernel/ops/b.py", "g", false}, {"liger_kernel/ops/b.py", "h", false}}};
  given.o.call_present = false;
  const Verdict verdict = given.Decided();
  EXPECT_EQ(verdict.reason, Reason::kNotAffected);
  EXPECT_EQ(Findings(verdict),
            "fix_no_effect: The fix changed nothing that ran: it changes f of liger_kernel/ops/a.py, liger_kernel/ops/a.py, "
            "g of liger_kernel/ops/b.py and 1 more, and none of that ever ran.\n");
}

TEST(DecideTest, EvidenceFollowsTheDevice) {
  Given given;
  EXPECT_EQ(given.Decided().evidence, Evidence::kEmulated);
  given.o.device_kind = DeviceKind::kCuda;
  EXPECT_EQ(given.Decided().evidence, Evidence::kExecuted);
}

}  // namespace
}  // namespace flce
