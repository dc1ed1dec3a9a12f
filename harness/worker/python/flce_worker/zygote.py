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

from . import environment, hooks
from .native import Emulator


def start(text):
    """Imports what every cell of this zygote shares; returns the versions as JSON. Raises what the imports raise."""
    description = json.loads(text)
    for entry in reversed(description["sys_path"]):
        if entry not in sys.path:
            sys.path.insert(0, entry)
    fix = description.get("fix") or {}
    hooks.install(fix)
    import torch

    torch.set_num_threads(1)
    import torch._dynamo
    import torch._inductor.compile_fx
    import torch._inductor.lowering  # noqa: F401

    if fix.get("python"):
        importlib.import_module(fix["python"])
    versions = {"python": environment.python_version(), **environment.torch_versions(torch),
                "triton": environment.triton_version(), **environment.liger(description["sys_path"])}
    if versions["liger_path"]:
        # The functions that the cases use; a Liger that cannot be imported is the cells' finding, not the zygote's.
        try:
            importlib.import_module("liger_kernel.transformers.functional")
        except Exception:
            pass
    return json.dumps(versions)


def warm(text):
    """Sets the device up and compiles a control forward; returns the line that says so. Never raises for the control."""
    device = json.loads(text)
    began, error = time.monotonic(), None
    try:
        Emulator().set_profile(device.get("profile"))
        _compile_control()
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"[:2000]
    # A compile that failed is still held by the frames of its exception, and with it Triton's compiler context, whose
    # threads a child lacks and would wait for once it collects garbage.
    gc.collect()
    name = (device.get("profile") or {}).get("id") or device.get("capability")
    return json.dumps({"warmed": {"device": name, "ok": error is None, "seconds": round(time.monotonic() - began, 3),
                                  "error": error}})


def _compile_control():
    import torch

    # Inputs that require a gradient, so that the joint graph is traced and partitioned; the call itself stays forward.
    x = torch.empty(8, 16, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    w = torch.empty(32, 16, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    torch._dynamo.config.capture_scalar_outputs = True
    try:
        torch.compile(_control())(x, w)
    finally:
        torch.cuda.synchronize()
        torch._dynamo.config.capture_scalar_outputs = False
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        torch._dynamo.utils.clear_compilation_metrics()


def _control():
    import torch

    try:
        from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy as flce
    except Exception:
        return lambda x, w: torch.nn.functional.gelu(x @ w.t()).float().square().mean()
    # accum_dtype None: the call in question is not reached, so nothing that a cell looks for is cached.
    return lambda x, w: flce(x, w, torch.zeros(8, dtype=torch.int64, device="cuda"), accum_dtype=None)


def enter_cell(variables):
    """The cell's private folders and settings, in a freshly forked process."""
    os.environ.update(variables)
    tempfile.tempdir = None  # or it keeps the zygote's
