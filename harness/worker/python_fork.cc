#include "harness/worker/python_fork.h"

#include <Python.h>
#include <unistd.h>

#include <cstdio>

namespace flce::worker {

pid_t ForkPython() {
  fflush(nullptr);  // or the child writes what the parent had not yet
  PyOS_BeforeFork();
  pid_t pid = _Fork();
  if (pid == 0) {
    PyOS_AfterFork_Child();
  } else {
    PyOS_AfterFork_Parent();
  }
  return pid;
}

}  // namespace flce::worker
