#ifndef FLCE_EMULATOR_H_
#define FLCE_EMULATOR_H_

// C interface of libflce_emulated_cuda.so, for the process that it is preloaded into: found with
// dlsym(RTLD_DEFAULT, "flce_emu_..."); absent on a real device.

#ifdef __cplusplus
extern "C" {
#endif

#define FLCE_EMU_ABI 1

/// FLCE_EMU_ABI of the loaded library.
int flce_emu_abi(void);

/// Sets the card, as the environment variable FLCE_EMU_PROFILE does at load: "key=value" lines, or separated by
/// semicolons. Possible while no device memory is allocated, so also in a forked child of a process that has
/// initialised CUDA. 0, or 1 and flce_emu_last_message() says in one line what is wrong; then nothing has changed.
int flce_emu_set_profile(const char* text);

/// The last message of this thread, never null; valid until the thread's next call.
const char* flce_emu_last_message(void);

/// Forgets what was counted; peaks begin again at what is in use.
void flce_emu_reset_log(void);

/// What was counted since the last reset, as JSON:
/// {"peak_bytes", "used_bytes", "capacity_bytes",          of the device with the highest peak
///  "gemms": [{"api","transa","transb","m","n","k","batch","a","b","c","d","compute","accumulates"[,"epilogue"]}],
///  "gemm_count",                                          gemms holds the first 4096
///  "kernels": {name: launches}, "kernel_count", "copies",
///  "refused": [{"api","count","detail"}],                 calls and values that are not emulated; each failed
///  "unknown_entry_points": [names],                       driver functions looked up that fail when called
///  "out_of_memory": {"requested_bytes","capacity_bytes","allocated_bytes","device","count","message"} | null,
///  "sequence": [{"t_us","kind","name","stream","device"[,"bytes"]}], "sequence_dropped"}     with trace=1
/// To be released with flce_emu_free(). Null when memory is short.
char* flce_emu_read_log(void);
void flce_emu_free(char* text);

#ifdef __cplusplus
}
#endif

#endif  // FLCE_EMULATOR_H_
