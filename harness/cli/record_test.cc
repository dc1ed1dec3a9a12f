#include "harness/cli/record.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

const Cell kCell{"c", "2.13.0", "0.8.5", "none", {}, std::nullopt};

ExceptionRecord Raised(const char* type) { return {{{type, "message", "raised", {}}}, "", {}}; }

std::string TypeFor(const Observation& observation, Outcome outcome) {
  const ExceptionRecord* failure = FailureOf(observation, outcome);
  return failure == nullptr ? "none" : failure->chain.front().type;
}

TEST(RecordTest, TheExceptionIsTheOneTheVerdictSpeaksOf) {
  Observation observation;
  EXPECT_EQ(TypeFor(observation, Outcome::kNotReproduced), "none");
  observation.eager.exception = Raised("Eager");
  observation.compiled.exception = Raised("Compiled");
  EXPECT_EQ(TypeFor(observation, Outcome::kReproduced), "Compiled");
  EXPECT_EQ(TypeFor(observation, Outcome::kUnexpected), "Compiled");
  EXPECT_EQ(TypeFor(observation, Outcome::kEagerFailed), "Eager");
  EXPECT_EQ(TypeFor(observation, Outcome::kEnvironment), "Eager");
  observation.exception = Raised("Import");
  EXPECT_EQ(TypeFor(observation, Outcome::kEnvironment), "Import");
}

TEST(RecordTest, TheLaunchesOfACompileThatFailedAreNotTheSteps) {
  Observation observation;
  Launches eager, compiled;
  eager.gemm_count = 2;
  compiled.gemm_count = 400;
  observation.eager.launches = eager;
  observation.compiled.launches = compiled;
  observation.compiled.status = Phase::Status::kRaised;
  const auto record = [&] { return MakeRecord(CellContext{&kCell, "0.8.5", "", "", 2.0}, observation, Verdict{}, std::nullopt); };
  EXPECT_EQ(record().launches->gemm_count, 2);
  observation.compiled.status = Phase::Status::kOk;
  EXPECT_EQ(record().launches->gemm_count, 400);
  EXPECT_EQ(record().eager_launches->gemm_count, 2);
}

}  // namespace
}  // namespace flce
