#include "harness/numerics/compare_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

namespace flce {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CompareCommandTest : public ::testing::Test {
 protected:
  CompareCommandTest()
      : folder_(std::move(TempDir::Make(fs::temp_directory_path(), "compare-command-test")).value()) {}

  std::string Write(const std::string& name, uint16_t value) {
    const fs::path path = folder_.path() / name;
    const std::string bytes = {static_cast<char>(value & 0xff), static_cast<char>(value >> 8)};
    EXPECT_TRUE(WriteSafetensors(path, {{"grad_w", DType::kBF16, {1, 1}, bytes}}, {}).ok());
    return path.string();
  }
  // The exit code of `flce-numerics compare ARGUMENTS`.
  int Run(std::vector<std::string> arguments) {
    CLI::App program;
    CompareCommand command;
    SetUpCompare(program, command);
    arguments.insert(arguments.begin(), "compare");
    std::reverse(arguments.begin(), arguments.end());
    program.parse(arguments);
    out_.str("");
    err_.str("");
    return RunCompare(command, out_, err_);
  }

  TempDir folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(CompareCommandTest, ExitCodes) {
  const std::string one = Write("one", 0x3f80);
  const std::string next = Write("next", 0x3f81);
  EXPECT_EQ(Run({one, one}), 0);
  EXPECT_EQ(out_.str(), "grad_w BF16[1, 1]: bitwise equal\n");
  EXPECT_EQ(Run({one, next}), 1);
  EXPECT_THAT(
      out_.str(),
      StartsWith("grad_w BF16[1, 1]: 1 of 1 differ, max abs 0.0078125 at [0, 0], max 1 ULP at [0, 0]\n"));
  EXPECT_EQ(Run({one, next, "--max-ulp", "1"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("(within the claim)"));
  EXPECT_EQ(Run({one, next, "--max-ulp", "0"}), 1);
  EXPECT_EQ(Run({one, (folder_.path() / "absent").string()}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("cannot open"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(CompareCommandTest, JsonGoesToStandardOutputOrAFile) {
  const std::string one = Write("one", 0x3f80);
  const std::string next = Write("next", 0x3f81);
  EXPECT_EQ(Run({one, next, "--json", "-"}), 1);
  const nlohmann::json json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["tensors"][0]["max_ulp"], 1);
  EXPECT_EQ(json["tensors"][0]["within_claim"], false);

  const std::string file = (folder_.path() / "result.json").string();
  EXPECT_EQ(Run({one, next, "--json", file}), 1);
  EXPECT_EQ(nlohmann::json::parse(ReadFile(file).value()), json);
  EXPECT_EQ(Run({one, next, "--json", (folder_.path() / "no" / "such" / "folder").string()}), 2);
}

}  // namespace
}  // namespace flce
