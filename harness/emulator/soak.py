"""Thousands of compiled FLCE steps in one process: the C heap must not grow with the number of launches.

Run by scripts/soak_emulator in a cell's environment. Prints the growth of each block of steps; exit status 1 when the last blocks grow.
"""

import ctypes
import gc
import sys

import torch
from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy

WARM, BLOCK, BLOCKS = 200, 400, 5
# A step makes some 20 launches; an object lost at each would be several hundred bytes.
MOST_BYTES_A_STEP = 16


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def bytes_in_use():
    gc.collect()
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def main():
    torch._dynamo.config.capture_scalar_outputs = True
    x = torch.zeros(8, 16, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    w = torch.zeros(32, 16, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    target = torch.zeros(8, device="cuda", dtype=torch.int64)
    step = torch.compile(lambda *inputs: liger_fused_linear_cross_entropy(*inputs, accum_dtype=torch.float32))

    def run(times):
        for _ in range(times):
            x.grad = w.grad = None
            result = step(x, w, target)
            (result[0] if isinstance(result, tuple) else result).backward()
        torch.cuda.synchronize()

    run(WARM)
    last, growth = bytes_in_use(), []
    for block in range(BLOCKS):
        run(BLOCK)
        now = bytes_in_use()
        growth.append((now - last) / BLOCK)
        last = now
        print(f"{WARM + (block + 1) * BLOCK} steps: {growth[-1]:+.2f} bytes a step", flush=True)
    # The first block still fills caches.
    worst = max(growth[1:])
    print(f"soak: {'grows' if worst > MOST_BYTES_A_STEP else 'steady'}, at most {worst:+.2f} bytes a step after the first block")
    return worst > MOST_BYTES_A_STEP


if __name__ == "__main__":
    sys.exit(main())
