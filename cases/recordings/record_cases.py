"""Case module of scripts/record: the failing call, its siblings, its look-alikes and failures that have nothing to do with it.

Each function of KINDS makes the step of one kind. A worker runs them like any other case."""

from flce_worker.case import Case


def _dtype(text):
    import torch

    return getattr(torch, text) if text else None


def flce(p, shape, make):
    from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy as function

    dtype = _dtype(p.get("dtype", "bfloat16"))
    tensors = {"x": make.normal(shape["bt"], shape["h"], dtype=dtype),
               "w": make.normal(shape["v"], shape["h"], dtype=dtype),
               "target": make.integers(shape["v"], shape["bt"])}
    arguments = dict(p.get("arguments") or {}, accum_dtype=_dtype(p.get("accum_dtype", "float32")))

    def step(x, w, target):
        loss = function(x, w, target, **arguments)
        return loss.sum() if arguments.get("reduction") == "none" else loss

    return Case(tensors=tensors, step=step, trainable=("x", "w"))


def jsd(p, shape, make):
    from liger_kernel.transformers.functional import liger_fused_linear_jsd as function

    dtype = _dtype("bfloat16")
    rows, hidden, vocabulary = shape["bt"], shape["h"], shape["v"]
    tensors = {"x": make.normal(rows, hidden, dtype=dtype), "w": make.normal(vocabulary, hidden, dtype=dtype),
               "teacher": make.normal(rows, hidden, dtype=dtype),
               "teacher_w": make.normal(vocabulary, hidden, dtype=dtype)}

    def step(x, w, teacher, teacher_w):
        return function(x, w, teacher, teacher_w, accum_dtype=_dtype("float32"))

    return Case(tensors=tensors, step=step, trainable=("x", "w"))


def kl_div(p, shape, make):
    from liger_kernel.transformers.functional import liger_fused_linear_kl_div as function

    dtype = _dtype("bfloat16")
    tensors = {"x": make.normal(shape["bt"], shape["h"], dtype=dtype),
               "w": make.normal(shape["v"], shape["h"], dtype=dtype),
               "target": make.uniform(shape["bt"], shape["v"], dtype=_dtype("float32"))}

    def step(x, w, target):
        return function(x, w, target.softmax(-1), accum_dtype=_dtype("float32"))

    return Case(tensors=tensors, step=step, trainable=("x", "w"))


def operator(p, shape, make):
    """One operator with out_dtype=float32 on half operands; "out": with out=; "device": cpu runs it on the host."""
    import torch

    name, out, device = p["op"], p.get("out", False), p.get("device")
    dtype = _dtype(p.get("dtype", "bfloat16"))
    batched = name in ("bmm", "baddbmm")
    lead = (2,) if batched else ()
    tensors = {"a": make.normal(*lead, 16, 32, dtype=dtype), "b": make.normal(*lead, 32, 8, dtype=dtype),
               "c": make.normal(*lead, 16, 8, dtype=_dtype("float32"))}
    if p.get("wrong_shape"):
        tensors["wrong"] = make.normal(*lead, 33, 8, dtype=dtype)

    def step(a, b, c, wrong=None):
        if wrong is not None and torch.compiler.is_compiling():
            b = wrong
        if device:
            a, b, c = a.to(device), b.to(device), c.to(device)
        arguments = {"out_dtype": torch.float32}
        if out:
            arguments["out"] = c if name in ("addmm", "baddbmm") else torch.empty_like(c)
        operands = (c, a, b) if name in ("addmm", "baddbmm") else (a, b)
        return getattr(torch, name)(*operands, **arguments) + 1

    return Case(tensors=tensors, step=step, backward=False)


def user_multiply(p, shape, make):
    """Code that multiplies a dtype by a tensor: the exact words of Tier 1, and nothing to do with it."""
    import torch

    def step(x):
        return (torch.float32 * x).sum()

    def forgiving(x):
        # Eager must pass for the compiled failure to be looked at.
        if not torch.compiler.is_compiling():
            return x.sum()
        return (torch.float32 * x).sum()

    return Case(tensors={"x": make.normal(8, 16, dtype=_dtype("float32"))},
                step=step if p.get("eager_too") else forgiving, trainable=("x",))


def beta_dtype(p, shape, make):
    """addmm with a dtype where its scalar beta belongs: Tier 1's words about addmm, without out_dtype."""
    import torch

    def step(c, a, b):
        if not torch.compiler.is_compiling():
            return torch.addmm(c, a, b)
        return torch.addmm(c, a, b, beta=torch.float32)

    f32 = _dtype("float32")
    return Case(tensors={"c": make.normal(4, 8, dtype=f32), "a": make.normal(4, 5, dtype=f32), "b": make.normal(5, 8, dtype=f32)},
                step=step, backward=False)


def allowed_function(p, shape, make):
    """A function of the user's own, put into the graph whole, that multiplies its out_dtype: Tier 1's words and out_dtype,
    without addmm."""
    import torch
    import torch._dynamo

    def scaled_product(x, y, out_dtype=None):
        return out_dtype * (x @ y) if out_dtype is not None else x @ y

    torch._dynamo.allow_in_graph(scaled_product)

    def step(x, y):
        if not torch.compiler.is_compiling():
            return x @ y
        return scaled_product(x, y, out_dtype=torch.float32)

    f32 = _dtype("float32")
    return Case(tensors={"x": make.normal(4, 5, dtype=f32), "y": make.normal(5, 8, dtype=f32)}, step=step, backward=False)


def broadcast(p, shape, make):
    import torch

    def step(c, a, b):
        return torch.addmm(c, a, b, beta=0) + 1

    f32 = _dtype("float32")
    return Case(tensors={"c": make.normal(7, dtype=f32), "a": make.normal(3, 5, dtype=f32), "b": make.normal(5, 11, dtype=f32)},
                step=step, backward=False)


def integer_addmm(p, shape, make):
    import torch

    def step(c, a, b):
        return torch.addmm(c, a, b)

    return Case(tensors={"c": make.integers(9, 4, 4), "a": make.integers(9, 4, 4), "b": make.integers(9, 4, 4)}, step=step,
                backward=False)


def mixed_operands(p, shape, make):
    import torch

    def step(x, w):
        return torch.mm(x, w.t()).sum()

    return Case(tensors={"x": make.normal(8, 16, dtype=_dtype("bfloat16")), "w": make.normal(32, 16, dtype=_dtype("float32"))},
                step=step, trainable=("x",))


def flat_weight(p, shape, make):
    import torch

    def step(x, w):
        return (x @ w.t()).sum()

    return Case(tensors={"x": make.normal(8, 16, dtype=_dtype("float32")), "w": make.normal(512, dtype=_dtype("float32"))},
                step=step, trainable=("x",))


def functorch(p, shape, make):
    """A chunked loss written with functorch whose matmul has the wrong shape."""
    import torch

    def loss(w, x):
        return torch.matmul(x, w).sum()

    def step(x, w):
        if not torch.compiler.is_compiling():
            return x.sum()
        return torch.func.grad(loss)(w, x).sum()

    f32 = _dtype("float32")
    return Case(tensors={"x": make.normal(8, 16, dtype=f32), "w": make.normal(32, 16, dtype=f32)}, step=step, trainable=("x",))


def user_triton(p, shape, make):
    """A Triton kernel that does not build: a branch that changes the type of a variable, or an undefined global."""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def redefines(x, y, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        value = tl.load(x + offsets, mask=offsets < n).to(tl.float16)
        if n > 3:
            value = value.to(tl.float32)
        tl.store(y + offsets, value, mask=offsets < n)

    @triton.jit
    def uses_global(x, y, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) * LOG2_E, mask=offsets < n)

    kernel = redefines if p["bug"] == "redefines" else uses_global

    def step(x):
        y = torch.empty_like(x)
        kernel[(1,)](x, y, x.numel(), BLOCK=128)
        return y.sum()

    return Case(tensors={"x": make.normal(128, dtype=_dtype("float32"))}, step=step, backward=False)


LOG2_E = 1.44


def rms_norm(p, shape, make):
    """Liger's RMSNorm, which launches its kernel inside of a device's context."""
    from liger_kernel.transformers.functional import liger_rms_norm

    def step(x, w):
        return liger_rms_norm(x, w, 1e-6).sum()

    return Case(tensors={"x": make.normal(shape["bt"], shape["h"], dtype=_dtype("bfloat16")),
                         "w": make.normal(shape["h"], dtype=_dtype("bfloat16"))}, step=step, trainable=("x", "w"))


def plain(p, shape, make):
    """Something to compile: a softmax, so that Inductor makes a Triton kernel."""
    import torch

    def step(x):
        return torch.softmax(x * 2 + 1, -1).sum()

    return Case(tensors={"x": make.normal(64, 256, dtype=_dtype("float32"))}, step=step, trainable=("x",))


def triton_mismatch(p, shape, make):
    """What code written for another Triton does: it asks for a name that this one does not have."""

    def step(x):
        from triton.language import name_of_another_release  # noqa: F401

        return x.sum()

    return Case(tensors={"x": make.normal(4, dtype=_dtype("float32"))}, step=step, backward=False)


def large(p, shape, make):
    import torch

    def step(x):
        return torch.empty(int(p["bytes"]), dtype=torch.uint8, device=x.device).sum()

    return Case(tensors={"x": make.normal(4, dtype=_dtype("float32"))}, step=step, backward=False)


def build(parameters, shape, make):
    return globals()[parameters["what"]](parameters, shape, make)
