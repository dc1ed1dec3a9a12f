#include "harness/provision/stubs.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/base/text.h"
#include "harness/provision/test_support.h"

namespace flce {
namespace {

const std::vector<StubRule> kRules = {{"libcublasLt.so", {"cublasLt*"}, 15}, {"libcublas.so", {"cublas*"}, 15}, {"libcudnn.so", {"cudnn*"}, 3000},
                                      {"libcudart.so", {"cuda*"}, 801},      {"libcuda.so", {"cu*"}, 801}};

/// Small libraries built by the machine's compiler: a "CUDA runtime" with version nodes, and one that uses it.
class StubsTest : public InTempDir {
 protected:
  void Compile(const std::string& name, const std::string& source, std::vector<std::string> more) {
    WriteFile(dir_ / (name + ".c"), source);
    ProcessOptions process;
    process.argv = {FindCompiler(), "-shared", "-fPIC", "-o", (dir_ / name).string(), (dir_ / (name + ".c")).string(), "-Wl,-soname," + name};
    process.argv.insert(process.argv.end(), more.begin(), more.end());
    const Result<ProcessResult> result = RunProcess(process);
    ASSERT_TRUE(result.ok() && result->ok()) << result->err;
  }

  void SetUp() override {
    InTempDir::SetUp();
    WriteFile(dir_ / "map", "libcudart.so.13 { global: cudaMalloc; cudaGetErrorString; cudaUnused; };\n");
    Compile("libcudart.so.13", "int cudaMalloc(void){return 0;} const char* cudaGetErrorString(int e){return e?\"x\":\"y\";} int cudaUnused(void){return 0;}",
            {"-Wl,--version-script=" + (dir_ / "map").string()});
    Compile("libcublas.so.13", "int cublasCreate_v2(void){return 0;} int other(void){return 0;}", {});
    Compile("libuser.so",
            "int cudaMalloc(void); const char* cudaGetErrorString(int); int cublasCreate_v2(void); int own(void){return 1;}\n"
            "int use(void){return cudaMalloc();} const char* text(void){return cudaGetErrorString(1);} int use_blas(void){return cublasCreate_v2()+own();}",
            {(dir_ / "libcudart.so.13").string(), (dir_ / "libcublas.so.13").string()});
  }
};

TEST_F(StubsTest, ReadsTheInterfaceOfALibrary) {
  const Result<ElfLibrary> library = ReadElf(dir_ / "libuser.so");
  ASSERT_TRUE(library.ok());
  EXPECT_EQ(library->soname, "libuser.so");
  EXPECT_EQ(std::count(library->needed.begin(), library->needed.end(), "libcudart.so.13"), 1);
  EXPECT_EQ(std::count(library->imports.begin(), library->imports.end(), (ElfImport{"cudaMalloc", "libcudart.so.13", "libcudart.so.13", false})), 1);
  EXPECT_EQ(std::count(library->imports.begin(), library->imports.end(), (ElfImport{"cublasCreate_v2", "", "", false})), 1);
  EXPECT_EQ(std::count(library->exports.begin(), library->exports.end(), "own"), 1);
}

TEST_F(StubsTest, WhatIsNoLibraryIsSaidSo) {
  WriteFile(dir_ / "text.so", "not ELF at all");
  WriteFile(dir_ / "empty.so", "");
  const std::string whole = *ReadFile(dir_ / "libuser.so");
  WriteFile(dir_ / "cut.so", whole.substr(0, whole.size() / 2));
  for (const char* name : {"text.so", "empty.so", "cut.so"}) EXPECT_EQ(ReadElf(dir_ / name).error().kind, ErrorKind::kData) << name;
  EXPECT_EQ(ReadElf(dir_ / "absent.so").error().kind, ErrorKind::kNotFound);
}

TEST_F(StubsTest, PlansWhatIsMissingAndNothingElse) {
  const std::vector<ElfLibrary> scanned = {*ReadElf(dir_ / "libuser.so")};
  const std::vector<StubLibrary> plan = PlanStubs(scanned, {}, kRules);
  ASSERT_EQ(plan.size(), 2u);  // not libc, which no rule knows
  EXPECT_EQ(plan[0].soname, "libcublas.so.13");
  EXPECT_EQ(plan[0].functions.at(""), std::set<std::string>{"cublasCreate_v2"});
  EXPECT_EQ(plan[1].soname, "libcudart.so.13");
  EXPECT_EQ(plan[1].functions.at("libcudart.so.13"), (std::set<std::string>{"cudaGetErrorString", "cudaMalloc"}));
  EXPECT_EQ(PlanStubs(scanned, {"libcublas.so.13"}, kRules).size(), 1u);
}

TEST(StubPlanTest, ALibraryOfAFamilyAndAnUnusedNodeGetAStub) {
  ElfLibrary library;
  library.needed = {"libcudnn_ops.so.9", "libcudart.so.12", "libgomp.so.1"};
  library.needed_versions = {{"libcudart.so.12", "libcudart.so.12"}};
  const std::vector<StubLibrary> plan = PlanStubs({library}, {}, kRules);
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].soname, "libcudart.so.12");
  EXPECT_EQ(StubVersionScript(plan[0]), "libcudart.so.12 { };\n");
  EXPECT_EQ(plan[1].soname, "libcudnn_ops.so.9");
  EXPECT_EQ(plan[1].failure, 3000);
}

/// What a child does with a stubbed library: loads it, calls it, reports by exit code and standard error.
struct Called {
  int code;
  std::string err;
};
Called CallThroughStubs(const fs::path& library, const char* function) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], 2);
    void* handle = ::dlopen(library.c_str(), RTLD_NOW);
    if (handle == nullptr) ::_exit(99);
    if (std::string_view(function) == "text") ::_exit(reinterpret_cast<const char* (*)()>(::dlsym(handle, function))()[0]);
    int (*call)() = reinterpret_cast<int (*)()>(::dlsym(handle, function));
    call();
    ::_exit(call() & 0xff);
  }
  ::close(ends[1]);
  std::string err;
  char buffer[512];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) err.append(buffer, static_cast<size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, err};
}

TEST_F(StubsTest, AStubbedLibraryLoadsAndItsFunctionsFailByName) {
  const fs::path stubs = dir_ / "stubs";
  SystemRunner runner;
  ASSERT_TRUE(BuildStubs(PlanStubs({*ReadElf(dir_ / "libuser.so")}, {}, kRules), {"*ErrorString"}, FindCompiler(), stubs, runner).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(stubs), fs::directory_iterator()), 2);
  // The stubs take the place of the libraries it was linked with, which are gone.
  fs::remove(dir_ / "libcudart.so.13");
  fs::remove(dir_ / "libcublas.so.13");
  for (const char* name : {"libcudart.so.13", "libcublas.so.13"}) ASSERT_NE(::dlopen((stubs / name).c_str(), RTLD_NOW | RTLD_GLOBAL), nullptr) << ::dlerror();
  const Called twice = CallThroughStubs(dir_ / "libuser.so", "use");
  EXPECT_EQ(twice.code, 801 & 0xff);
  EXPECT_EQ(twice.err, "[stub] cudaMalloc called\n");  // once, though called twice
  EXPECT_EQ(CallThroughStubs(dir_ / "libuser.so", "use_blas").code, 16);
  EXPECT_EQ(CallThroughStubs(dir_ / "libuser.so", "text").code, 's');
}

TEST_F(StubsTest, WithoutACompilerTheErrorNamesThePackage) {
  SystemRunner runner;
  const Status built = BuildStubs({}, {}, "", dir_ / "s", runner);
  EXPECT_EQ(built.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(built.error().message.find("install gcc"), std::string::npos);
}

TEST_F(StubsTest, LibcudaLinksFollowTheDriver) {
  ASSERT_TRUE(MakeLibcudaDirectory("/a/emulator.so", dir_ / "libcuda").ok());
  ASSERT_TRUE(MakeLibcudaDirectory("/b/emulator.so", dir_ / "libcuda").ok());
  EXPECT_EQ(fs::read_symlink(dir_ / "libcuda/libcuda.so"), "/b/emulator.so");
  EXPECT_EQ(fs::read_symlink(dir_ / "libcuda/libcuda.so.1"), "/b/emulator.so");
}

}  // namespace
}  // namespace flce
