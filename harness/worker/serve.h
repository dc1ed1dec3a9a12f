#pragma once

namespace flce::worker {

/// The zygote: imports torch, Liger and the fix once, then runs cells as forked children, as zygote_protocol.h says,
/// over `fd` (a socket). Returns an ExitCode when the other end closes.
int Serve(int fd);

}  // namespace flce::worker
