"""Fused linear cross entropy of Liger, in the forms its users run."""

from flce_worker.case import Case
from flce_worker.names import dtype_of


def build(parameters, shape, make):
    """`parameters`: dtype, accum_dtype, weight_dtype, weight_scale, frozen_weight, bias, autocast, and every argument of the
    function that is not a tensor under "arguments". Shapes: x (bt, h), w (v, h), target (bt)."""
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy as flce

    bt, h, v = shape["bt"], shape["h"], shape["v"]
    dtype = dtype_of(parameters.get("dtype", "bfloat16"))
    weight_dtype = dtype_of(parameters.get("weight_dtype")) or dtype
    arguments = dict(parameters.get("arguments") or {})
    arguments["accum_dtype"] = dtype_of(parameters.get("accum_dtype"))

    tensors = {
        "x": make.normal(bt, h, dtype=dtype),
        "w": make.normal(v, h, dtype=weight_dtype, scale=parameters.get("weight_scale", 1.0)),
        "target": make.integers(v, bt),
    }

    def step(x, w, target):
        return flce(x, w, target, **arguments)

    return Case(tensors=tensors, step=step, trainable=("x", "w"))
