// Drives libflce_emulated_cuda.so through the CUDA ABI, as torch does but without it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "harness/emulator/abi_structs.h"
#include "harness/emulator/flce_emulator.h"

namespace flce::emulator {
namespace {

void* Library() {
  static void* const library = [] {
    setenv("FLCE_EMU_PROFILE", "# as the driver sets it\nname=NVIDIA L4\nsms=58\n", 1);
    void* opened = dlopen(FLCE_BINARY_DIR "/lib/libflce_emulated_cuda.so", RTLD_NOW | RTLD_GLOBAL);
    if (opened == nullptr) ADD_FAILURE() << dlerror();
    return opened;
  }();
  return library;
}

// Calls the entry point of that name: Call("cudaMalloc", &pointer, size_t{16}).
template <typename Result = int, typename... Arguments>
Result Call(const char* name, Arguments... arguments) {
  void* symbol = dlsym(Library(), name);
  EXPECT_NE(symbol, nullptr) << name;
  return reinterpret_cast<Result (*)(Arguments...)>(symbol)(arguments...);
}

// The same for callers of one CUDA version, as the version of the symbol says.
template <typename... Arguments>
int CallOf(const char* version, const char* name, Arguments... arguments) {
  void* symbol = dlvsym(Library(), name, version);
  EXPECT_NE(symbol, nullptr) << name << "@" << version;
  return reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
}

nlohmann::ordered_json Log() {
  char* text = Call<char*>("flce_emu_read_log");
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(text);
  Call<void>("flce_emu_free", text);
  return json;
}

// A fat binary with code for 8.0 and 9.0, registered with two kernels and a variable, as nvcc's start-up code does it.
struct RegisteredCode {
  struct {
    std::uint32_t magic = 0xba55ed50;
    std::uint16_t version = 1;
    std::uint16_t header_bytes = 16;
    std::uint64_t payload_bytes = 2 * 64;
    struct {
      std::uint16_t kind = 2;
      std::uint16_t version = 0x101;
      std::uint32_t header_bytes = 64;
      std::uint64_t payload_bytes = 0;
      std::uint32_t more[3] = {};
      std::uint32_t sm = 0;
      std::uint32_t name[2] = {};
      std::uint64_t flags = 0x2011;
      std::uint64_t rest[2] = {};
    } entries[2];
  } fat;
  struct {
    std::uint32_t magic = 0x466243b1;
    std::uint32_t version = 1;
    const void* data = nullptr;
    const void* file = nullptr;
  } wrapper;
  char add_stub = 0;
  char scale_stub = 0;
  char variable = 0;
  void** handle = nullptr;

  RegisteredCode() {
    fat.entries[0].sm = 80;
    fat.entries[1].sm = 90;
    wrapper.data = &fat;
    handle = Call<void**>("__cudaRegisterFatBinary", static_cast<void*>(&wrapper));
    for (const auto& [stub, name] : {std::pair{&add_stub, "_Z3addPfi"}, std::pair{&scale_stub, "_Z5scalev"}}) {
      Call<void>("__cudaRegisterFunction", handle, static_cast<const char*>(stub), static_cast<char*>(nullptr), name,
                 -1, static_cast<void*>(nullptr), static_cast<void*>(nullptr), static_cast<void*>(nullptr),
                 static_cast<void*>(nullptr), static_cast<int*>(nullptr));
    }
    Call<void>("__cudaRegisterVar", handle, &variable, static_cast<char*>(nullptr), "table", 0, std::size_t{64}, 0, 0);
    Call<void>("__cudaRegisterFatBinaryEnd", handle);
  }
  ~RegisteredCode() { Call<void>("__cudaUnregisterFatBinary", handle); }
};

int Launch(const void* function, Dim3 grid = {1, 1, 1}, Dim3 block = {32, 1, 1}, std::size_t shared = 0,
           void* stream = nullptr) {
  return Call("cudaLaunchKernel", function, grid, block, static_cast<void**>(nullptr), shared, stream);
}

class CudaAbiTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(Call("flce_emu_set_profile", "capability=9.0;memory_bytes=1073741824;count=1;trace=0"), 0)
        << Call<const char*>("flce_emu_last_message");
    Call<void>("flce_emu_reset_log");
    Call("cudaGetLastError");
  }
};

constexpr int kToDevice = 1;
constexpr int kToHost = 2;

TEST_F(CudaAbiTest, GoesByTheNameOfTheDriver) {
  EXPECT_EQ(Call("flce_emu_abi"), FLCE_EMU_ABI);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(driver, nullptr);
  EXPECT_EQ(dlsym(driver, "cuInit"), dlsym(Library(), "cuInit"));
  dlclose(driver);
}

TEST_F(CudaAbiTest, TakesTheProfileFromTheEnvironment) {
  int sms = 0;
  EXPECT_EQ(Call("cudaDeviceGetAttribute", &sms, 16, 0), 0);
  EXPECT_EQ(sms, 58);
  char name[64];
  EXPECT_EQ(Call("cuDeviceGetName", static_cast<char*>(name), 64, 0), 0);
  EXPECT_STREQ(name, "NVIDIA L4");
}

TEST_F(CudaAbiTest, ErrorsStayUntilTheyAreTaken) {
  void* pointer = nullptr;
  EXPECT_EQ(Call("cudaMalloc", &pointer, std::size_t{2} << 30), 2);
  EXPECT_EQ(Call("cudaGetDevice", static_cast<int*>(nullptr)), 1);
  EXPECT_EQ(Call("cudaPeekAtLastError"), 1) << "the last error";
  EXPECT_EQ(Call("cudaPeekAtLastError"), 1);
  EXPECT_EQ(Call("cudaGetLastError"), 1);
  EXPECT_EQ(Call("cudaGetLastError"), 0);
  int count = 0;
  EXPECT_EQ(Call("cudaGetDevice", &count), 0);
  std::thread([] { EXPECT_EQ(Call("cudaPeekAtLastError"), 0) << "errors belong to their thread"; }).join();
  EXPECT_STREQ(Call<const char*>("cudaGetErrorString", 2), "out of memory");
  EXPECT_STREQ(Call<const char*>("cudaGetErrorName", 209), "cudaErrorNoKernelImageForDevice");
  EXPECT_STREQ(Call<const char*>("cudaGetErrorString", 209), "no kernel image is available for execution on the device");
  EXPECT_STREQ(Call<const char*>("cudaGetErrorString", 123456), "unrecognized error code");
  const char* text = nullptr;
  EXPECT_EQ(Call("cuGetErrorName", 1, &text), 0);
  EXPECT_STREQ(text, "CUDA_ERROR_INVALID_VALUE");
}

TEST_F(CudaAbiTest, OutOfMemoryIsRecordedWithItsSize) {
  void* pointer = nullptr;
  ASSERT_EQ(Call("cudaMalloc", &pointer, std::size_t{1000} << 20), 0);
  void* more = nullptr;
  EXPECT_EQ(Call("cudaMalloc", &more, std::size_t{30} << 20), 2);
  const auto log = Log();
  EXPECT_EQ(log["out_of_memory"]["requested_bytes"], 30 << 20);
  EXPECT_EQ(log["out_of_memory"]["allocated_bytes"], 1000 << 20);
  EXPECT_EQ(log["out_of_memory"]["capacity_bytes"], 1 << 30);
  EXPECT_EQ(log["peak_bytes"], 1000 << 20);
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  EXPECT_EQ(Call("cudaMemGetInfo", &free_bytes, &total), 0);
  EXPECT_EQ(free_bytes, 24U << 20);
  EXPECT_EQ(total, 1U << 30);
  EXPECT_EQ(Call("cudaFree", pointer), 0);
  EXPECT_EQ(Log()["used_bytes"], 0);
}

TEST_F(CudaAbiTest, ProfileCannotChangeUnderAllocations) {
  void* pointer = nullptr;
  ASSERT_EQ(Call("cudaMalloc", &pointer, std::size_t{16}), 0);
  EXPECT_EQ(Call("flce_emu_set_profile", "capability=8.0"), 1);
  EXPECT_STREQ(Call<const char*>("flce_emu_last_message"),
               "device profile: cannot change while device memory is allocated");
  EXPECT_EQ(Call("cudaFree", pointer), 0);
  EXPECT_EQ(Call("flce_emu_set_profile", "capability=8.0"), 0);
  int major = 0;
  EXPECT_EQ(Call("cudaDeviceGetAttribute", &major, 75, 0), 0);
  EXPECT_EQ(major, 8);
}

TEST_F(CudaAbiTest, CopiesRoundTrip) {
  void* a = nullptr;
  void* b = nullptr;
  ASSERT_EQ(Call("cudaMalloc", &a, std::size_t{100000}), 0);
  ASSERT_EQ(Call("cudaMalloc", &b, std::size_t{100000}), 0);
  std::vector<char> sent(100000);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7);
  std::vector<char> got(sent.size(), 1);
  EXPECT_EQ(Call("cudaMemcpy", got.data(), a, got.size(), kToHost), 0);
  EXPECT_EQ(got, std::vector<char>(sent.size())) << "fresh memory reads as zero";
  EXPECT_EQ(Call("cudaMemcpyAsync", a, sent.data(), sent.size(), kToDevice, static_cast<void*>(nullptr)), 0);
  EXPECT_EQ(Call("cudaMemcpyAsync", b, a, sent.size(), 3, static_cast<void*>(nullptr)), 0);
  EXPECT_EQ(Call("cudaMemcpy", got.data(), b, got.size(), kToHost), 0);
  EXPECT_EQ(got, sent);
  EXPECT_EQ(Call("cudaMemcpy", got.data(), b, got.size(), 9), 21) << "no such direction";
  EXPECT_EQ(Call("cudaFree", a), 0);
  EXPECT_EQ(Call("cudaMemcpy", got.data(), a, got.size(), kToHost), 1) << "use after free";
  EXPECT_EQ(Call("cudaFree", a), 1);
  EXPECT_EQ(Call("cudaFree", b), 0);
}

TEST_F(CudaAbiTest, PointersSayWhatTheyAre) {
  void* device = nullptr;
  void* pinned = nullptr;
  int local = 0;
  ASSERT_EQ(Call("cudaMalloc", &device, std::size_t{64}), 0);
  ASSERT_EQ(Call("cudaHostAlloc", &pinned, std::size_t{64}, 0U), 0);
  PointerAttributes attributes{};
  EXPECT_EQ(Call("cudaPointerGetAttributes", &attributes, static_cast<const void*>(device)), 0);
  EXPECT_EQ(attributes.type, 2);
  EXPECT_EQ(Call("cudaPointerGetAttributes", &attributes, static_cast<const void*>(pinned)), 0);
  EXPECT_EQ(attributes.type, 1);
  EXPECT_EQ(attributes.host_pointer, pinned);
  EXPECT_EQ(Call("cudaPointerGetAttributes", &attributes, static_cast<const void*>(&local)), 0);
  EXPECT_EQ(attributes.type, 0);
  EXPECT_EQ(attributes.device, -2);
  unsigned kind = 0;
  EXPECT_EQ(Call("cuPointerGetAttribute", static_cast<void*>(&kind), 2, reinterpret_cast<std::uint64_t>(device)), 0);
  EXPECT_EQ(kind, 2U);
  EXPECT_EQ(Call("cuPointerGetAttribute", static_cast<void*>(&kind), 2, reinterpret_cast<std::uint64_t>(&local)), 1);
  EXPECT_EQ(Call("cudaFreeHost", pinned), 0);
  EXPECT_EQ(Call("cudaFree", device), 0);
}

TEST_F(CudaAbiTest, LaunchesAreCountedByName) {
  const RegisteredCode code;
  EXPECT_EQ(Launch(&code.add_stub), 0);
  EXPECT_EQ(Launch(&code.add_stub), 0);
  EXPECT_EQ(Launch(&code.scale_stub), 0);
  EXPECT_EQ(Launch(&code), 98) << "no function";
  const auto log = Log();
  EXPECT_EQ(log["kernels"].dump(), R"json({"add(float*, int)":2,"scale()":1})json");
  EXPECT_EQ(log["kernel_count"], 3);
  Call<void>("flce_emu_reset_log");
  EXPECT_EQ(Log()["kernel_count"], 0);
}

TEST_F(CudaAbiTest, LaunchLimits) {
  const RegisteredCode code;
  EXPECT_EQ(Launch(&code.add_stub, {0, 1, 1}), 9);
  EXPECT_EQ(Launch(&code.add_stub, {1, 65536, 1}), 9);
  EXPECT_EQ(Launch(&code.add_stub, {2147483647, 65535, 65535}), 0);
  EXPECT_EQ(Launch(&code.add_stub, {1, 1, 1}, {1025, 1, 1}), 9);
  EXPECT_EQ(Launch(&code.add_stub, {1, 1, 1}, {64, 32, 1}), 9);
  EXPECT_EQ(Launch(&code.add_stub, {1, 1, 1}, {1, 1, 65}), 9);
  EXPECT_EQ(Launch(&code.add_stub, {1, 1, 1}, {32, 1, 1}, 49153), 1) << "more shared memory than asked for";
  EXPECT_EQ(Call("cudaFuncSetAttribute", static_cast<const void*>(&code.add_stub), 8, 232448), 0);
  EXPECT_EQ(Launch(&code.add_stub, {1, 1, 1}, {32, 1, 1}, 232448), 0);
  EXPECT_EQ(Call("cudaFuncSetAttribute", static_cast<const void*>(&code.add_stub), 8, 232449), 1) << "beyond the card";
  EXPECT_EQ(Launch(&code.add_stub, {1, 1, 1}, {32, 1, 1}, 0, Library()), 400) << "no stream";
  EXPECT_EQ(Log()["kernel_count"], 2);
}

TEST_F(CudaAbiTest, NoCodeForTheCard) {
  const RegisteredCode code;
  for (const auto& [capability, expected] : {std::pair{"8.6", 0}, std::pair{"9.0", 0}, std::pair{"7.5", 209},
                                             std::pair{"10.0", 209}, std::pair{"12.1", 209}}) {
    ASSERT_EQ(Call("flce_emu_set_profile", (std::string("capability=") + capability).c_str()), 0);
    EXPECT_EQ(Launch(&code.add_stub), expected) << capability;
    FuncAttributes attributes;
    EXPECT_EQ(Call("cudaFuncGetAttributes", &attributes, static_cast<const void*>(&code.add_stub)), expected);
  }
}

TEST_F(CudaAbiTest, VariablesLiveOnTheDevice) {
  const RegisteredCode code;
  void* address = nullptr;
  ASSERT_EQ(Call("cudaGetSymbolAddress", &address, static_cast<const void*>(&code.variable)), 0);
  const std::uint64_t value = 42;
  EXPECT_EQ(Call("cudaMemcpyToSymbol", static_cast<const void*>(&code.variable), static_cast<const void*>(&value),
                 sizeof value, std::size_t{8}, kToDevice),
            0);
  std::uint64_t back = 0;
  EXPECT_EQ(Call("cudaMemcpy", &back, static_cast<char*>(address) + 8, sizeof back, kToHost), 0);
  EXPECT_EQ(back, 42U);
  EXPECT_EQ(Call("cudaMemcpyToSymbol", static_cast<const void*>(&code.variable), static_cast<const void*>(&value),
                 sizeof value, std::size_t{60}, kToDevice),
            1);
  EXPECT_EQ(Call("cudaGetSymbolAddress", &address, static_cast<const void*>(&code)), 13);
  EXPECT_EQ(Call("cudaFree", static_cast<void*>(static_cast<char*>(address))), 1) << "a variable cannot be freed";
}

TEST_F(CudaAbiTest, GraphsReplayWhatWasCaptured) {
  const RegisteredCode code;
  void* stream = nullptr;
  ASSERT_EQ(Call("cudaStreamCreateWithFlags", &stream, 1U), 0);
  void* device = nullptr;
  ASSERT_EQ(Call("cudaMalloc", &device, std::size_t{64}), 0);
  ASSERT_EQ(Call("cudaStreamBeginCapture", stream, 0), 0);
  EXPECT_EQ(Launch(&code.add_stub, {1, 1, 1}, {32, 1, 1}, 0, stream), 0);
  EXPECT_EQ(Call("cudaMemsetAsync", device, 5, std::size_t{64}, stream), 0);
  int status = 0;
  unsigned long long id = 0;
  EXPECT_EQ(CallOf("libcudart.so.12", "cudaStreamGetCaptureInfo", stream, &status, &id), 0);
  EXPECT_EQ(status, 1);
  EXPECT_NE(id, 0U);
  void* graph_of_13 = nullptr;
  const void* const* nodes = nullptr;
  const void* edges = &edges;
  std::size_t count = 0;
  EXPECT_EQ(CallOf("libcudart.so.13", "cudaStreamGetCaptureInfo", stream, &status, &id, &graph_of_13, &nodes, &edges,
                   &count),
            0);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(edges, nullptr);
  void* graph = nullptr;
  ASSERT_EQ(Call("cudaStreamEndCapture", stream, &graph), 0);
  EXPECT_EQ(graph, graph_of_13);
  EXPECT_EQ(Log()["kernel_count"], 0) << "captured, not run";
  EXPECT_EQ(Call("cudaGraphGetNodes", graph, static_cast<void**>(nullptr), &count), 0);
  EXPECT_EQ(count, 2U);
  void* exec = nullptr;
  ASSERT_EQ(Call("cudaGraphInstantiateWithFlags", &exec, graph, 0ULL), 0);
  EXPECT_EQ(Call("cudaGraphDestroy", graph), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Call("cudaGraphLaunch", exec, stream), 0);
  EXPECT_EQ(Log()["kernels"].dump(), R"json({"add(float*, int)":3})json");
  unsigned char byte = 0;
  EXPECT_EQ(Call("cudaMemcpy", &byte, device, std::size_t{1}, kToHost), 0);
  EXPECT_EQ(byte, 5);
  EXPECT_EQ(Call("cudaGraphExecDestroy", exec), 0);
  EXPECT_EQ(Call("cudaGraphLaunch", exec, stream), 1);
  EXPECT_EQ(Call("cudaFree", device), 0);
  EXPECT_EQ(Call("cudaStreamDestroy", stream), 0);
  EXPECT_EQ(Call("cudaStreamSynchronize", stream), 400);
}

TEST_F(CudaAbiTest, AllocatingInACaptureLosesIt) {
  void* stream = nullptr;
  ASSERT_EQ(Call("cudaStreamCreateWithFlags", &stream, 1U), 0);
  ASSERT_EQ(Call("cudaStreamBeginCapture", stream, 0), 0);
  int mode = 2;
  EXPECT_EQ(Call("cudaThreadExchangeStreamCaptureMode", &mode), 0);
  void* pointer = nullptr;
  EXPECT_EQ(Call("cudaMalloc", &pointer, std::size_t{64}), 0) << "allowed in relaxed mode";
  EXPECT_EQ(Call("cudaThreadExchangeStreamCaptureMode", &mode), 0);
  EXPECT_EQ(mode, 2);
  void* second = nullptr;
  EXPECT_EQ(Call("cudaMalloc", &second, std::size_t{64}), 900);
  void* graph = nullptr;
  EXPECT_EQ(Call("cudaStreamEndCapture", stream, &graph), 901);
  EXPECT_EQ(Call("cudaFree", pointer), 0);
  EXPECT_EQ(Call("cudaStreamDestroy", stream), 0);
}

TEST_F(CudaAbiTest, HostFunctionsMayCallBack) {
  static int seen = 0;
  seen = 0;
  EXPECT_EQ(Call("cudaLaunchHostFunc", static_cast<void*>(nullptr),
                 +[](void* data) {
                   int device = -1;
                   EXPECT_EQ(Call("cudaGetDevice", &device), 0);
                   *static_cast<int*>(data) += 1;
                 },
                 static_cast<void*>(&seen)),
            0);
  EXPECT_EQ(Call("cudaStreamAddCallback", static_cast<void*>(nullptr),
                 +[](void*, int status, void* data) { *static_cast<int*>(data) += 10 + status; },
                 static_cast<void*>(&seen), 0U),
            0);
  EXPECT_EQ(seen, 11);
}

// The control: what is not emulated fails and can be read back by name.
TEST_F(CudaAbiTest, WhatIsNotEmulatedIsVisible) {
  char handle[64];
  EXPECT_EQ(Call("cudaIpcGetMemHandle", static_cast<void*>(handle), static_cast<void*>(handle)), 801);
  EXPECT_EQ(Call("cublasCaxpy_v2"), 15);
  int value = 77;
  EXPECT_EQ(Call("cudaDeviceGetAttribute", &value, 9999, 0), 801);
  EXPECT_EQ(value, 77);
  void* function = nullptr;
  int found = -1;
  EXPECT_EQ(Call("cuGetProcAddress_v2", "cuFlceHasNoSuchThing", &function, 13000, std::uint64_t{0}, &found), 0);
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(reinterpret_cast<int (*)()>(function)(), 801);
  const auto log = Log();
  std::vector<std::string> refused;
  for (const auto& entry : log["refused"]) refused.push_back(entry["api"].get<std::string>());
  EXPECT_EQ(refused, (std::vector<std::string>{"cuFlceHasNoSuchThing", "cublasCaxpy_v2", "cudaDeviceGetAttribute",
                                               "cudaIpcGetMemHandle"}));
  EXPECT_EQ(log["unknown_entry_points"].dump(), R"(["cuFlceHasNoSuchThing"])");
}

TEST_F(CudaAbiTest, ACallbackOfTheDriversLogIsTaken) {
  int marker = 0;
  void* handle = nullptr;
  EXPECT_EQ(Call("cuLogsRegisterCallback", static_cast<void*>(&marker), static_cast<void*>(nullptr), &handle), 0);
  EXPECT_NE(handle, nullptr);
  EXPECT_EQ(Call("cuLogsUnregisterCallback", handle), 0);
  EXPECT_EQ(Call("cuLogsRegisterCallback", static_cast<void*>(nullptr), static_cast<void*>(nullptr), &handle), 1);
  EXPECT_EQ(Log()["refused"].size(), 0u);
}

TEST_F(CudaAbiTest, EntryPointsAreFoundInTheirVersions) {
  for (const auto& [name, symbol] : {std::pair{"cuMemAlloc", "cuMemAlloc_v2"}, std::pair{"cuInit", "cuInit"},
                                     std::pair{"cuMemGetAddressRange_v2", "cuMemGetAddressRange_v2"},
                                     std::pair{"cuStreamWriteValue32", "cuStreamWriteValue32_v2"}}) {
    void* function = nullptr;
    int found = -1;
    EXPECT_EQ(Call("cudaGetDriverEntryPointByVersion", name, &function, 12080U, 0ULL, &found), 0);
    EXPECT_EQ(function, dlsym(Library(), symbol)) << name;
    EXPECT_EQ(found, 0);
  }
}

TEST_F(CudaAbiTest, GemmsAreLogged) {
  void* handle = nullptr;
  ASSERT_EQ(Call("cublasCreate_v2", &handle), 0);
  const float one = 1;
  const float zero = 0;
  const auto gemm = [&](int a, int c, const float* beta, int compute, int lda) {
    return Call("cublasGemmEx", handle, 0, 1, 16, 32, 4, static_cast<const void*>(&one), static_cast<const void*>(nullptr),
                a, lda, static_cast<const void*>(nullptr), a, 32, static_cast<const void*>(beta),
                static_cast<void*>(nullptr), c, 16, compute, 99);
  };
  EXPECT_EQ(gemm(14, 0, &one, 68, 16), 0);
  EXPECT_EQ(gemm(2, 2, &zero, 68, 16), 0);
  EXPECT_EQ(gemm(14, 2, &zero, 68, 16), 15) << "bf16 into f16";
  EXPECT_EQ(gemm(14, 14, &zero, 64, 16), 15) << "bf16 in f16 arithmetic";
  EXPECT_EQ(gemm(14, 14, &zero, 68, 15), 7) << "leading dimension below the rows";
  const auto log = Log();
  EXPECT_EQ(log["gemm_count"], 2);
  EXPECT_EQ(log["gemms"][0].dump(),
            R"({"api":"cublasGemmEx","transa":"n","transb":"t","m":16,"n":32,"k":4,"batch":1,"a":"bf16","b":"bf16",)"
            R"("c":"f32","d":"f32","compute":"f32","accumulates":true})");
  EXPECT_EQ(log["gemms"][1]["accumulates"], false);
  EXPECT_EQ(Call("cublasDestroy_v2", handle), 0);
  EXPECT_EQ(gemm(14, 0, &one, 68, 16), 1) << "a destroyed handle";
}

TEST_F(CudaAbiTest, VirtualMemoryMapsAndIsCharged) {
  constexpr std::size_t kSize = 4 << 20;
  MemAllocationProp properties{};
  properties.type = 1;
  properties.location = {1, 0};
  std::uint64_t address = 0;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  ASSERT_EQ(Call("cuMemAddressReserve", &address, 2 * kSize, std::size_t{0}, std::uint64_t{0}, std::uint64_t{0}), 0);
  ASSERT_EQ(Call("cuMemCreate", &first, kSize, &properties, std::uint64_t{0}), 0);
  ASSERT_EQ(Call("cuMemCreate", &second, kSize, &properties, std::uint64_t{0}), 0);
  std::uint64_t third = 0;
  EXPECT_EQ(Call("cuMemCreate", &third, std::size_t{1} << 30, &properties, std::uint64_t{0}), 2);
  EXPECT_EQ(Log()["used_bytes"], 2 * kSize);
  ASSERT_EQ(Call("cuMemMap", address, kSize, std::size_t{0}, first, std::uint64_t{0}), 0);
  EXPECT_EQ(Call("cuMemMap", address, kSize, std::size_t{0}, second, std::uint64_t{0}), 1) << "already mapped";
  ASSERT_EQ(Call("cuMemMap", address + kSize, kSize, std::size_t{0}, second, std::uint64_t{0}), 0);
  const MemAccessDesc access{{1, 0}, 3};
  ASSERT_EQ(Call("cuMemSetAccess", address, 2 * kSize, &access, std::size_t{1}), 0);
  const std::uint64_t value = 7;
  EXPECT_EQ(Call("cuMemcpyHtoD_v2", address + kSize - 4, static_cast<const void*>(&value), sizeof value), 0)
      << "across two handles";
  std::uint64_t back = 0;
  EXPECT_EQ(Call("cuMemcpyDtoH_v2", static_cast<void*>(&back), address + kSize - 4, sizeof back), 0);
  EXPECT_EQ(back, 7U);
  EXPECT_EQ(Call("cuMemAddressFree", address, 2 * kSize), 1) << "still mapped";
  EXPECT_EQ(Call("cuMemUnmap", address, 2 * kSize), 0);
  EXPECT_EQ(Call("cuMemMap", address, kSize, std::size_t{0}, first, std::uint64_t{0}), 801);
  EXPECT_EQ(Log()["refused"][0]["api"], "cuMemMap");
  EXPECT_EQ(Call("cuMemRelease", first), 0);
  EXPECT_EQ(Call("cuMemRelease", second), 0);
  EXPECT_EQ(Call("cuMemRelease", second), 1);
  EXPECT_EQ(Call("cuMemAddressFree", address, 2 * kSize), 0);
  EXPECT_EQ(Log()["used_bytes"], 0);
}

TEST_F(CudaAbiTest, SeveralDevices) {
  ASSERT_EQ(Call("flce_emu_set_profile", "count=2"), 0);
  int count = 0;
  EXPECT_EQ(Call("cudaGetDeviceCount", &count), 0);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(Call("cudaSetDevice", 2), 101);
  ASSERT_EQ(Call("cudaSetDevice", 1), 0);
  void* pointer = nullptr;
  ASSERT_EQ(Call("cudaMalloc", &pointer, std::size_t{1} << 30), 0);
  PointerAttributes attributes{};
  EXPECT_EQ(Call("cudaPointerGetAttributes", &attributes, static_cast<const void*>(pointer)), 0);
  EXPECT_EQ(attributes.device, 1);
  ASSERT_EQ(Call("cudaSetDevice", 0), 0);
  void* other = nullptr;
  EXPECT_EQ(Call("cudaMalloc", &other, std::size_t{1} << 30), 0);
  EXPECT_EQ(Call("cudaFree", pointer), 0);
  EXPECT_EQ(Call("cudaFree", other), 0);
}

TEST_F(CudaAbiTest, TraceKeepsTheSequence) {
  const RegisteredCode code;
  ASSERT_EQ(Call("flce_emu_set_profile", "trace=1"), 0);
  void* pointer = nullptr;
  EXPECT_EQ(Call("cudaMalloc", &pointer, std::size_t{4096}), 0);
  EXPECT_EQ(Launch(&code.add_stub), 0);
  EXPECT_EQ(Call("cudaFree", pointer), 0);
  const auto log = Log();
  std::string kinds;
  double last = 0;
  for (const auto& event : log["sequence"]) {
    kinds += event["kind"].get<std::string>() + " ";
    EXPECT_GT(event["t_us"].get<double>(), last);
    last = event["t_us"];
  }
  EXPECT_EQ(kinds, "allocate kernel free ");
  EXPECT_EQ(log["sequence"][1]["name"], "add(float*, int)");
}

// A parent initialises, forks without atfork handlers while another of its threads is busy, and the child goes on.
TEST_F(CudaAbiTest, ForkedChildGoesOnWithAnotherCard) {
  const RegisteredCode code;
  ASSERT_EQ(Call("cudaSetDevice", 0), 0);
  EXPECT_EQ(Launch(&code.add_stub), 0);
  std::atomic<bool> stop{false};
  // The thread takes the emulator's lock and no other: a lock of malloc or of the loader would be lost to any library.
  [[maybe_unused]] const auto launch = reinterpret_cast<int (*)(const void*, Dim3, Dim3, void**, std::size_t, void*)>(
      dlsym(Library(), "cudaLaunchKernel"));
  ASSERT_EQ(Launch(&code.scale_stub), 0);
  std::thread busy;
#if !defined(__SANITIZE_THREAD__)  // which takes the thread that stayed in the parent for one that runs in the child too
  busy = std::thread([&] {
    while (!stop) launch(&code.scale_stub, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr);
  });
#endif
  for (int i = 0; i < 10; ++i) {
    const pid_t child = _Fork();
    if (child == 0) {
      alarm(20);
      const bool right = Call("flce_emu_set_profile", "capability=7.5") == 0 && Launch(&code.add_stub) == 209;
      void* pointer = nullptr;
      _exit(right && Call("cudaMalloc", &pointer, std::size_t{64}) == 0 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  if (busy.joinable()) busy.join();
  EXPECT_EQ(Launch(&code.add_stub), 0) << "the parent's card is as it was";
}

TEST_F(CudaAbiTest, ThreadsDoNotDisturbEachOther) {
  const RegisteredCode code;
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&code, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      void* stream = nullptr;
      ASSERT_EQ(Call("cudaStreamCreateWithFlags", &stream, 1U), 0);
      for (int i = 0; i < kRounds; ++i) {
        const std::size_t size = 1 + random() % 50000;
        void* pointer = nullptr;
        ASSERT_EQ(Call("cudaMallocAsync", &pointer, size, stream), 0);
        std::vector<unsigned char> bytes(size, static_cast<unsigned char>(i));
        ASSERT_EQ(Call("cudaMemcpyAsync", pointer, bytes.data(), size, kToDevice, stream), 0);
        ASSERT_EQ(Launch(&code.add_stub, {1, 1, 1}, {32, 1, 1}, 0, stream), 0);
        std::fill(bytes.begin(), bytes.end(), 0);
        ASSERT_EQ(Call("cudaMemcpyAsync", bytes.data(), pointer, size, kToHost, stream), 0);
        ASSERT_EQ(bytes.front(), static_cast<unsigned char>(i));
        ASSERT_EQ(bytes.back(), static_cast<unsigned char>(i));
        ASSERT_EQ(Call("cudaFreeAsync", pointer, stream), 0);
        EXPECT_EQ(Call("cudaStreamQuery", reinterpret_cast<void*>(0x7777)), 400);
        EXPECT_EQ(Call("cudaGetLastError"), 400);
      }
      EXPECT_EQ(Call("cudaStreamDestroy", stream), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Log()["kernel_count"], kThreads * kRounds);
  EXPECT_EQ(Log()["used_bytes"], 0);
}

}  // namespace
}  // namespace flce::emulator
