"""Fused linear cross entropy of Liger, in the forms its users run."""

import contextlib
import inspect

import torch

from flce_worker.case import Case, Skipped
from flce_worker.names import dtype_of


def build(parameters, shape, make):
    """Tensors: x (bt, h), w (v, h), target (bt), bias (v), class_weights (v), upstream (bt).

    parameters: dtype of x, weight_dtype (default: the same), accum_dtype, weight_scale, frozen_weight, bias,
    autocast (a dtype), ignore_fraction of the targets, class_weights, upstream (a gradient per token that differs from
    token to token), through ("function" or "module"), checkpoint, needs_values (sizes depend on values), disabled (Dynamo is told to leave the call alone), and
    under "arguments" what the function takes besides tensors."""
    bt, h, v = shape["bt"], shape["h"], shape["v"]
    dtype = dtype_of(parameters.get("dtype", "bfloat16"))
    weight_dtype = dtype_of(parameters.get("weight_dtype")) or dtype
    arguments = dict(parameters.get("arguments") or {}, accum_dtype=dtype_of(parameters.get("accum_dtype")))

    tensors = {
        "x": make.normal(bt, h, dtype=dtype),
        "w": make.normal(v, h, dtype=weight_dtype, scale=parameters.get("weight_scale", 1.0)),
        "target": make.integers(v, bt),
    }
    trainable = ["x"] if parameters.get("frozen_weight") else ["x", "w"]
    if parameters.get("ignore_fraction"):
        tensors["target"][make.chance(parameters["ignore_fraction"], bt)] = arguments.get("ignore_index", -100)
    if parameters.get("bias"):
        tensors["bias"] = make.normal(v, dtype=weight_dtype)
        trainable.append("bias")
    if parameters.get("class_weights"):
        tensors["class_weights"] = make.uniform(v, dtype=torch.float32, low=0.5, high=1.5)
    if parameters.get("upstream"):
        tensors["upstream"] = make.uniform(bt, dtype=torch.float32, low=0.25, high=2.0)

    return Case(tensors=tensors, step=_step(parameters, arguments), trainable=trainable,
                gradient="upstream" if parameters.get("upstream") else None, around=_autocast(parameters.get("autocast")),
                needs_values=bool(parameters.get("needs_values")))


def _autocast(dtype):
    if dtype is None:
        return contextlib.nullcontext
    return lambda: torch.autocast("cuda", dtype=dtype_of(dtype))


def _step(parameters, arguments):
    loss = _module(arguments) if parameters.get("through") == "module" else _function(arguments)
    if parameters.get("checkpoint"):
        from torch.utils.checkpoint import checkpoint

        plain = loss

        def loss(*tensors):
            return checkpoint(plain, *tensors, use_reentrant=False)

    if parameters.get("disabled"):
        loss = torch._dynamo.disable(loss)

    # The signature names the tensors: Dynamo sees plain arguments, as in a user's training step.
    def step(x, w, target, bias=None, class_weights=None):
        return loss(x, w, target, bias, class_weights)

    return step


def _function(arguments):
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy as flce

    needs(flce, arguments)
    if arguments.get("return_z_loss"):
        return lambda x, w, target, bias, weights: flce(x, w, target, bias, weights, **arguments).loss
    return lambda x, w, target, bias, weights: flce(x, w, target, bias, weights, **arguments)


def _module(arguments):
    from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss

    needs(LigerFusedLinearCrossEntropyLoss.__init__, arguments)
    module = LigerFusedLinearCrossEntropyLoss(**arguments)
    return lambda x, w, target, bias, weights: module(w, x, target, bias)


def needs(function, arguments):
    """Skips the case if this Liger's function does not take one of the arguments."""
    known = inspect.signature(function).parameters
    for name, value in arguments.items():
        if name not in known and value is not None:
            raise Skipped(f"this Liger's {function.__qualname__} takes no {name}")
