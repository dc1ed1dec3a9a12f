#include "harness/provision/fixes.h"

#include "harness/provision/diff.h"
#include "harness/provision/provisioner.h"
#include "harness/provision/test_support.h"

namespace flce {
namespace {

constexpr char kLigerDiff[] =
    "Words before.\n--- a/src/liger_kernel/ops/loss.py\n+++ b/src/liger_kernel/ops/loss.py\n@@ -1,3 +1,3 @@\n a = 1\n-b = 2\n+b = 20\n c = 3\n"
    "--- a/test/test_loss.py\n+++ b/test/test_loss.py\n@@ -1 +1 @@\n-x\n+y\n";
constexpr char kTorchDiff[] = "--- a/torch/_inductor/lowering.py\n+++ b/torch/_inductor/lowering.py\n@@ -1,2 +1,3 @@\n one\n+one and a half\n two\n"
                              "--- /dev/null\n+++ b/torch/_inductor/new/__init__.py\n@@ -0,0 +1,1 @@\n+fresh\n";

TEST(DiffTest, ReadsSectionsAndSkipsWords) {
  const std::vector<FileDiff> files = *ParseDiff(kTorchDiff, "x.diff");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "torch/_inductor/lowering.py");
  EXPECT_FALSE(files[0].adds);
  EXPECT_EQ(files[1].path, "torch/_inductor/new/__init__.py");
  EXPECT_TRUE(files[1].adds);
  EXPECT_EQ(files[0].Text("q.py"), "--- a/q.py\n+++ b/q.py\n@@ -1,2 +1,3 @@\n one\n+one and a half\n two\n");
}

TEST(DiffTest, ARemovedLineThatLooksLikeAHeaderIsContent) {
  const std::vector<FileDiff> files = *ParseDiff("--- a/torch/a.py\n+++ b/torch/a.py\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n", "x.diff");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].hunks, "@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n");
}

TEST(DiffTest, WhatIsNoDiffIsSaidSo) {
  EXPECT_EQ(ParseDiff("hello\n", "x.diff").error().message, "x.diff is no unified diff (no line '--- FILE' followed by '+++ FILE')");
  EXPECT_EQ(ParseDiff("--- a/torch/a.py\n+++ b/torch/a.py\n@@ -1,4 +1,4 @@\n a\n", "x.diff").error().message, "x.diff: the last hunk is cut short");
  EXPECT_FALSE(ParseDiff("rename from a\n", "x.diff").ok());
}

TEST(DiffTest, PathsAndModules) {
  EXPECT_EQ(InstalledPath("src/liger_kernel/ops/a.py"), "liger_kernel/ops/a.py");
  EXPECT_EQ(InstalledPath("torch/_inductor/a.py"), "torch/_inductor/a.py");
  EXPECT_EQ(InstalledPath("test/inductor/test_a.py"), "");
  EXPECT_EQ(ModuleOf("torch/_inductor/a.py"), "torch._inductor.a");
  EXPECT_EQ(ModuleOf("torch/_inductor/__init__.py"), "torch._inductor");
}

TEST(FixesTest, TheShippedFixesAreReadAndTyposAnswered) {
  const fs::path cases = FLCE_SOURCE_DIR "/cases";
  const Result<std::vector<FixDescription>> fixes = LoadFixes(cases);
  ASSERT_TRUE(fixes.ok()) << fixes.error().message;
  for (const FixDescription& fix : *fixes)
    for (const fs::path& file : fix.files) EXPECT_TRUE(ParseDiff(*ReadFile(file), file.string()).ok()) << file;
  EXPECT_EQ(FindFix("guard", cases)->kind, "diff");
  EXPECT_EQ(FindFix("none", cases)->files.size(), 0u);
  EXPECT_EQ(FindFix("gaurd", cases).error().message, "unknown fix 'gaurd'; did you mean 'guard'?");
  EXPECT_EQ(FindFix("absent.diff", cases).error().message, "no such diff: absent.diff");
}

class OverlayTest : public InTempDir {
 protected:
  void SetUp() override {
    InTempDir::SetUp();
    WriteFile(dir_ / "liger/liger_kernel/ops/loss.py", "a = 1\nb = 2\nc = 3\n");
    WriteFile(dir_ / "liger/liger_kernel/ops/other.py", "other\n");
    WriteFile(dir_ / "site/torch/_inductor/lowering.py", "one\ntwo\n");
    liger_.root = dir_ / "liger";
    liger_.sha256 = "l";
    environment_.site_packages = dir_ / "site";
    ProvisionOptions options;
    options.state_dir = dir_ / "state";
    options.cases_dir = FLCE_SOURCE_DIR "/cases";
    provisioner_ = Provisioner::Open(options).value();
  }

  FixOverlay Provide(const std::string& diff) {
    WriteFile(dir_ / "my.diff", diff);
    Result<FixOverlay> overlay = provisioner_->ProvideFix({"my", "", "", "diff", {dir_ / "my.diff"}, "", {}}, liger_, environment_);
    EXPECT_TRUE(overlay.ok()) << overlay.error().message;
    return *overlay;
  }

  LigerTree liger_;
  Environment environment_;
  std::unique_ptr<Provisioner> provisioner_;
};

TEST_F(OverlayTest, ALigerFixIsAPatchedCopy) {
  const FixOverlay overlay = Provide(kLigerDiff);
  ASSERT_TRUE(overlay.applies) << overlay.reason;
  EXPECT_EQ(*ReadFile(overlay.sys_path / "liger_kernel/ops/loss.py"), "a = 1\nb = 20\nc = 3\n");
  EXPECT_EQ(*ReadFile(overlay.sys_path / "liger_kernel/ops/other.py"), "other\n");
  EXPECT_EQ(*ReadFile(dir_ / "liger/liger_kernel/ops/loss.py"), "a = 1\nb = 2\nc = 3\n");
  EXPECT_TRUE(overlay.hooks.empty());
}

TEST_F(OverlayTest, ATorchFixIsAHookForEachFile) {
  const FixOverlay overlay = Provide(kTorchDiff);
  ASSERT_TRUE(overlay.applies) << overlay.reason;
  EXPECT_TRUE(overlay.sys_path.empty());
  ASSERT_EQ(overlay.hooks.size(), 2u);
  EXPECT_EQ(overlay.hooks[0].module, "torch._inductor.lowering");
  EXPECT_EQ(*ReadFile(overlay.hooks[0].file), "one\none and a half\ntwo\n");
  EXPECT_EQ(overlay.hooks[1].module, "torch._inductor.new");
  EXPECT_EQ(*ReadFile(overlay.hooks[1].file), "fresh\n");
  EXPECT_EQ(*ReadFile(dir_ / "site/torch/_inductor/lowering.py"), "one\ntwo\n");
}

TEST_F(OverlayTest, AnotherContextIsAResultWithTheHunk) {
  WriteFile(dir_ / "liger/liger_kernel/ops/loss.py", "a = 1\nb = 3\nc = 3\n");
  for (int round = 0; round < 2; ++round) {  // made, then remembered
    const FixOverlay overlay = Provide(kLigerDiff);
    EXPECT_FALSE(overlay.applies);
    EXPECT_EQ(overlay.reason, "hunk 1 of liger_kernel/ops/loss.py does not match");
    EXPECT_NE(overlay.reject.find("-b = 2\n+b = 20\n"), std::string::npos) << overlay.reject;
    EXPECT_TRUE(overlay.sys_path.empty());
  }
}

TEST_F(OverlayTest, OtherLinesAroundAreFineButNoFuzz) {
  WriteFile(dir_ / "liger/liger_kernel/ops/loss.py", "new\nlines\na = 1\nb = 2\nc = 3\n");
  EXPECT_TRUE(Provide(kLigerDiff).applies);
  WriteFile(dir_ / "liger/liger_kernel/ops/loss.py", "a = 10\nb = 2\nc = 3\n");
  liger_.sha256 = "other";
  EXPECT_FALSE(Provide(kLigerDiff).applies);
}

TEST_F(OverlayTest, AbsentFilesAndNativeCodeDoNotApply) {
  EXPECT_EQ(Provide("--- a/torch/gone.py\n+++ b/torch/gone.py\n@@ -1 +1 @@\n-a\n+b\n").reason, "this torch has no torch/gone.py");
  EXPECT_EQ(Provide("--- a/torch/csrc/x.cpp\n+++ b/torch/csrc/x.cpp\n@@ -1 +1 @@\n-a\n+b\n").reason, "torch/csrc/x.cpp is not a Python file: the fix needs a build");
  EXPECT_EQ(Provide("--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-a\n+b\n").reason, "the diff changes nothing in torch/ or liger_kernel/");
}

TEST_F(OverlayTest, AMissingRequirementIsTheReason) {
  const FixDescription fix{"f", "", "torch", "diff", {}, "", {{"torch/_inductor/lowering.py", "three", "this torch has no three"}}};
  const FixOverlay overlay = *provisioner_->ProvideFix(fix, liger_, environment_);
  EXPECT_FALSE(overlay.applies);
  EXPECT_EQ(overlay.reason, "this torch has no three");
}

class CheckoutTest : public InTempDir {};

TEST_F(CheckoutTest, ACheckoutIsReadWhereItIs) {
  WriteFile(dir_ / "repo/src/liger_kernel/ops/a.py", "x\n");
  WriteFile(dir_ / "repo/pyproject.toml", "[project]\nname = \"liger_kernel\"\nversion = \"0.8.6\"\n");
  FakeRunner runner;
  runner.handler = [](const std::vector<std::string>& argv) { return Succeeds(argv[3] == "rev-parse" ? "1234567890abcdef\n" : " M src/a.py\n"); };
  for (const char* path : {"repo", "repo/src", "repo/src/liger_kernel"}) {
    const Result<LigerTree> tree = OpenLigerCheckout(dir_ / path, runner);
    ASSERT_TRUE(tree.ok()) << path;
    EXPECT_EQ(tree->root, fs::canonical(dir_ / "repo/src"));
    EXPECT_EQ(tree->Label(), "0.8.6 at 1234567890ab with changes");
  }
  // An unpacked wheel says its version beside the package.
  WriteFile(dir_ / "wheel/liger_kernel/ops/a.py", "x\n");
  WriteFile(dir_ / "wheel/liger_kernel-0.8.2.dist-info/METADATA", "Name: liger_kernel\n");
  FakeRunner no_git;
  no_git.handler = [](const std::vector<std::string>&) { return ProcessResult{Exited{128}, "", "not a git repository", 0, 0, 0, 0}; };
  const Result<LigerTree> wheel = OpenLigerCheckout(dir_ / "wheel", no_git);
  ASSERT_TRUE(wheel.ok());
  EXPECT_EQ(wheel->version, "0.8.2");
  // Unpacked in an ignored folder of a repository, whose commit says nothing about it.
  FakeRunner other_repository;
  other_repository.handler = [](const std::vector<std::string>& argv) {
    return argv[3] == "ls-files" ? ProcessResult{Exited{1}, "", "did not match any file(s) known to git", 0, 0, 0, 0} : Succeeds("1234567890abcdef\n");
  };
  EXPECT_EQ(OpenLigerCheckout(dir_ / "wheel", other_repository)->Label(), "0.8.2");
  EXPECT_EQ(OpenLigerCheckout(dir_, runner).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(OpenLigerCheckout(dir_ / "absent", runner).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace flce
