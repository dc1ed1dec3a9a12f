#include "harness/cli/record.h"

#include <gtest/gtest.h>

namespace flce {
namespace {

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

}  // namespace
}  // namespace flce
