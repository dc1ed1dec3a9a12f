"""What a zygote compiles to warm a device: the constructions that fused losses use, and none of Liger's own code.

A custom autograd function that computes its gradients in forward, into slices of rows; a count read with .item(); a Triton
kernel launched in place; products with views of their operands. Once each: a second chunk would warm nothing more. No product
here takes an output type, so nothing that a cell looks for can be in a cache.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _row_loss(logits, stride, target, loss, columns, counted, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits += row * stride
    wanted = tl.load(target + row)
    if wanted == ignored:
        for start in range(0, columns, BLOCK):
            at = start + tl.arange(0, BLOCK)
            tl.store(logits + at, 0.0, mask=at < columns)
        return
    largest = float("-inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logits + at, mask=at < columns, other=float("-inf")).cast(tl.float32)
        higher = tl.maximum(largest, tl.max(x))
        total = total * tl.exp(largest - higher) + tl.sum(tl.exp(x - higher))
        largest = higher
    picked = tl.load(logits + wanted).cast(tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logits + at, mask=at < columns, other=float("-inf")).cast(tl.float32)
        share = tl.exp(x - largest) / total
        tl.store(logits + at, (tl.where(at == wanted, share - 1.0, share) / counted).to(logits.dtype.element_ty), mask=at < columns)
    tl.store(loss + row, (largest + tl.log(total) - picked) / counted)


class _ChunkedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, target):
        rows, columns = x.shape[0], w.shape[0]
        counted = (target != -100).sum().item()
        grad_x = torch.zeros_like(x)
        grad_w = torch.zeros_like(w, dtype=torch.float32)
        losses = torch.zeros(rows, dtype=torch.float32, device=x.device)
        half = slice(0, rows // 2)
        part = x[half]
        logits = (part @ w.t()).contiguous()
        _row_loss[(logits.shape[0],)](logits, logits.stride(0), target[half].contiguous(), losses[half], columns, counted, -100,
                                      BLOCK=32, num_warps=4)
        grad_x[half] = logits @ w
        grad_w += torch.mm(logits.t(), part).float()
        ctx.save_for_backward(grad_x.detach(), grad_w.to(w.dtype).detach())
        return losses.sum()

    @staticmethod
    def backward(ctx, gradient):
        grad_x, grad_w = ctx.saved_tensors
        return grad_x * gradient, grad_w * gradient, None


def step(x, w, target):
    """x: (rows, H), w: (V, H), target: (rows,) int64; rows even. The first half's mean loss, an fp32 scalar, and a copy
    of the weight."""
    return _ChunkedLoss.apply(x, w, target), w.clone()


def compile_forward(dtype=torch.bfloat16):
    """Eager, then compiled. No input requires a gradient: tracing a backward would run autograd's engine, and its threads
    with it, which a forked cell lacks and waits for."""
    x = torch.empty(8, 16, device="cuda", dtype=dtype)
    w = torch.empty(32, 16, device="cuda", dtype=dtype)
    target = torch.zeros(8, dtype=torch.int64, device="cuda")
    step(x, w, target)
    torch._dynamo.config.capture_scalar_outputs = True
    try:
        torch.compile(step)(x, w, target)
    finally:
        torch.cuda.synchronize()
        torch._dynamo.config.capture_scalar_outputs = False
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        torch._dynamo.utils.clear_compilation_metrics()
