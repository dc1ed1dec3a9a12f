"""The siblings of FLCE in Liger that accumulate the weight's gradient with the same call: JSD and KL divergence."""

import torch

from flce_case import needs
from flce_worker.case import Case, Skipped
from flce_worker.names import dtype_of


def build_jsd(parameters, shape, make):
    """Student x (bt, h), w (v, h); teacher tx (bt, h), tw (v, h); all of `dtype`."""
    from liger_kernel.transformers import functional

    bt, h, v = shape["bt"], shape["h"], shape["v"]
    dtype = dtype_of(parameters.get("dtype", "bfloat16"))
    arguments = {"accum_dtype": dtype_of(parameters.get("accum_dtype"))}
    needs(functional.liger_fused_linear_jsd, arguments)
    if arguments["accum_dtype"] is None:
        arguments = {}
    tensors = {"x": make.normal(bt, h, dtype=dtype), "w": make.normal(v, h, dtype=dtype),
               "tx": make.normal(bt, h, dtype=dtype), "tw": make.normal(v, h, dtype=dtype)}

    def step(x, w, tx, tw):
        return functional.liger_fused_linear_jsd(x, w, tx, tw, **arguments)

    return Case(tensors=tensors, step=step, trainable=("x", "w"))


def build_kl(parameters, shape, make):
    """Student x (bt, h), w (v, h); target probabilities q (bt, v), fp32."""
    from liger_kernel.transformers import functional

    if not hasattr(functional, "liger_fused_linear_kl_div"):
        raise Skipped("this Liger has no liger_fused_linear_kl_div")
    bt, h, v = shape["bt"], shape["h"], shape["v"]
    dtype = dtype_of(parameters.get("dtype", "bfloat16"))
    accum_dtype = dtype_of(parameters.get("accum_dtype"))
    probabilities = make.normal(bt, v, dtype=torch.float32)
    tensors = {"x": make.normal(bt, h, dtype=dtype), "w": make.normal(v, h, dtype=dtype),
               "q": probabilities if probabilities.device.type == "meta" else probabilities.softmax(-1)}

    def step(x, w, q):
        return functional.liger_fused_linear_kl_div(x, w, q, accum_dtype=accum_dtype)

    return Case(tensors=tensors, step=step, trainable=("x", "w"))
