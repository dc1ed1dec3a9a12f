#include "harness/emulator/device_info.h"

#include <algorithm>
#include <cstring>

#include "harness/emulator/occupancy.h"

namespace flce::emulator {
namespace {

constexpr int kMaxInt = 2147483647;
constexpr int kWindowBytes = 134213632;  // access policy window, as cards from 8.0 on report it

template <typename Properties>
void FillCommon(const DeviceProfile& profile, int device, Properties& p) {
  std::memset(&p, 0, sizeof p);
  std::strncpy(p.head.name, profile.name.c_str(), sizeof p.head.name - 1);
  FillUuid(device, p.head.uuid);
  p.head.total_global_mem = profile.memory_bytes;
  p.head.shared_mem_per_block = static_cast<std::size_t>(profile.shared_memory_per_block);
  p.head.regs_per_block = std::min(profile.registers_per_sm, 65536);
  p.head.warp_size = 32;
  p.head.mem_pitch = kMaxInt;
  p.head.max_threads_per_block = 1024;
  p.head.max_threads_dim[0] = 1024;
  p.head.max_threads_dim[1] = 1024;
  p.head.max_threads_dim[2] = 64;
  p.max_grid_size[0] = kMaxInt;
  p.max_grid_size[1] = 65535;
  p.max_grid_size[2] = 65535;
  p.total_const_mem = 65536;
  p.major = profile.major;
  p.minor = profile.minor;
  p.texture_alignment = 512;
  p.texture_pitch_alignment = 32;
  p.multi_processor_count = profile.sms;
  p.integrated = profile.integrated ? 1 : 0;
  p.can_map_host_memory = 1;
  p.surface_alignment = 512;
  p.concurrent_kernels = 1;
  p.pci_bus_id = 1 + device;
  p.async_engine_count = 2;
  p.unified_addressing = 1;
  p.memory_bus_width = profile.memory_bus_bits;
  p.l2_cache_size = profile.l2_bytes;
  p.max_threads_per_multi_processor = profile.threads_per_sm;
  p.stream_priorities_supported = 1;
  p.global_l1_cache_supported = 1;
  p.local_l1_cache_supported = 1;
  p.shared_mem_per_multiprocessor = static_cast<std::size_t>(profile.shared_memory_per_sm);
  p.regs_per_multiprocessor = profile.registers_per_sm;
  p.managed_memory = 1;
  p.concurrent_managed_access = 1;
  p.compute_preemption_supported = 1;
  p.can_use_host_pointer_for_registered_mem = 1;
  p.cooperative_launch = 1;
  p.shared_mem_per_block_optin = static_cast<std::size_t>(profile.shared_memory_optin);
  p.max_blocks_per_multi_processor = profile.blocks_per_sm;
  p.access_policy_max_window_size = profile.major >= 8 ? kWindowBytes : 0;
  p.reserved_shared_mem_per_block = static_cast<std::size_t>(ReservedSharedBytes(profile));
  p.host_register_supported = 1;
  p.memory_pools_supported = 1;
  p.cluster_launch = profile.major >= 9 ? 1 : 0;
}

}  // namespace

void FillUuid(int device, unsigned char* uuid) {
  constexpr char kText[] = "flce-emulated-00";
  std::memcpy(uuid, kText, 16);
  uuid[14] = static_cast<unsigned char>('0' + device / 10);
  uuid[15] = static_cast<unsigned char>('0' + device % 10);
}

void FillProperties(const DeviceProfile& profile, int device, DeviceProp12& properties) {
  FillCommon(profile, device, properties);
  properties.clock_rate = profile.clock_khz;
  properties.memory_clock_rate = profile.memory_clock_khz;
  properties.device_overlap = 1;
}

void FillProperties(const DeviceProfile& profile, int device, DeviceProp13& properties) {
  FillCommon(profile, device, properties);
  properties.host_numa_id = -1;
}

std::optional<int> DeviceAttribute(const DeviceProfile& profile, int attribute, int device) {
  const bool ampere = profile.major >= 8;
  const bool hopper = profile.major >= 9;
  switch (attribute) {
    case 1:  // threads per block
    case 2:  // block x
    case 3:  // block y
      return 1024;
    case 4:  // block z
      return 64;
    case 5:  // grid x
      return kMaxInt;
    case 6:  // grid y
    case 7:  // grid z
      return 65535;
    case 8:
      return profile.shared_memory_per_block;
    case 9:  // constant memory
      return 65536;
    case 10:  // warp
      return 32;
    case 11:  // pitch
      return kMaxInt;
    case 12:  // registers per block
      return std::min(profile.registers_per_sm, 65536);
    case 13:
      return profile.clock_khz;
    case 14:  // texture alignment
    case 30:  // surface alignment
      return 512;
    case 16:
      return profile.sms;
    case 18:
      return profile.integrated ? 1 : 0;
    case 15:   // copies overlap
    case 19:   // maps host memory
    case 31:   // concurrent kernels
    case 41:   // unified addressing
    case 78:   // stream priorities
    case 79:   // L1 for globals
    case 80:   // L1 for locals
    case 83:   // managed memory
    case 89:   // concurrent managed access
    case 90:   // compute preemption
    case 91:   // host pointers of registered memory
    case 92:   // stream memory operations, version 1
    case 93:   // the same in 64 bits
    case 95:   // cooperative launch
    case 99:   // host registration
    case 102:  // virtual memory management
    case 115:  // memory pools
      return 1;
    case 17:   // run time limit
    case 20:   // compute mode: default
    case 32:   // ECC
    case 34:   // PCI device
    case 35:   // TCC driver
    case 50:   // PCI domain
    case 84:   // multi-GPU board
    case 85:   // its group
    case 86:   // host atomics
    case 88:   // pageable memory access
    case 94:   // stream wait NOR
    case 96:   // multi-device cooperative launch
    case 98:   // flush remote writes
    case 100:  // host page tables
    case 101:  // direct managed access
    case 103:  // handles as file descriptors: sharing memory is not emulated
    case 104:  // as Windows handles
    case 105:
    case 107:  // compression
    case 110:  // RDMA with VMM
    case 112:  // sparse arrays
    case 116:  // RDMA
    case 117:
    case 118:
    case 119:  // handle types of pools
    case 124:  // DMA-BUF
    case 125:  // IPC events
    case 128:  // fabric handles
    case 129:  // unified function pointers
    case 130:  // NUMA
    case 132:  // multicast
    case 133:  // MPS
      return 0;
    case 33:
      return 1 + device;
    case 36:
      return profile.memory_clock_khz;
    case 37:
      return profile.memory_bus_bits;
    case 38:
      return profile.l2_bytes;
    case 39:
      return profile.threads_per_sm;
    case 40:  // copy engines
      return 2;
    case 51:  // texture pitch alignment
      return 32;
    case 75:
      return profile.major;
    case 76:
      return profile.minor;
    case 81:
      return profile.shared_memory_per_sm;
    case 82:
      return profile.registers_per_sm;
    case 97:
      return profile.shared_memory_optin;
    case 106:
      return profile.blocks_per_sm;
    case 109:
      return ampere ? kWindowBytes : 0;
    case 111:
      return ReservedSharedBytes(profile);
    case 120:  // clusters
    case 127:  // tensor maps
      return hopper ? 1 : 0;
    case 126:  // memory synchronisation domains
      return hopper ? 4 : 1;
    case 131:  // NUMA node
    case 134:  // of the host
      return -1;
    default:
      return std::nullopt;
  }
}

}  // namespace flce::emulator
