"""Times on a real GPU, with CUDA events."""

import statistics


def measure(torch, run, warmups, runs):
    """Median milliseconds of `run()`, after warm-ups; all samples beside it.

    The allocator starts with an empty cache: the large free blocks that earlier phases (poisoning above all) leave there
    would make a step near the device's capacity give memory back and ask for it again in every run."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    for _ in range(warmups):
        run()
    torch.cuda.synchronize()
    samples = []
    for _ in range(runs):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        samples.append(begin.elapsed_time(end))
    return {"median": statistics.median(samples), "samples": [round(sample, 4) for sample in samples]}
