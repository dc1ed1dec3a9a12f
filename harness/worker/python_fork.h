#pragma once

#include <sys/types.h>

namespace flce::worker {

/// Forks this process with its embedded Python (the caller holds the GIL and no other thread runs): 0 in the child, -1 on
/// failure. It is _Fork(2), which runs no pthread_atfork handler: torch's would mark CUDA as lost in the child, though
/// the emulated device survives a fork. Python's own preparations are made.
pid_t ForkPython();

}  // namespace flce::worker
