#include "harness/provision/provisioner.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/base/text.h"
#include "harness/provision/test_support.h"

namespace flce {
namespace {

constexpr char kPython[] = R"({"version": "3.11.2", "tag": "cp311", "include": "/usr/include/python3.11", "has_headers": true})";
constexpr char kVersionPy[] = "from typing import Optional\n__version__ = '2.13.0+cu130'\ndebug = False\ncuda: Optional[str] = '13.0'\ngit_version = 'cf30153c'\nhip: Optional[str] = None\n";

/// A uv that installs a torch of a few bytes.
class ProvisionerTest : public InTempDir {
 protected:
  void SetUp() override {
    InTempDir::SetUp();
    ::setenv("FLCE_UV", "/fake/uv", 1);
    state_ = dir_ / "state";
    WriteFile(dir_ / "cases/provision.json", *ReadFile(FLCE_SOURCE_DIR "/cases/provision.json"));
    SetSpace(1000);
    runner_.handler = [this](const std::vector<std::string>& argv) { return Play(argv); };
  }
  void TearDown() override {
    ::unsetenv("FLCE_UV");
    InTempDir::TearDown();
  }

  void SetSpace(uint64_t bytes) {
    nlohmann::ordered_json data = nlohmann::ordered_json::parse(*ReadFile(dir_ / "cases/provision.json"));
    data["space_bytes"]["lean"] = bytes;
    WriteFile(dir_ / "cases/provision.json", data.dump());
  }

  std::optional<ProcessResult> Play(const std::vector<std::string>& argv) {
    if (argv[0] == "/usr/bin/python3") return Succeeds(kPython);
    if (argv[0] != "/fake/uv") return std::nullopt;  // the C compiler and patch are real
    const auto after = [&](const std::string& word) -> std::string {
      const auto at = std::find(argv.begin(), argv.end(), word);
      return at == argv.end() || at + 1 == argv.end() ? "" : *(at + 1);
    };
    const std::string verb = argv[4];
    if (verb == "venv") {
      WriteFile(fs::path(argv.back()) / "bin/python", "");
      fs::create_directories(fs::path(argv.back()) / "lib/python3.11/site-packages");
      return Succeeds();
    }
    if (argv[5] == "compile") {
      if (compile_failure_) return Fails(*compile_failure_);
      const std::string wanted = *ReadFile(after("compile"));
      if (wanted.rfind("needed==", 0) == 0)
        return Succeeds("[[packages]]\nname = \"needed\"\nversion = \"1.0\"\nwheels = [{ url = \"https://x/n.whl\", size = 9, hashes = { sha256 = \"cd\" } }]\n");
      const bool liger = wanted.rfind("liger", 0) == 0;
      return Succeeds(std::string("[[packages]]\nname = \"") + (liger ? "liger-kernel" : "torch") + "\"\nversion = \"2.13.0\"\nwheels = [{ url = \"https://x/t.whl\", size = 9, hashes = { sha256 = \"ab\" } }]\n");
    }
    ++installs_;
    if (const std::string target = after("--target"); !target.empty()) {
      WriteFile(fs::path(target) / (target.find("/packages/") != std::string::npos ? "needed/a.py" : "liger_kernel/ops/a.py"), "x = 1\n");
    } else {
      const fs::path site = fs::path(after("--python")).parent_path().parent_path() / "lib/python3.11/site-packages";
      WriteFile(site / "torch/version.py", kVersionPy);
      fs::create_directories(site / "torch-2.13.0.dist-info");
      fs::create_directories(site / "triton-3.7.1.dist-info");
      fs::create_directories(site / "torch/lib");
      fs::copy_file(fs::canonical("/proc/self/exe"), site / "torch/lib/libtorch.so");
    }
    return install_failure_ ? Fails(*install_failure_) : Succeeds();
  }

  std::unique_ptr<Provisioner> Make(bool offline = false) {
    ProvisionOptions options;
    options.state_dir = state_;
    options.cases_dir = dir_ / "cases";
    options.offline = offline;
    options.on_progress = [this](const Progress& p) { stages_.push_back(p.stage); };
    Result<std::unique_ptr<Provisioner>> made = Provisioner::Open(options, &runner_, &index_);
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }

  fs::path Root() const { return state_ / "envs/torch-2.13.0-lean-cp311"; }

  fs::path state_;
  FakeRunner runner_;
  FakeIndex index_{{"2.13.0", "2.15.0"}};
  std::optional<std::string> compile_failure_, install_failure_;
  std::vector<std::string> stages_;
  int installs_ = 0;
};

TEST_F(ProvisionerTest, MakesAnEnvironmentAndUsesItAgain) {
  const Result<Environment> made = Make()->ProvideTorch("2.13.0", Flavour::kLean);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_FALSE(made->reused);
  EXPECT_EQ(made->root, Root());
  EXPECT_EQ(made->torch_version, "2.13.0");
  EXPECT_EQ(made->torch_build, "2.13.0+cu130");
  EXPECT_EQ(made->torch_git, "cf30153c");
  EXPECT_EQ(made->triton_version, "3.7.1");
  EXPECT_EQ(made->cuda, "13.0");
  EXPECT_EQ(*ReadFile(Root() / "requirements.txt"), "torch==2.13.0 --hash=sha256:ab\n");
  ASSERT_EQ(made->library_dirs.size(), 1u);
  EXPECT_TRUE(fs::is_directory(made->library_dirs[0]));
  const Result<Environment> again = Make()->ProvideTorch("2.13.0", Flavour::kLean);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->reused);
  EXPECT_EQ(again->lock_sha256, made->lock_sha256);
  EXPECT_EQ(again->library_dirs, made->library_dirs);
  EXPECT_EQ(installs_, 1);
  EXPECT_EQ(stages_, (std::vector<std::string>{"resolving", "fetching 1 packages", "building stub libraries", "ready"}));
}

TEST_F(ProvisionerTest, WhatAKilledRunLeftIsNotTrusted) {
  WriteFile(Root() / "env/bin/python", "");
  WriteFile(state_ / "envs/.building-torch-2.13.0-lean-cp311/half", "");
  ASSERT_TRUE(Make()->ProvideTorch("2.13.0", Flavour::kLean).ok());
  EXPECT_EQ(installs_, 1);
  EXPECT_FALSE(fs::exists(state_ / "envs/.building-torch-2.13.0-lean-cp311"));
}

TEST_F(ProvisionerTest, AnEnvironmentDamagedSinceIsMadeAgain) {
  const fs::path library = Root() / "env/lib/python3.11/site-packages/torch/lib/libtorch.so";
  const std::function<void()> kDamages[] = {[&] { fs::resize_file(library, 10); }, [&] { fs::remove(library); }, [&] { fs::resize_file(Root() / "stamp.json", 20); },
                                            [&] { fs::remove(Root() / "lock.json"); }, [&] { WriteFile(Root() / "stamp.json", R"({"format": 99})"); }};
  ASSERT_TRUE(Make()->ProvideTorch("2.13.0", Flavour::kLean).ok());
  int expected = 1;
  for (const auto& damage : kDamages) {
    damage();
    const Result<Environment> made = Make()->ProvideTorch("2.13.0", Flavour::kLean);
    ASSERT_TRUE(made.ok());
    EXPECT_FALSE(made->reused);
    EXPECT_EQ(installs_, ++expected);
  }
}

TEST_F(ProvisionerTest, AFailedInstallationLeavesNothing) {
  install_failure_ = "error: x\n  cause: No space left on device (os error 28)\n";
  const Result<Environment> made = Make()->ProvideTorch("2.13.0", Flavour::kLean);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(made.error().message.rfind("the disk is full while installing torch 2.13.0", 0), 0u);
  EXPECT_TRUE(fs::is_empty(state_ / "envs"));
  install_failure_.reset();
  EXPECT_TRUE(Make()->ProvideTorch("2.13.0", Flavour::kLean).ok());
}

TEST_F(ProvisionerTest, TooLittleSpaceIsSaidBeforeAnythingIsFetched) {
  SetSpace(uint64_t{1} << 60);
  const Error error = Make()->ProvideTorch("2.13.0", Flavour::kLean).error();
  EXPECT_EQ(error.kind, ErrorKind::kEnvironment);
  EXPECT_EQ(error.message.rfind("torch 2.13.0 needs about 1152921", 0), 0u) << error.message;
  for (const ProcessOptions& call : runner_.calls) EXPECT_NE(call.argv[0], "/fake/uv");
}

TEST_F(ProvisionerTest, AnUnknownReleaseNamesTheNearest) {
  compile_failure_ = "Because there is no version of torch==2.14.9 and you require torch==2.14.9\n";
  const Error error = Make()->ProvideTorch("2.14.9", Flavour::kLean).error();
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_EQ(error.message,
            "no torch 2.14.9 for this interpreter on the package index; nearest: 2.13.0 (the newest before), 2.15.0 (the first after)");
}

TEST_F(ProvisionerTest, OfflineUsesWhatIsThereAndNamesWhatIsMissing) {
  ASSERT_TRUE(Make()->ProvideTorch("2.13.0", Flavour::kLean).ok());
  EXPECT_EQ(*Make(true)->ResolveTorch("newest"), "2.13.0");
  EXPECT_TRUE(Make(true)->ProvideTorch("2.13.0", Flavour::kLean)->reused);
  compile_failure_ = "hint: Packages were unavailable because the network was disabled.\n";
  const Error error = Make(true)->ProvideTorch("2.15.0", Flavour::kLean).error();
  EXPECT_EQ(error.kind, ErrorKind::kEnvironment);
  EXPECT_EQ(error.message,
            "torch 2.15.0 is not installed and --offline forbids to fetch it; run the same command once without --offline (installed: 2.13.0)");
}

TEST_F(ProvisionerTest, AStateDirectoryThatCannotBeUsedIsOneLine) {
  WriteFile(dir_ / "file", "");
  ProvisionOptions options;
  options.state_dir = dir_ / "file/state";
  options.cases_dir = dir_ / "cases";
  const Error error = Provisioner::Open(options, &runner_, &index_).error();
  EXPECT_EQ(error.kind, ErrorKind::kEnvironment);
  EXPECT_EQ(error.message, "the state directory " + (dir_ / "file/state").string() + " cannot be used (Not a directory); set FLCE_REPRO_HOME to a folder that you can write");
}

TEST_F(ProvisionerTest, AReleaseOfLigerIsInstalledOnceAndNeverTrustedEdited) {
  EXPECT_FALSE(Make()->ProvideLiger("2.13.0")->reused);
  const Result<LigerTree> again = Make()->ProvideLiger("2.13.0");
  EXPECT_TRUE(again->reused);
  EXPECT_EQ(again->sha256, "ab");
  WriteFile(again->root / "liger_kernel/ops/a.py", "x = 2\n");
  EXPECT_FALSE(Make()->ProvideLiger("2.13.0")->reused);
  EXPECT_EQ(*ReadFile(again->root / "liger_kernel/ops/a.py"), "x = 1\n");
}

/// An environment of ours that has `triton`.
Environment WithTriton(const fs::path& dir) {
  Environment environment;
  environment.site_packages = dir / "site";
  fs::create_directories(dir / "site/triton-3.7.1.dist-info");
  return environment;
}

TEST_F(ProvisionerTest, ACasesPackagesAreOneFolderWithoutWhatTheEnvironmentHas) {
  const Result<PackageFolder> made = Make()->ProvidePackages({"needed==1.0", "triton==9"}, WithTriton(dir_));
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_FALSE(made->reused);
  EXPECT_EQ(made->packages, std::vector<std::string>{"needed==1.0"});
  EXPECT_EQ(made->root.parent_path(), state_ / "packages");
  EXPECT_EQ(made->root.filename().string().rfind("needed-1.0-cp311-", 0), 0u) << made->root;
  EXPECT_EQ(*ReadFile(made->root / "requirements.txt"), "needed==1.0 --hash=sha256:cd\n");
  EXPECT_TRUE(fs::exists(made->root / "needed/a.py"));
  const fs::path building = state_ / "packages" / (".building-" + made->root.filename().string());
  EXPECT_EQ(runner_.calls.back().argv,
            (std::vector<std::string>{"/fake/uv", "--color", "never", "--no-progress", "pip", "install", "--require-hashes", "--no-deps", "--no-build", "-r",
                                      (building / "requirements.txt").string(), "--python", "/usr/bin/python3", "--target", building.string()}));
  const std::vector<std::string>& resolve = runner_.calls[runner_.calls.size() - 2].argv;
  EXPECT_NE(std::find(resolve.begin(), resolve.end(), "--no-deps"), resolve.end());

  const Result<PackageFolder> again = Make()->ProvidePackages({"needed==1.0"}, WithTriton(dir_));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->reused);
  EXPECT_EQ(again->root, made->root);
  EXPECT_EQ(again->lock_sha256, made->lock_sha256);
  EXPECT_EQ(installs_, 1);
  EXPECT_TRUE(Make()->ProvidePackages({"triton==9"}, WithTriton(dir_))->root.empty());
  EXPECT_EQ(installs_, 1);
}

TEST_F(ProvisionerTest, AnotherListOfPackagesIsAnotherFolder) {
  const fs::path first = Make()->ProvidePackages({"needed==1.0"}, WithTriton(dir_))->root;
  EXPECT_NE(Make()->ProvidePackages({"needed==1.0", "further==2"}, WithTriton(dir_))->root, first);
  EXPECT_EQ(installs_, 2);
}

TEST_F(ProvisionerTest, PackagesThatWereEditedOrHalfMadeAreMadeAgain) {
  const fs::path root = Make()->ProvidePackages({"needed==1.0"}, WithTriton(dir_))->root;
  const std::function<void()> kDamages[] = {[&] { WriteFile(root / "needed/a.py", "x = 2\n"); }, [&] { fs::remove(root / "stamp.json"); },
                                            [&] { WriteFile(root / "stamp.json", R"({"format": 1)"); }};
  int expected = 1;
  for (const auto& damage : kDamages) {
    damage();
    const Result<PackageFolder> made = Make()->ProvidePackages({"needed==1.0"}, WithTriton(dir_));
    ASSERT_TRUE(made.ok());
    EXPECT_FALSE(made->reused);
    EXPECT_EQ(*ReadFile(root / "needed/a.py"), "x = 1\n");
    EXPECT_EQ(installs_, ++expected);
  }
}

TEST_F(ProvisionerTest, PackagesThatCannotBeHadAreOneLineAndLeaveNothing) {
  install_failure_ = "error: Failed to fetch: `https://x/n.whl`\n  Caused by: dns error\n";
  const Error fetch = Make()->ProvidePackages({"needed==1.0", "further==2"}, WithTriton(dir_)).error();
  EXPECT_EQ(fetch.kind, ErrorKind::kEnvironment);
  EXPECT_EQ(fetch.message.rfind("cannot fetch needed 1.0 with 1 package: no answer from https://x/n.whl (dns error)", 0), 0u) << fetch.message;
  EXPECT_TRUE(fs::is_empty(state_ / "packages"));
  const Error offline = Make(true)->ProvidePackages({"needed==1.0"}, WithTriton(dir_)).error();
  EXPECT_EQ(offline.kind, ErrorKind::kEnvironment);
  EXPECT_EQ(offline.message, "needed 1.0 is not installed and --offline forbids to fetch it; run the same command once without --offline");
  compile_failure_ = "Because there is no version of needed==1.0 and you require needed==1.0\n";
  const Error unknown = Make()->ProvidePackages({"needed==1.0"}, WithTriton(dir_)).error();
  EXPECT_EQ(unknown.kind, ErrorKind::kNotFound);
  EXPECT_EQ(unknown.message, "no needed 1.0 on the package index; the case names needed==1.0");
  EXPECT_TRUE(fs::is_empty(state_ / "packages"));
}

TEST_F(ProvisionerTest, EvictionTakesTheOldestThatNobodyUses) {
  const std::unique_ptr<Provisioner> provisioner = Make();
  std::optional<Environment> held = *provisioner->ProvideTorch("2.13.0", Flavour::kLean);
  WriteFile(state_ / "envs/.building-torch-2.9.0-lean-cp311/half", "x");
  EXPECT_EQ(*provisioner->Evict(0), std::vector<std::string>{".building-torch-2.9.0-lean-cp311"});
  EXPECT_TRUE(fs::exists(Root()));
  held.reset();
  EXPECT_TRUE(provisioner->Evict(UINT64_MAX)->empty());
  EXPECT_EQ(*provisioner->Evict(0), std::vector<std::string>{"torch-2.13.0-lean-cp311"});
  EXPECT_FALSE(fs::exists(Root()));
  EXPECT_TRUE(provisioner->UsedEnvironments().empty());
}

TEST_F(ProvisionerTest, AnotherSourceIsAnotherEnvironment) {
  ProvisionOptions options;
  options.state_dir = state_;
  options.cases_dir = dir_ / "cases";
  options.torch_index = "https://mirror/whl";
  const Result<Environment> made = (*Provisioner::Open(options, &runner_, &index_))->ProvideTorch("2.13.0", Flavour::kLean);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->id.rfind("torch-2.13.0-lean-cp311-x", 0), 0u) << made->id;
}

}  // namespace
}  // namespace flce
