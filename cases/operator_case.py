"""The operators themselves, without Liger: half operands, `out_dtype=torch.float32`, with and without `out=`."""

import torch

from flce_worker.case import Case
from flce_worker.names import dtype_of


def build(parameters, shape, make):
    """The sizes of FLCE's weight gradient: a (v, bt) times b (bt, h) into c (v, h) fp32; batched ones have 2 of each.

    parameters: op, out, dtype."""
    op, with_out = parameters["op"], bool(parameters.get("out"))
    dtype = dtype_of(parameters.get("dtype", "bfloat16"))
    batch = (2,) if op in ("bmm", "baddbmm") else ()
    adds = op in ("addmm", "baddbmm")
    tensors = {"a": make.normal(*batch, shape["v"], shape["bt"], dtype=dtype),
               "b": make.normal(*batch, shape["bt"], shape["h"], dtype=dtype),
               "c": make.normal(*batch, shape["v"], shape["h"], dtype=torch.float32)}
    function = getattr(torch, op)

    if adds and with_out:
        def step(a, b, c):
            return function(c, a, b, out_dtype=torch.float32, out=c)
    elif adds:
        def step(a, b, c):
            return function(c, a, b, out_dtype=torch.float32)
    elif with_out:
        def step(a, b, c):
            return function(a, b, out_dtype=torch.float32, out=c)
    else:
        def step(a, b, c):
            return function(a, b, out_dtype=torch.float32)

    return Case(tensors=tensors, step=step, backward=False)
