// The layouts that cross the CUDA ABI. The figures were read off the headers of CUDA 12.6, 12.8 and 13.0.
#include "harness/emulator/abi.h"

#include <gtest/gtest.h>

#include "harness/emulator/device_info.h"

namespace flce::emulator {
namespace {

#define EXPECT_OFFSET(type, field, offset) EXPECT_EQ(offsetof(type, field), static_cast<std::size_t>(offset))

TEST(AbiTest, DevicePropertiesOfCuda12) {
  EXPECT_EQ(sizeof(DeviceProp12), 1032U);
  EXPECT_OFFSET(DeviceProp12, head.uuid, 256);
  EXPECT_OFFSET(DeviceProp12, head.total_global_mem, 288);
  EXPECT_OFFSET(DeviceProp12, head.warp_size, 308);
  EXPECT_OFFSET(DeviceProp12, max_grid_size, 336);
  EXPECT_OFFSET(DeviceProp12, total_const_mem, 352);
  EXPECT_OFFSET(DeviceProp12, major, 360);
  EXPECT_OFFSET(DeviceProp12, texture_alignment, 368);
  EXPECT_OFFSET(DeviceProp12, multi_processor_count, 388);
  EXPECT_OFFSET(DeviceProp12, integrated, 396);
  EXPECT_OFFSET(DeviceProp12, surface_alignment, 568);
  EXPECT_OFFSET(DeviceProp12, pci_bus_id, 584);
  EXPECT_OFFSET(DeviceProp12, unified_addressing, 604);
  EXPECT_OFFSET(DeviceProp12, memory_bus_width, 612);
  EXPECT_OFFSET(DeviceProp12, l2_cache_size, 616);
  EXPECT_OFFSET(DeviceProp12, max_threads_per_multi_processor, 624);
  EXPECT_OFFSET(DeviceProp12, shared_mem_per_multiprocessor, 640);
  EXPECT_OFFSET(DeviceProp12, regs_per_multiprocessor, 648);
  EXPECT_OFFSET(DeviceProp12, cooperative_launch, 688);
  EXPECT_OFFSET(DeviceProp12, shared_mem_per_block_optin, 696);
  EXPECT_OFFSET(DeviceProp12, max_blocks_per_multi_processor, 712);
  EXPECT_OFFSET(DeviceProp12, reserved_shared_mem_per_block, 720);
  EXPECT_OFFSET(DeviceProp12, memory_pools_supported, 744);
  EXPECT_OFFSET(DeviceProp12, cluster_launch, 772);
  EXPECT_OFFSET(DeviceProp12, reserved, 780);
}

TEST(AbiTest, DevicePropertiesOfCuda13) {
  EXPECT_EQ(sizeof(DeviceProp13), 1008U);
  EXPECT_OFFSET(DeviceProp13, total_const_mem, 352);
  EXPECT_OFFSET(DeviceProp13, major, 360);
  EXPECT_OFFSET(DeviceProp13, texture_alignment, 368);
  EXPECT_OFFSET(DeviceProp13, multi_processor_count, 384);
  EXPECT_OFFSET(DeviceProp13, integrated, 388);
  EXPECT_OFFSET(DeviceProp13, surface_alignment, 552);
  EXPECT_OFFSET(DeviceProp13, pci_bus_id, 568);
  EXPECT_OFFSET(DeviceProp13, unified_addressing, 588);
  EXPECT_OFFSET(DeviceProp13, memory_bus_width, 592);
  EXPECT_OFFSET(DeviceProp13, l2_cache_size, 596);
  EXPECT_OFFSET(DeviceProp13, max_threads_per_multi_processor, 604);
  EXPECT_OFFSET(DeviceProp13, shared_mem_per_multiprocessor, 624);
  EXPECT_OFFSET(DeviceProp13, regs_per_multiprocessor, 632);
  EXPECT_OFFSET(DeviceProp13, cooperative_launch, 668);
  EXPECT_OFFSET(DeviceProp13, shared_mem_per_block_optin, 672);
  EXPECT_OFFSET(DeviceProp13, max_blocks_per_multi_processor, 688);
  EXPECT_OFFSET(DeviceProp13, reserved_shared_mem_per_block, 696);
  EXPECT_OFFSET(DeviceProp13, memory_pools_supported, 720);
  EXPECT_OFFSET(DeviceProp13, cluster_launch, 748);
  EXPECT_OFFSET(DeviceProp13, reserved, 784);
}

TEST(AbiTest, PropertiesSayWhatTheProfileSays) {
  DeviceProfile profile;
  ASSERT_EQ(ApplyProfileText("name=NVIDIA L4;capability=8.9;sms=58;shared_memory_optin=101376;"
                             "shared_memory_per_sm=102400;clock_khz=2040000",
                             profile),
            "");
  DeviceProp12 old_layout;
  DeviceProp13 new_layout;
  FillProperties(profile, 0, old_layout);
  FillProperties(profile, 0, new_layout);
  EXPECT_STREQ(old_layout.head.name, "NVIDIA L4");
  EXPECT_STREQ(new_layout.head.name, "NVIDIA L4");
  EXPECT_EQ(old_layout.major * 10 + old_layout.minor, 89);
  EXPECT_EQ(new_layout.major * 10 + new_layout.minor, 89);
  EXPECT_EQ(old_layout.multi_processor_count, 58);
  EXPECT_EQ(new_layout.multi_processor_count, 58);
  EXPECT_EQ(old_layout.clock_rate, 2040000);
  EXPECT_EQ(new_layout.shared_mem_per_block_optin, 101376U);
}

}  // namespace
}  // namespace flce::emulator
