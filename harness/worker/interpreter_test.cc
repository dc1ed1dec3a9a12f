#include "harness/worker/interpreter.h"

#include <gtest/gtest.h>

#include "harness/base/files.h"

namespace flce::worker {
namespace {

class EnvironmentTest : public ::testing::Test {
 protected:
  fs::path Make(const std::string& settings) {
    fs::create_directories(dir_.path() / "bin");
    fs::path python = dir_.path() / "bin" / "python";
    EXPECT_TRUE(WriteFileAtomically(python, ""));
    EXPECT_TRUE(WriteFileAtomically(dir_.path() / "pyvenv.cfg", settings));
    return python;
  }
  TempDir dir_ = TempDir::Make("/tmp", "flce-environment").value();
};

TEST_F(EnvironmentTest, TheVersionIsReadFromEitherSpelling) {
  EXPECT_EQ(EnvironmentVersion(Make("home = /usr/bin\nversion = 3.12.4\n")), "3.12");
  EXPECT_EQ(EnvironmentVersion(Make("home = /usr/bin\nversion_info = 3.11.2.final.0\n")), "3.11");
  EXPECT_EQ(EnvironmentVersion(Make("home = /usr/bin\n")), "");
}

TEST_F(EnvironmentTest, WithoutAnEnvironmentTheNameTells) {
  fs::create_symlink("/usr/bin/python9.7", dir_.path() / "python");
  fs::path named = dir_.path() / "python9.7";
  ASSERT_TRUE(WriteFileAtomically(named, ""));
  EXPECT_EQ(EnvironmentVersion(named), "9.7");
}

TEST_F(EnvironmentTest, AnotherMinorVersionIsOneClearLine) {
  fs::path python = Make("version = 3.2.1\n");
  Status status = CheckEnvironment(python);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(status.error().message, "cannot embed " + python.string() + ": it is Python 3.2, this worker embeds " +
                                        EmbeddedVersion() +
                                        "; make the environment with that Python or build the worker with FLCE_PYTHON of "
                                        "the other");
  EXPECT_TRUE(CheckEnvironment(Make("version = " + EmbeddedVersion() + ".9\n")));
}

TEST_F(EnvironmentTest, AnAbsentInterpreterIsNamed) {
  EXPECT_EQ(CheckEnvironment("/no/env/bin/python").error().message,
            "cannot embed /no/env/bin/python: no such file; make the environment again");
}

}  // namespace
}  // namespace flce::worker
