#pragma once

// The layouts of the structures that cross the CUDA ABI, for CUDA 12 and 13, written down here so that the library
// builds without NVIDIA's headers. abi_test.cc pins every offset that is used.

#include <cstddef>
#include <cstdint>

namespace flce::emulator {

struct Dim3 {
  unsigned x, y, z;
};

/// The head of cudaDeviceProp that both versions share.
struct DevicePropHead {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  std::size_t total_global_mem;
  std::size_t shared_mem_per_block;
  int regs_per_block;
  int warp_size;
  std::size_t mem_pitch;
  int max_threads_per_block;
  int max_threads_dim[3];
};
static_assert(sizeof(DevicePropHead) == 336, "no padding at the end: the next field follows at once");

/// cudaDeviceProp of CUDA 12: what cudaGetDeviceProperties_v2 fills.
struct DeviceProp12 {
  DevicePropHead head;
  int max_grid_size[3];
  int clock_rate;
  std::size_t total_const_mem;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int device_overlap;
  int multi_processor_count;
  int kernel_exec_timeout_enabled;
  int integrated;
  int can_map_host_memory;
  int compute_mode;
  int textures_and_surfaces[40];
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc_enabled;
  int pci_bus_id, pci_device_id, pci_domain_id;
  int tcc_driver;
  int async_engine_count;
  int unified_addressing;
  int memory_clock_rate;
  int memory_bus_width;
  int l2_cache_size;
  int persisting_l2_cache_max_size;
  int max_threads_per_multi_processor;
  int stream_priorities_supported;
  int global_l1_cache_supported, local_l1_cache_supported;
  std::size_t shared_mem_per_multiprocessor;
  int regs_per_multiprocessor;
  int managed_memory;
  int is_multi_gpu_board, multi_gpu_board_group_id;
  int host_native_atomic_supported;
  int single_to_double_precision_perf_ratio;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption_supported;
  int can_use_host_pointer_for_registered_mem;
  int cooperative_launch, cooperative_multi_device_launch;
  std::size_t shared_mem_per_block_optin;
  int pageable_memory_access_uses_host_page_tables;
  int direct_managed_mem_access_from_host;
  int max_blocks_per_multi_processor;
  int access_policy_max_window_size;
  std::size_t reserved_shared_mem_per_block;
  int host_register_supported;
  int sparse_cuda_array_supported;
  int host_register_read_only_supported;
  int timeline_semaphore_interop_supported;
  int memory_pools_supported;
  int gpu_direct_rdma_supported;
  unsigned gpu_direct_rdma_flush_writes_options;
  int gpu_direct_rdma_writes_ordering;
  unsigned memory_pool_supported_handle_types;
  int deferred_mapping_cuda_array_supported;
  int ipc_event_supported;
  int cluster_launch;
  int unified_function_pointers;
  int reserved[63];
};

/// cudaDeviceProp of CUDA 13: what cudaGetDeviceProperties fills there. The clocks, the overlap and timeout flags, the
/// compute mode, one texture size and the multi-device launch are gone.
struct DeviceProp13 {
  DevicePropHead head;
  int max_grid_size[3];
  std::size_t total_const_mem;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int multi_processor_count;
  int integrated;
  int can_map_host_memory;
  int textures_and_surfaces[39];
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc_enabled;
  int pci_bus_id, pci_device_id, pci_domain_id;
  int tcc_driver;
  int async_engine_count;
  int unified_addressing;
  int memory_bus_width;
  int l2_cache_size;
  int persisting_l2_cache_max_size;
  int max_threads_per_multi_processor;
  int stream_priorities_supported;
  int global_l1_cache_supported, local_l1_cache_supported;
  std::size_t shared_mem_per_multiprocessor;
  int regs_per_multiprocessor;
  int managed_memory;
  int is_multi_gpu_board, multi_gpu_board_group_id;
  int host_native_atomic_supported;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption_supported;
  int can_use_host_pointer_for_registered_mem;
  int cooperative_launch;
  std::size_t shared_mem_per_block_optin;
  int pageable_memory_access_uses_host_page_tables;
  int direct_managed_mem_access_from_host;
  int max_blocks_per_multi_processor;
  int access_policy_max_window_size;
  std::size_t reserved_shared_mem_per_block;
  int host_register_supported;
  int sparse_cuda_array_supported;
  int host_register_read_only_supported;
  int timeline_semaphore_interop_supported;
  int memory_pools_supported;
  int gpu_direct_rdma_supported;
  unsigned gpu_direct_rdma_flush_writes_options;
  int gpu_direct_rdma_writes_ordering;
  unsigned memory_pool_supported_handle_types;
  int deferred_mapping_cuda_array_supported;
  int ipc_event_supported;
  int cluster_launch;
  int unified_function_pointers;
  int device_numa_config, device_numa_id;
  int mps_enabled;
  int host_numa_id;
  unsigned gpu_pci_device_id, gpu_pci_subsystem_id;
  int host_numa_multinode_ipc_supported;
  int reserved[56];
};

}  // namespace flce::emulator
