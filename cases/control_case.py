"""Controls: cells whose outcome is known beforehand. If one comes out otherwise, the run proves nothing."""

import ctypes
import os
import sys
import time

import torch

from flce_worker.case import Case


def _case(step, make, shape):
    tensors = {"x": make.normal(shape["bt"], shape["h"], dtype=torch.float32),
               "w": make.normal(shape["v"], shape["h"], dtype=torch.float32)}
    return Case(tensors=tensors, step=step, trainable=("x", "w"))


def clean(parameters, shape, make):
    """Compiles and runs on every torch."""
    return _case(lambda x, w: torch.nn.functional.gelu(x @ w.t()).square().mean(), make, shape)


def user_dtype_multiply(parameters, shape, make):
    """User code that multiplies by a dtype, only while it is compiled: the words of the first tier, another bug."""

    def step(x, w):
        factor = torch.float32 if torch.compiler.is_compiling() else 1.0
        return (factor * x @ w.t()).mean()

    return _case(step, make, shape)


def crash(parameters, shape, make):
    """Segmentation fault."""
    return _case(lambda x, w: ctypes.string_at(0), make, shape)


def abort(parameters, shape, make):
    return _case(lambda x, w: os.abort(), make, shape)


def hang(parameters, shape, make):
    """Never returns; only the deadline ends it."""

    def step(x, w):
        while True:
            time.sleep(3600)

    return _case(step, make, shape)


def leave(parameters, shape, make):
    """The process ends at once with exit code 7, as native code may end it."""
    return _case(lambda x, w: os._exit(7), make, shape)


def system_exit(parameters, shape, make):
    """sys.exit, which Python code can survive."""
    return _case(lambda x, w: sys.exit(5), make, shape)
