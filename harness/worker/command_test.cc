#include "harness/worker/command.h"

#include <gtest/gtest.h>

#include <vector>

namespace flce::worker {
namespace {

Result<Command> Parse(std::vector<std::string> arguments) {
  std::vector<char*> argv{const_cast<char*>("flce-worker")};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return ParseCommand(static_cast<int>(argv.size()), argv.data());
}

TEST(ParseCommand, OneOfTheTwoModes) {
  EXPECT_EQ(Parse({"--request", "/a/r.json"})->request, "/a/r.json");
  EXPECT_EQ(Parse({"--request", "/a/r.json"})->serve, std::nullopt);
  EXPECT_EQ(Parse({"--serve", "3"})->serve, 3);
}

TEST(ParseCommand, AnythingElseIsAnError) {
  EXPECT_EQ(Parse({}).error().message, "give either --request FILE or --serve FD");
  EXPECT_EQ(Parse({"--request", "a", "--serve", "3"}).error().message, "give either --request FILE or --serve FD");
  EXPECT_EQ(Parse({"--serve", "-1"}).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(Parse({"--nothing"}).error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace flce::worker
