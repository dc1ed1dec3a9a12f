#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/version.h"
#include "harness/provision/index.h"
#include "harness/provision/runner.h"

namespace flce {

/// An index that holds a list of versions, and counts what it is asked.
class FakeIndex : public PackageIndex {
 public:
  explicit FakeIndex(std::vector<std::string> versions) : versions_(std::move(versions)) {}

  Result<std::optional<std::string>> Find(const IndexQuery& query) override {
    queries.push_back(query.package + query.constraint + (query.oldest ? " oldest" : ""));
    if (failure) return *failure;
    const Result<VersionRange> range = VersionRange::Parse(query.constraint);
    // As uv does for a range that holds nothing by itself: an error, not "no such version".
    const size_t from = query.constraint.find(">="), below = query.constraint.find(",<");
    if (from == 0 && below != std::string::npos && query.constraint[below + 2] != '=' &&
        !(*Version::Parse(query.constraint.substr(2, below - 2)) < *Version::Parse(query.constraint.substr(below + 2))))
      return Error{ErrorKind::kEnvironment, "contradictory: " + query.constraint};
    std::optional<Version> best;
    for (const std::string& text : versions_) {
      const Version version = *Version::Parse(text);
      if ((version.IsPreRelease() && !query.pre_releases) || !range->Contains(version)) continue;
      if (!best || (query.oldest ? version < *best : version > *best)) best = version;
    }
    return best ? std::optional<std::string>(best->text()) : std::nullopt;
  }

  std::vector<std::string> queries;
  std::optional<Error> failure;

 private:
  std::vector<std::string> versions_;
};

/// Plays programs: what `handler` does not answer runs for real.
class FakeRunner : public ProcessRunner {
 public:
  using Handler = std::function<std::optional<ProcessResult>(const std::vector<std::string>&)>;

  Result<ProcessResult> Run(const ProcessOptions& options, const std::function<void(pid_t)>& on_tick) override {
    calls.push_back(options);
    if (handler)
      if (std::optional<ProcessResult> answer = handler(options.argv)) return *answer;
    return real_.Run(options, on_tick);
  }

  Handler handler;
  std::vector<ProcessOptions> calls;

 private:
  SystemRunner real_;
};

inline ProcessResult Succeeds(std::string out = "") {
  ProcessResult result;
  result.state = Exited{0};
  result.out = std::move(out);
  return result;
}

inline ProcessResult Fails(std::string err, int code = 1) {
  ProcessResult result;
  result.state = Exited{code};
  result.err = std::move(err);
  return result;
}

inline void WriteFile(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// A folder of its own for each test.
class InTempDir : public testing::Test {
 protected:
  void SetUp() override {
    Result<TempDir> made = TempDir::Make(testing::TempDir(), "provision");
    ASSERT_TRUE(made.ok());
    dir_ = made->Release();
  }
  void TearDown() override { fs::remove_all(dir_); }
  fs::path dir_;
};

}  // namespace flce
