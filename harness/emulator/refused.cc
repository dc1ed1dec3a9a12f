// Entry points that torch's libraries import and that are not emulated: each fails with its API's "not supported" and is
// recorded by name. The list holds what the wheels of torch 2.7 to 2.15 import and the other files do not define.
#include "harness/emulator/api.h"
#include "harness/emulator/cublas.h"

#define FLCE_REFUSED_RUNTIME(name)                                          \
  FLCE_API int name() {                                                     \
    flce::emulator::Session session;                                        \
    return flce::emulator::RuntimeResult(session.Refuse(#name));            \
  }
#define FLCE_REFUSED_DRIVER(name)                                           \
  FLCE_API int name() {                                                     \
    flce::emulator::Session session;                                        \
    return flce::emulator::DriverResult(session.Refuse(#name));             \
  }
#define FLCE_REFUSED_BLAS(name) \
  FLCE_API int name() { return flce::emulator::RefuseBlas(#name); }

#include "harness/emulator/refused_names.inc"
