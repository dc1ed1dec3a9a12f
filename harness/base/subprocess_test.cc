#include "harness/base/subprocess.h"

#include <gtest/gtest.h>

#include <csignal>

namespace flce {
namespace {

ProcessOptions Shell(const std::string& script) {
  ProcessOptions options;
  options.argv = {"/bin/sh", "-c", script};
  return options;
}

TEST(SubprocessTest, CapturesBothStreamsAndTheExitCode) {
  Result<ProcessResult> result = RunProcess(Shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  ASSERT_TRUE(std::holds_alternative<Exited>(result->state));
  EXPECT_EQ(std::get<Exited>(result->state).code, 3);
  EXPECT_FALSE(result->ok());
}

TEST(SubprocessTest, ASignalIsNotAnExitCode) {
  Result<ProcessResult> result = RunProcess(Shell("kill -SEGV $$"));
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(std::holds_alternative<Signaled>(result->state));
  EXPECT_EQ(std::get<Signaled>(result->state).signal, SIGSEGV);
  EXPECT_EQ(Describe(result->state), "signal 11 (Segmentation fault)");
}

TEST(SubprocessTest, AMissingProgramIsAnError) {
  ProcessOptions options;
  options.argv = {"/nowhere/program"};
  Result<ProcessResult> result = RunProcess(options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "cannot run /nowhere/program: No such file or directory");
}

TEST(SubprocessTest, TheDeadlineKillsTheWholeGroupEvenWhenItIgnoresSigterm) {
  ProcessOptions options = Shell("trap '' TERM; (trap '' TERM; echo $$; while :; do sleep 60; done) & while :; do sleep 60; done");
  options.deadline_s = 0.1;
  options.grace_s = 0.1;
  Result<ProcessResult> result = RunProcess(options);
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(std::holds_alternative<TimedOut>(result->state)) << Describe(result->state);
}

TEST(SubprocessTest, HelpersThatOutliveTheChildAreKilled) {
  Result<ProcessResult> result = RunProcess(Shell("sleep 600 >/dev/null 2>&1 & echo $!"));
  ASSERT_TRUE(result.ok());
  const pid_t helper = std::stoi(result->out);
  // The helper is now init's child; it is gone or a zombie as soon as the signal is delivered.
  for (int i = 0; i < 1000 && ::kill(helper, 0) == 0; ++i) {
    Result<std::string> stat = ReadFile("/proc/" + std::to_string(helper) + "/stat");
    if (!stat || stat->find(") Z") != std::string::npos) return;
    ::usleep(1000);
  }
  EXPECT_NE(::kill(helper, 0), 0);
}

TEST(SubprocessTest, EnvironmentSetsAndRemoves) {
  ::setenv("FLCE_TEST_REMOVED", "1", 1);
  ProcessOptions options = Shell("echo \"$FLCE_TEST_SET-$FLCE_TEST_REMOVED\"");
  options.environment = {{"FLCE_TEST_SET", "x"}, {"FLCE_TEST_REMOVED", std::nullopt}};
  Result<ProcessResult> result = RunProcess(options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "x-\n");
}

TEST(SubprocessTest, InputIsEmpty) {
  Result<ProcessResult> result = RunProcess(Shell("cat; echo done"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "done\n");
}

TEST(SubprocessTest, OutputLargerThanAPipeDoesNotBlockAndIsCapped) {
  ProcessOptions options = Shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2");
  options.capture_limit = 1000000;
  Result<ProcessResult> result = RunProcess(options);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->ok());
  EXPECT_EQ(result->out.size(), 1000000u);
}

TEST(SubprocessTest, StopEndsWithStopped) {
  Result<std::unique_ptr<Subprocess>> child = Subprocess::Start(Shell("sleep 600"));
  ASSERT_TRUE(child.ok());
  ProcessSet set;
  set.Add(child->get());
  EXPECT_TRUE(set.Wait(0).empty());
  (*child)->Stop();
  ASSERT_EQ(set.Wait(60).size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Stopped>((*child)->result().state));
}

TEST(SubprocessTest, AnInterruptStopsTheChildren) {
  Interrupt::Install();
  Result<std::unique_ptr<Subprocess>> child = Subprocess::Start(Shell("sleep 600"));
  ASSERT_TRUE(child.ok());
  ProcessSet set;
  set.Add(child->get());
  ::raise(SIGTERM);
  ASSERT_EQ(set.Wait(60).size(), 1u);
  EXPECT_TRUE(Interrupt::Requested());
  EXPECT_TRUE(std::holds_alternative<Stopped>((*child)->result().state));
  Interrupt::ResetForTest();
}

TEST(SubprocessTest, AddressSpaceLimitHolds) {
  ProcessOptions options;
  options.argv = {"/usr/bin/head", "-c", "1", "/dev/zero"};
  options.address_space_bytes = 1 << 20;  // too little to map libc
  Result<ProcessResult> result = RunProcess(options);
  EXPECT_FALSE(result.ok() && result->ok());
}

}  // namespace
}  // namespace flce
