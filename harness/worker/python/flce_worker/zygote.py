"""What the zygote's processes do in Python: import once, warm one device, enter a cell.

Two rules keep a forked child usable: no backward pass runs before the fork (it would start autograd's threads, which a
child lacks and waits for), and CPU work stays on one thread (an OpenMP pool does not survive a fork either).
"""

import gc
import importlib
import json
import os
import sys
import tempfile
import time

from . import effect, environment, hooks
from .native import Emulator


def start(text):
    """Imports what every cell of this zygote shares, Liger not: cells bring their own. Returns the versions as JSON.

    Raises what the imports raise.
    """
    description = json.loads(text)
    for entry in reversed(description["sys_path"]):
        if entry not in sys.path:
            sys.path.insert(0, entry)
    fix = description.get("fix") or {}
    hooks.install(fix)
    changed = effect.Effect(description["sys_path"], fix)
    with changed.imports(torch=True):
        import torch

        torch.set_num_threads(1)
        import torch._dynamo
        import torch._inductor.compile_fx
        import torch._inductor.lowering  # noqa: F401

        _hash_once()
    with changed.imports():
        if fix.get("python"):
            importlib.import_module(fix["python"])
    return json.dumps({"python": environment.python_version(), **environment.torch_versions(torch),
                       "triton": environment.triton_version()})


def _hash_once():
    """Every process that compiles hashes torch's sources and Triton's compiler for the keys of caches: here, once for all."""
    try:
        from torch._inductor.codecache import torch_key

        torch_key()
        try:
            from triton.runtime.cache import triton_key
        except ImportError:  # Triton before 3.5
            from triton.compiler.compiler import triton_key
        triton_key()
    except Exception:  # theirs to move elsewhere: then each cell does it
        pass


def warm(text):
    """Sets the device up and compiles a control forward; returns the line that says so. Never raises for the control."""
    device = json.loads(text)
    began, error = time.monotonic(), None
    try:
        Emulator().set_profile(device.get("profile"))
        from . import control

        control.compile_forward()
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"[:2000]
    # Triton before 3.6 leaves compiler contexts to the collector, after a failed compile in its traceback, and each owns
    # threads. They must go here: a forked cell that drops such a context waits for threads that it does not have.
    gc.collect()
    # What is here stays for as long as a cell lives: its collections need not walk it, nor unshare its pages.
    gc.freeze()
    threads = len(os.listdir("/proc/self/task")) - 1
    if threads > 0:
        error = f"{error + '; ' if error else ''}{threads} threads are left, which a forked cell would lack"
    name = (device.get("profile") or {}).get("id") or device.get("capability")
    return json.dumps({"warmed": {"device": name, "ok": error is None, "seconds": round(time.monotonic() - began, 3),
                                  "error": error}})


def enter_cell(variables):
    """The cell's private folders and settings, in a freshly forked process."""
    os.environ.update(variables)
    tempfile.tempdir = None  # or it keeps the zygote's
