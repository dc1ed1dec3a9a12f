#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

/// Device code, run on the CPU. This room knows PTX and nothing of CUDA's API: who launches, where memory comes from and
/// what a finding is called are the caller's business.
namespace flce::ptx {

/// One parameter of a kernel, as it lies in the kernel's parameter space.
struct Parameter {
  std::string name;
  std::size_t offset = 0;  ///< bytes
  std::size_t size = 0;    ///< bytes
};

/// What a launch has to know of a kernel.
struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  std::size_t static_shared_bytes = 0;
};

/// Parsed PTX. Immutable: threads share it.
class Code {
 public:
  virtual ~Code() = default;
  /// Null: the code has no kernel of that name.
  virtual const KernelInfo* Find(std::string_view kernel) const = 0;
};

/// kData naming the line and what stands there. Text that is cut short, hostile or nonsense is an error too. An
/// instruction that is not known is no error here: it stops the launch that reaches it.
Result<std::shared_ptr<const Code>> Parse(std::string_view text);

/// How approximate and fused arithmetic is computed.
enum class Arithmetic {
  kIeee,        ///< products of `mma` summed in fp32, in order of k
  kTensorCore,  ///< as published of the hardware: aligned, truncated (24 bits on 8.x, 25 on 9.0 and later), towards zero
};

/// What the code asks of the memory around it. Addresses are those of the program; a generic address that lies in no
/// block's shared or local window is global. Called from several threads at once.
class GlobalMemory {
 public:
  /// Accessible bytes around an address. `written` has one byte for each byte of [begin, end), not 0: somebody wrote it;
  /// null: nobody keeps track, all of it counts as written. The interpreter sets what it stores.
  struct Region {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uint8_t* host = nullptr;     ///< where the bytes are: the byte at `begin`
    std::uint8_t* written = nullptr;
    bool writable = true;
  };
  virtual ~GlobalMemory() = default;
  /// Null: no allocation holds this address. The region stays valid until the launch ends.
  virtual const Region* Find(std::uintptr_t address) = 0;
};

struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
};

struct Launch {
  std::string kernel;
  Dimensions grid, block, cluster;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;  ///< as they lie in parameter space: `KernelInfo::parameter_bytes` of them
};

struct Options {
  Arithmetic arithmetic = Arithmetic::kIeee;
  int capability = 90;             ///< 75 to 121: what %clusterid and the like answer, and the tensor core that is modelled
  int threads = 0;                 ///< of the host; 0: as many as the process may use
  bool check = true;               ///< keep track of never-written reads, races, bounds and alignment
  std::uint64_t max_instructions = 0;  ///< of all lanes together; 0: no limit. Reached: kStopped
};

/// A fault or doubt that the device saw.
struct Finding {
  enum class Kind { kUnwrittenRead, kOutOfBounds, kMisaligned, kRace, kOrderOfAtomics };
  Kind kind;
  std::string kernel;
  std::string file;              ///< of the `.loc` in force; "" when the code carries none
  int line = 0;
  std::string instruction;       ///< "ld.global.b32"
  std::uintptr_t address = 0;
  std::size_t bytes = 0;         ///< of the access
  unsigned block[3] = {0, 0, 0};
  unsigned thread[3] = {0, 0, 0};
  std::uint64_t count = 1;       ///< accesses of this kind at this instruction
};

struct Outcome {
  enum class Kind {
    kDone,
    kNotComputed,  ///< `what` names the instruction (or the feature) that is not known: memory may be partly written
    kFault,        ///< what hardware answers with an error: a finding says where
    kStopped,      ///< the limit of instructions was reached
  };
  Kind kind = Kind::kDone;
  std::string what;  ///< "tcgen05.mma at line 812"; "" for kDone
  std::vector<Finding> findings;
  std::uint64_t instructions = 0;  ///< of all lanes together
};

/// Runs a whole grid. The caller holds no lock. Results do not depend on the number of threads, but where findings say that
/// the order of atomics decides.
Outcome Run(const Code& code, const Launch& launch, GlobalMemory& memory, const Options& options);

}  // namespace flce::ptx
