#include "harness/provision/uv.h"

#include <algorithm>

#include "harness/base/text.h"

#include "harness/provision/test_support.h"

namespace flce {
namespace {

UvOptions Options(const fs::path& dir) { return {"/opt/uv", "/usr/bin/python3", dir / "cache", dir / "uv.log", "", {}, false}; }

bool Holds(const std::vector<std::string>& arguments, const std::string& text) {
  return std::find(arguments.begin(), arguments.end(), text) != arguments.end();
}

struct Meaning {
  const char* output;
  ErrorKind kind;
  const char* message;
};

class UvTest : public InTempDir {};

TEST_F(UvTest, FailuresBecomeOneLine) {
  const Meaning kMeanings[] = {
      {"error: Failed to install\n  cause: failed to write\n  cause: No space left on device (os error 28)\n", ErrorKind::kEnvironment,
       "the disk is full while installing torch 2.13.0 (CACHE); free space, or set FLCE_REPRO_HOME to a larger file system"},
      {"error: Request failed after 3 retries\n  cause: Failed to fetch: https://pypi.org/simple/torch/\n  cause: client error (Connect)\n  cause: dns error\n",
       ErrorKind::kEnvironment,
       "cannot fetch torch 2.13.0: no answer from https://pypi.org/simple/torch/ (dns error); check the network, or name a mirror with --torch-index or a "
       "folder with --find-links"},
      {"error: No solution found when resolving dependencies\n  cause: Because there is no version of torch==2.13.0 and you require torch==2.13.0, we can conclude "
       "that your requirements are unsatisfiable.\n",
       ErrorKind::kNotFound, "no torch 2.13.0 on the package index"},
      {"error: No solution found\n  cause: Because only torch<=2.15.0 is available and you require torch>=2.99,<2.100, we can conclude ...\n", ErrorKind::kNotFound,
       "no torch 2.13.0 on the package index"},
      {"  cause: Because torch==2.1.0 has no wheels with a matching Python ABI tag (e.g., `cp313`) and you require it\n\nhint: You require CPython 3.13 (`cp313`), but "
       "we only found wheels for `torch` (v2.1.0) with the following Python ABI tags: `cp38`, `cp39`\n",
       ErrorKind::kNotFound, "torch 2.13.0 has no wheel for /usr/bin/python3 (it has cp38, cp39); name another interpreter with FLCE_PYTHON"},
      {"error: Hash mismatch for `torch==2.13.0`\n", ErrorKind::kEnvironment,
       "a file fetched for torch 2.13.0 does not have the SHA-256 that the index promised; nothing was installed"},
      {"error: Failed to fetch\n  cause: HTTP status client error (403 Forbidden) for url (https://mirror/simple/torch/)\n", ErrorKind::kEnvironment,
       "https://mirror/simple/torch/ refuses access (needed for torch 2.13.0)"},
      {"error: something new\n  cause: deep down\n", ErrorKind::kEnvironment, "uv failed on torch 2.13.0: deep down"},
  };
  UvOptions options = Options(dir_);
  options.cache_dir = "CACHE";
  for (const Meaning& meaning : kMeanings) {
    const Error error = ExplainUvFailure(meaning.output, "torch 2.13.0", options);
    EXPECT_EQ(error.kind, meaning.kind) << meaning.output;
    EXPECT_EQ(error.message, meaning.message);
  }
}

TEST_F(UvTest, AskingForReleasesReadsTheAnswer) {
  FakeRunner runner;
  runner.handler = [](const std::vector<std::string>&) { return Succeeds("torch==2.13.0\n"); };
  Uv uv(runner, Options(dir_));
  EXPECT_EQ(**uv.Find({"torch", ">=2.13,<2.14", false, false}), "2.13.0");
  const std::vector<std::string>& argv = runner.calls[0].argv;
  EXPECT_TRUE(Holds(argv, "--no-deps"));
  EXPECT_TRUE(Holds(argv, "highest"));
  EXPECT_EQ(runner.calls[0].environment.at("UV_CACHE_DIR"), (dir_ / "cache").string());
  EXPECT_EQ(runner.calls[0].environment.at("VIRTUAL_ENV"), std::nullopt);

  runner.handler = [](const std::vector<std::string>&) { return Fails("there is no version of torch>=9\n"); };
  EXPECT_EQ(*uv.Find({"torch", ">=9", false, false}), std::nullopt);
}

TEST_F(UvTest, TheLogNamesTheCallAndItsOutput) {
  FakeRunner runner;
  runner.handler = [](const std::vector<std::string>&) { return Fails("error: something new\n"); };
  Uv uv(runner, Options(dir_));
  const Error error = uv.Find({"torch", "", false, false}).error();
  EXPECT_EQ(error.message, "uv failed on torch: something new (log: " + (dir_ / "uv.log").string() + ")");
  const std::string log = *ReadFile(dir_ / "uv.log");
  EXPECT_NE(log.find("$ /opt/uv --color never --no-progress pip compile"), std::string::npos);
  EXPECT_NE(log.find("exit code 1"), std::string::npos);
}

std::string Pylock(const std::vector<std::string>& names) {
  std::string text = "lock-version = \"1.0\"\n";
  for (const std::string& name : names)
    text += "\n[[packages]]\nname = \"" + name + "\"\nversion = \"1\"\nwheels = [{ url = \"https://x/" + name + "-1.whl\", size = 5, hashes = { sha256 = \"ab\" } }]\n";
  return text;
}

std::vector<std::string> Excluded(const std::vector<std::string>& argv) {
  for (size_t i = 0; i + 1 < argv.size(); ++i)
    if (argv[i] == "--excludes") return Split(std::string(Trim(*ReadFile(argv[i + 1]))), '\n');
  return {};
}

TEST_F(UvTest, WhatMatchesAPatternIsLeftOutWithWhatOnlyItNeeds) {
  FakeRunner runner;
  runner.handler = [](const std::vector<std::string>& argv) {
    return Excluded(argv).empty() ? Succeeds(Pylock({"torch", "nvidia-cublas", "cuda-toolkit", "only-for-cuda"})) : Succeeds(Pylock({"torch"}));
  };
  Uv uv(runner, Options(dir_));
  const auto packages = uv.Resolve({{"torch==2.13.0"}, {"nvidia-*", "cuda-*"}, true, "torch 2.13.0"});
  ASSERT_TRUE(packages.ok());
  ASSERT_EQ(packages->size(), 1u);
  EXPECT_EQ(packages->front().name, "torch");
  EXPECT_EQ(runner.calls.size(), 2u);
}

TEST_F(UvTest, AMirrorWithoutThemServesALeanEnvironment) {
  FakeRunner runner;
  runner.handler = [](const std::vector<std::string>& argv) {
    const std::vector<std::string> excluded = Excluded(argv);
    if (!Holds(excluded, "cuda-toolkit")) return Fails("Because cuda-toolkit was not found in the provided package locations and torch==2.13.0 depends on it\n");
    if (!Holds(excluded, "nvidia-nccl-cu13")) return Fails("Because nvidia-nccl-cu13 was not found in the provided package locations\n");
    return Succeeds(Pylock({"torch"}));
  };
  Uv uv(runner, Options(dir_));
  EXPECT_TRUE(uv.Resolve({{"torch==2.13.0"}, {"nvidia-*", "cuda-*"}, true, "torch 2.13.0"}).ok());
  EXPECT_EQ(runner.calls.size(), 3u);
}

TEST_F(UvTest, IndexAndFoldersPassThrough) {
  FakeRunner runner;
  runner.handler = [](const std::vector<std::string>&) { return Succeeds("torch==2.13.0\n"); };
  UvOptions options = Options(dir_);
  options.torch_index = "https://mirror/whl";
  options.find_links = {"/wheels"};
  options.offline = true;
  Uv uv(runner, options);
  ASSERT_TRUE(uv.Find({"torch", "", false, false}).ok());
  for (const char* argument : {"--index", "https://mirror/whl", "--find-links", "/wheels", "--offline"}) EXPECT_TRUE(Holds(runner.calls[0].argv, argument)) << argument;
}

}  // namespace
}  // namespace flce
