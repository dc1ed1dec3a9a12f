// A case's packages on their way to its cell: provided once, put on the cell's own part of the import path.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/cli/cell_jobs.h"
#include "harness/provision/test_support.h"

namespace flce {
namespace {

Cell CellOf(const std::string& case_name, const std::string& torch) {
  Cell cell;
  cell.case_name = case_name;
  cell.torch = torch;
  cell.device = {DeviceKind::kEmulated, "9.0", "", 1};
  return cell;
}

class PackagesTest : public InTempDir {
 protected:
  void SetUp() override {
    InTempDir::SetUp();
    ::setenv("FLCE_UV", "/fake/uv", 1);
    at_.root = FLCE_SOURCE_DIR;
    at_.state = dir_ / "state";
    Result<RunData> data = RunData::Load(at_);
    ASSERT_TRUE(data.ok()) << data.error().message;
    data_.emplace(std::move(*data));
    WriteFile(dir_ / "checkout/liger_kernel/ops/a.py", "");
    WriteFile(dir_ / "site/torch/version.py", "__version__ = '2.13.0+cu130'\ngit_version = 'cf30'\n");
    runner_.handler = [this](const std::vector<std::string>& argv) -> std::optional<ProcessResult> {
      if (argv[0] == "/usr/bin/python3") return Succeeds(R"({"version": "3.11.2", "tag": "cp311", "include": "", "has_headers": true})");
      if (argv[0] == "/user/python") return Succeeds(R"({"version": "3.11.2", "site_packages": ")" + (dir_ / "site").string() + R"(", "executable": "/user/python"})");
      if (argv[0] != "/fake/uv") return std::nullopt;
      ++uv_calls_;
      return Fails("error: Failed to fetch: `https://pypi/simple`\n  Caused by: dns error\n");
    };
    ProvisionOptions options;
    options.state_dir = at_.state;
    options.cases_dir = at_.cases();
    Result<std::unique_ptr<Provisioner>> made = Provisioner::Open(options, &runner_);
    ASSERT_TRUE(made.ok());
    provisioner_ = std::move(*made);
  }
  void TearDown() override {
    ::unsetenv("FLCE_UV");
    InTempDir::TearDown();
  }

  Locations at_;
  std::optional<RunData> data_;
  FakeRunner runner_;
  std::unique_ptr<Provisioner> provisioner_;
  int uv_calls_ = 0;
};

TEST_F(PackagesTest, AUsersEnvironmentIsUsedAsItIs) {
  Supply supply(*provisioner_, data_->cases, at_.cases(), Flavour::kLean, "/user/python");
  Cell cell = CellOf("causal-lm-llama", "2.13.0");
  cell.liger = (dir_ / "checkout").string();
  const Result<CellSupply> supplied = supply.For(cell);
  ASSERT_TRUE(supplied.ok()) << supplied.error().message;
  EXPECT_EQ(supplied->packages, nullptr);
  EXPECT_EQ(uv_calls_, 0);
}

TEST_F(PackagesTest, AnEnvironmentOfOursFetchesThemAndAFailureIsAskedForOnce) {
  // An environment that is there: only the packages are left to fetch.
  Supply supply(*provisioner_, data_->cases, at_.cases(), Flavour::kLean, {});
  const fs::path root = at_.state / "envs/torch-2.13.0-lean-cp311";
  Environment environment;
  environment.id = root.filename().string();
  environment.root = root;
  environment.site_packages = root / "env/site";
  environment.torch_version = "2.13.0";
  WriteFile(root / "env/bin/python", "");
  WriteFile(root / "lock.json", "[]");
  WriteFile(environment.site_packages / "torch/version.py", *ReadFile(dir_ / "site/torch/version.py"));
  WriteFile(root / "stamp.json", StampToJson(environment, {}, 1, "2026-01-01T00:00:00Z").dump());
  Cell cell = CellOf("causal-lm-llama", "2.13.0");
  cell.liger = (dir_ / "checkout").string();
  for (int time = 0; time < 2; ++time) {
    const Result<CellSupply> supplied = supply.For(cell);
    ASSERT_FALSE(supplied.ok());
    EXPECT_EQ(supplied.error().kind, ErrorKind::kEnvironment);
    EXPECT_EQ(supplied.error().message.rfind("cannot fetch transformers ", 0), 0u) << supplied.error().message;
    EXPECT_EQ(uv_calls_, 1);
  }
  cell.case_name = "causal-lm";
  const Result<CellSupply> supplied = supply.For(cell);
  ASSERT_TRUE(supplied.ok()) << supplied.error().message;
  EXPECT_EQ(supplied->packages, nullptr);
}

TEST_F(PackagesTest, TheyStandBehindTheFixAndLigerAndAreTheCellsOwn) {
  Environment environment;
  environment.python = "/env/bin/python";
  environment.torch_build = "2.13.0+cu130";
  LigerTree liger;
  liger.root = "/liger";
  FixOverlay overlay;
  overlay.sys_path = "/overlay";
  PackageFolder packages{"/packages/a", {"a==1"}, "locked", true};
  const Cell cell = CellOf("causal-lm-llama", "2.13.0");
  const auto entries = [&](const PackageFolder* folder) {
    const Result<CellJob> job = MakeJob(at_, *data_, RunOptions{}, cell, {&environment, &liger, &overlay, folder}, dir_ / "cell");
    EXPECT_TRUE(job.ok());
    return std::vector<fs::path>(job->request.sys_path.begin(), job->request.sys_path.begin() + static_cast<long>(job->request.own_entries));
  };
  EXPECT_EQ(entries(&packages), (std::vector<fs::path>{"/overlay", "/liger", "/packages/a"}));
  EXPECT_EQ(entries(nullptr), (std::vector<fs::path>{"/overlay", "/liger"}));
  EXPECT_EQ(MakeKey(*data_, cell, {&environment, &liger, &overlay, &packages}, {}, RunOptions{})->inputs.at("packages"), "locked");
  EXPECT_EQ(MakeKey(*data_, cell, {&environment, &liger, &overlay, nullptr}, {}, RunOptions{})->inputs.count("packages"), 0u);
  // An environment that has them all adds no folder.
  PackageFolder none;
  EXPECT_EQ(entries(&none), (std::vector<fs::path>{"/overlay", "/liger"}));
}

}  // namespace
}  // namespace flce
