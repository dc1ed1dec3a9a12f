"""Peak memory from torch's own allocator, and what held it."""

TOP_BLOCKS = 10
HISTORY_ENTRIES = 1_000_000


class Peak:
    """Context manager around one run. `bytes` afterwards: the peak above what was allocated when it began."""

    def __init__(self, paths, blocks):
        self._paths = paths
        self._blocks = blocks
        self.bytes = None
        self.top_blocks = []
        self.failed_request = None

    def __enter__(self):
        import torch

        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self._before = torch.cuda.memory_allocated()
        if self._blocks:
            _record_history(torch, True)
        return self

    def __exit__(self, kind, error, trace):
        import torch

        try:
            self.bytes = max(0, torch.cuda.max_memory_allocated() - self._before)
            self.allocated = torch.cuda.memory_allocated()
            if self._blocks:
                device = torch.cuda.memory._snapshot()
                traces = device.get("device_traces") or [[]]
                entries = traces[torch.cuda.current_device()]
                peak = replay(entries)
                self.top_blocks = [self._block(size, frames) for size, frames in peak]
                self.failed_request = failed_request(entries)
        except Exception:  # after a fatal CUDA error nothing answers any more
            pass
        finally:
            if self._blocks:
                try:
                    _record_history(torch, False)
                except Exception:
                    pass
        return False

    def _block(self, size, frames):
        named = [{"file": self._paths.relative(frame["filename"]), "line": frame["line"], "function": frame["name"]}
                 for frame in frames]
        return {"bytes": size, "frames": named[:24]}  # innermost first, as torch has them


def _record_history(torch, on):
    if on:
        torch.cuda.memory._record_memory_history("all", context="alloc", stacks="python", max_entries=HISTORY_ENTRIES,
                                                 clear_history=True) \
            if _takes_clear_history(torch) else \
            torch.cuda.memory._record_memory_history("all", context="alloc", stacks="python", max_entries=HISTORY_ENTRIES)
    else:
        torch.cuda.memory._record_memory_history(None)


def _takes_clear_history(torch):
    import inspect

    try:
        return "clear_history" in inspect.signature(torch.cuda.memory._record_memory_history_impl).parameters
    except (AttributeError, ValueError, TypeError):
        return False


def replay(entries):
    """The largest blocks live at the moment of the highest total, as (size, frames), largest first.

    `entries` is one device's trace: alloc and free_requested events in order (a block counts as free for its owner when
    the free is requested). Blocks from before the trace are not known and do not count."""
    live, total, peak, best_at = {}, 0, 0, -1
    for index, entry in enumerate(entries):
        action = entry["action"]
        if action == "alloc":
            live[entry["addr"]] = entry["size"]
            total += entry["size"]
            if total > peak:
                peak, best_at = total, index
        elif action == "free_requested":
            total -= live.pop(entry["addr"], 0)
    live = {}
    for entry in entries[:best_at + 1]:
        if entry["action"] == "alloc":
            live[entry["addr"]] = (entry["size"], entry.get("frames") or ())
        elif entry["action"] == "free_requested":
            live.pop(entry["addr"], None)
    return sorted(live.values(), key=lambda block: -block[0])[:TOP_BLOCKS]


def failed_request(entries):
    """Bytes of the last request that the device could not serve, or None."""
    for entry in reversed(entries):
        if entry["action"] == "oom":
            return entry["size"]
    return None


def out_of_memory(error, peak):
    """OOM of the observation for a torch.OutOfMemoryError, else None."""
    import re

    import torch

    kinds = [kind for kind in (getattr(torch, "OutOfMemoryError", None), torch.cuda.OutOfMemoryError) if kind]
    if not isinstance(error, tuple(kinds)):
        return None
    message = str(error)
    requested = peak.failed_request if peak else None
    if requested is None:
        match = re.search(r"Tried to allocate ([0-9.]+) ([KMGT]i?B|bytes)", message)
        unit = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
        if match and match.group(2) in unit:
            requested = int(float(match.group(1)) * unit[match.group(2)])
    try:
        capacity = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    except Exception:
        capacity = None
    return {"requested_bytes": requested, "capacity_bytes": capacity,
            "allocated_bytes": getattr(peak, "allocated", None), "message": message[:4000]}


def poison(torch, share=0.5):
    """Fills the memory that the next run gets with 0xff (NaN in every float type), so that reading what nobody wrote shows.

    The free pieces beside live blocks, small blocks of every size, and one large block of `share` of what the device has
    free all go back to the allocator, which serves the next run from them. Raises what the allocator raises."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    held = [_filled(torch, size) for size in sorted(free_pieces(torch.cuda.memory_snapshot()), reverse=True)]
    size = 512
    while size <= 1 << 20:
        held += [_filled(torch, size) for _ in range(16)]
        size *= 2
    free, _ = torch.cuda.mem_get_info()
    held.append(_filled(torch, max(2 << 20, int(free * share) >> 21 << 21)))
    torch.cuda.synchronize()
    held.clear()


def _filled(torch, size):
    return torch.full((size,), 0xFF, dtype=torch.uint8, device="cuda")


def free_pieces(segments):
    """Sizes of the free blocks of a snapshot's segments, without those of private pools (CUDA graphs)."""
    return [block["size"] for segment in segments if tuple(segment.get("segment_pool_id") or (0, 0)) == (0, 0)
            for block in segment["blocks"] if block["state"] == "inactive"]
