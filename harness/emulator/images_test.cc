#include "harness/emulator/images.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "harness/emulator/modules.h"

namespace flce::emulator {
namespace {

// A cubin of nothing but a header, sections names and one kernel's code section.
std::vector<char> MakeCubin(int abi_version, std::uint32_t flags, const std::string& kernel = "kernel") {
  const std::string names = std::string("\0.shstrtab\0", 11) + ".text." + kernel + '\0' + ".nv.shared." + kernel + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = static_cast<unsigned char>(abi_version);
  header.e_machine = 190;
  header.e_flags = flags;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 1;
  Elf64_Shdr sections[4] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sizeof header + sizeof sections;
  sections[1].sh_size = names.size();
  sections[2].sh_name = 11;
  sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_info = 40U << 24 | 3;
  sections[3].sh_name = static_cast<std::uint32_t>(11 + 6 + kernel.size() + 1);
  sections[3].sh_type = SHT_NOBITS;
  sections[3].sh_size = 4096;
  std::vector<char> bytes(sizeof header + sizeof sections + names.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, sections, sizeof sections);
  std::memcpy(bytes.data() + sizeof header + sizeof sections, names.data(), names.size());
  return bytes;
}

struct FatPiece {
  std::uint16_t kind;
  std::uint32_t sm;
  std::uint64_t flags;
};

std::vector<char> MakeFatBinary(const std::vector<FatPiece>& pieces) {
  std::vector<char> bytes(16);
  for (const FatPiece& piece : pieces) {
    char head[64] = {};
    const std::uint32_t head_bytes = 64;
    const std::uint64_t payload = 32;
    std::memcpy(head, &piece.kind, 2);
    std::memcpy(head + 4, &head_bytes, 4);
    std::memcpy(head + 8, &payload, 8);
    std::memcpy(head + 28, &piece.sm, 4);
    std::memcpy(head + 40, &piece.flags, 8);
    bytes.insert(bytes.end(), head, head + 64);
    bytes.insert(bytes.end(), 32, '\0');
  }
  const std::uint32_t magic = 0xba55ed50;
  const std::uint16_t version = 1;
  const std::uint16_t head_bytes = 16;
  const std::uint64_t payload = bytes.size() - 16;
  std::memcpy(bytes.data(), &magic, 4);
  std::memcpy(bytes.data() + 4, &version, 2);
  std::memcpy(bytes.data() + 6, &head_bytes, 2);
  std::memcpy(bytes.data() + 8, &payload, 8);
  return bytes;
}

std::string RunsOn(const Image& image) {
  std::string text;
  for (const int capability : {75, 80, 86, 89, 90, 100, 103, 120, 121}) {
    if (image.RunsOn(capability)) text += (text.empty() ? "" : " ") + std::to_string(capability);
  }
  return text;
}

// The flags that ptxas of CUDA 12.4 to 13.2 writes for these targets.
TEST(ImagesTest, ReadsTheTargetOfACubin) {
  struct Case {
    int abi_version;
    std::uint32_t flags;
    const char* runs_on;
  };
  const Case cases[] = {
      {7, 0x4b054b, "75"},          {7, 0x500550, "80 86 89"},    {7, 0x5a055a, "90"},
      {7, 0x5a0d5a, "90"},          {8, 0x6004b04, "75"},         {8, 0x6005004, "80 86 89"},
      {8, 0x600640a, "100"},        {8, 0x6006402, "100 103"},    {8, 0x6007802, "120 121"},
      {8, 0x600780a, "120"},        {8, 0x600790a, "121"},        {8, 0x6007902, "121"},
  };
  for (const Case& each : cases) {
    const std::vector<char> cubin = MakeCubin(each.abi_version, each.flags);
    Image image;
    ASSERT_EQ(ReadImage(cubin.data(), image), Status::kSuccess);
    EXPECT_EQ(RunsOn(image), each.runs_on) << std::hex << each.flags;
  }
}

TEST(ImagesTest, ReadsWhatAKernelUses) {
  const std::vector<char> cubin = MakeCubin(7, 0x5a055a, "triton_fused");
  Image image;
  ASSERT_EQ(ReadImage(cubin.data(), image), Status::kSuccess);
  EXPECT_TRUE(image.lists_kernels);
  ASSERT_EQ(image.kernels.count("triton_fused"), 1U);
  EXPECT_EQ(image.kernels["triton_fused"].registers, 40);
  EXPECT_EQ(image.kernels["triton_fused"].static_shared_bytes, 4096);
}

// The contents of torch's wheels: 2.7 for CUDA 12.6, 2.8 for 12.8 and 2.13 for 13.0.
TEST(ImagesTest, ReadsFatBinaries) {
  constexpr std::uint64_t kPlain = 0x2011;
  constexpr std::uint64_t kOwnOnly = 0x102011;
  struct Case {
    std::vector<FatPiece> pieces;
    const char* runs_on;
  };
  const Case cases[] = {
      {{{2, 50, kPlain}, {2, 60, kPlain}, {2, 70, kPlain}, {2, 75, kPlain}, {2, 80, kPlain}, {2, 86, kPlain},
        {2, 90, kPlain}},
       "75 80 86 89 90"},
      {{{2, 70, kPlain}, {2, 75, kPlain}, {2, 80, kPlain}, {2, 86, kPlain}, {2, 90, kPlain}, {2, 100, kPlain},
        {2, 120, kPlain}},
       "75 80 86 89 90 100 103 120 121"},
      {{{2, 90, kOwnOnly}}, "90"},
      {{{2, 120, kOwnOnly}}, "120"},
      {{{1, 80, kPlain}}, "80 86 89 90 100 103 120 121"},
      {{}, ""},
  };
  for (const Case& each : cases) {
    const std::vector<char> bytes = MakeFatBinary(each.pieces);
    Image image;
    ASSERT_EQ(ReadImage(bytes.data(), image), Status::kSuccess);
    EXPECT_EQ(RunsOn(image), each.runs_on);
  }
}

TEST(ImagesTest, ReadsPtxAndRefusesTheRest) {
  Image image;
  const char* text = "// made by hand\n.version 8.0\n.target sm_90a, debug\n.visible .entry scale(\n.param .u64 p) { ret; }\n";
  ASSERT_EQ(ReadImage(text, image), Status::kSuccess);
  EXPECT_EQ(RunsOn(image), "90");
  EXPECT_EQ(image.kernels.count("scale"), 1U);
  EXPECT_EQ(ReadImage(".version 8.0\n", image), Status::kInvalidPtx);
  EXPECT_EQ(ReadImage("hello, world, this is no code", image), Status::kInvalidImage);
  std::vector<char> other = MakeCubin(7, 0x5a055a);
  other[18] = 62;  // x86-64
  EXPECT_EQ(ReadImage(other.data(), image), Status::kInvalidImage);
}

TEST(ModulesTest, LaunchesNeedCodeForTheDevice) {
  const std::vector<char> fat = MakeFatBinary({{2, 80, 0x2011}, {2, 90, 0x2011}});
  struct {
    std::uint32_t magic = 0x466243b1;
    std::uint32_t version = 1;
    const void* data;
    const void* file = nullptr;
  } wrapper;
  wrapper.data = fat.data();
  Modules modules;
  Module* module = modules.RegisterFatBinary(&wrapper);
  const int stub = 0;
  modules.RegisterFunction(module, &stub, "_Z3addPf");
  DeviceProfile profile;
  Kernel* kernel = nullptr;
  EXPECT_EQ(modules.Resolve(&stub, profile, &kernel), Status::kSuccess);
  EXPECT_EQ(kernel->name, "_Z3addPf");
  ASSERT_EQ(ApplyProfileText("capability=7.5", profile), "");
  EXPECT_EQ(modules.Resolve(&stub, profile, &kernel), Status::kNoKernelImage);
  EXPECT_EQ(modules.Resolve(&kernel, profile, &kernel), Status::kInvalidDeviceFunction);
  modules.UnregisterFatBinary(module);
  EXPECT_EQ(modules.Resolve(&stub, profile, &kernel), Status::kInvalidDeviceFunction);
}

TEST(ModulesTest, LoadsFindsAndUnloads) {
  const std::vector<char> cubin = MakeCubin(7, 0x5a055a, "first");
  Modules modules;
  DeviceProfile profile;
  Module* module = nullptr;
  Kernel* kernel = nullptr;
  ASSERT_EQ(modules.Load(cubin.data(), profile, &module), Status::kSuccess);
  EXPECT_EQ(modules.FindKernel(module, "second", profile, &kernel), Status::kNotFound);
  EXPECT_EQ(modules.FindKernel(module, "first", profile, &kernel), Status::kSuccess);
  EXPECT_EQ(kernel->max_dynamic_shared, profile.shared_memory_per_block - 4096);
  EXPECT_EQ(modules.Unload(module), Status::kSuccess);
  EXPECT_EQ(modules.Unload(module), Status::kInvalidHandle);
  EXPECT_EQ(modules.FindKernel(module, "first", profile, &kernel), Status::kInvalidHandle);
  ASSERT_EQ(ApplyProfileText("capability=8.9", profile), "");
  EXPECT_EQ(modules.Load(cubin.data(), profile, &module), Status::kNoKernelImage);
}

}  // namespace
}  // namespace flce::emulator
