#pragma once

// The smaller structures of the CUDA ABI; the same in CUDA 12 and 13 as far as they are written or read here.

#include <cstddef>
#include <cstdint>

#include "harness/emulator/abi.h"

namespace flce::emulator {

/// cudaPointerAttributes; CUDA 13 appends reserved words, which the caller clears.
struct PointerAttributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
};
static_assert(sizeof(PointerAttributes) == 24);

/// cudaFuncAttributes.
struct FuncAttributes {
  std::size_t shared_size_bytes, const_size_bytes, local_size_bytes;
  int max_threads_per_block;
  int num_regs;
  int ptx_version, binary_version;
  int cache_mode_ca;
  int max_dynamic_shared_size_bytes;
  int preferred_shmem_carveout;
  int cluster_dim_must_be_set;
  int required_cluster[3];
  int cluster_scheduling_policy_preference;
  int non_portable_cluster_size_allowed;
  int reserved[16];
};
static_assert(sizeof(FuncAttributes) == 144 && offsetof(FuncAttributes, binary_version) == 36);

/// cudaLaunchAttribute and CUlaunchAttribute.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int flag;
    unsigned dimensions[3];
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, value) == 8);

/// cudaLaunchConfig_t.
struct LaunchConfig {
  Dim3 grid, block;
  std::size_t dynamic_shared;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(offsetof(LaunchConfig, dynamic_shared) == 24 && offsetof(LaunchConfig, attribute_count) == 48);

/// CUlaunchConfig.
struct DriverLaunchConfig {
  Dim3 grid, block;
  unsigned dynamic_shared;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(offsetof(DriverLaunchConfig, stream) == 32 && offsetof(DriverLaunchConfig, attribute_count) == 48);

/// cudaMemLocation and CUmemLocation.
struct MemLocation {
  int type;  ///< 1: a device
  int id;
};

/// CUmemAllocationProp.
struct MemAllocationProp {
  int type;          ///< 1: pinned
  int handle_types;  ///< 0: not to be shared; 1: file descriptor; 8: fabric
  MemLocation location;
  void* win32_handle_meta_data;
  unsigned char compression_type;
  unsigned char gpu_direct_rdma_capable;
  unsigned short usage;
  unsigned char reserved[4];
};
static_assert(sizeof(MemAllocationProp) == 32);

/// cudaMemAccessDesc and CUmemAccessDesc.
struct MemAccessDesc {
  MemLocation location;
  int flags;
};
static_assert(sizeof(MemAccessDesc) == 12);

/// cudaMemPoolProps and CUmemPoolProps.
struct MemPoolProps {
  int alloc_type;
  int handle_types;
  MemLocation location;
  void* win32_security_attributes;
  std::size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};
static_assert(sizeof(MemPoolProps) == 88);

}  // namespace flce::emulator
