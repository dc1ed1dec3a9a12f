"""Where a compiled run stopped, read from the exception; the last stage that began decides what no frame tells."""

_BY_FILE = (
    ("torch/_decomp/", "decomposition"), ("torch/_refs/", "decomposition"),
    ("torch/_inductor/codegen/", "codegen"), ("torch/_inductor/scheduler.py", "codegen"),
    ("torch/_inductor/select_algorithm.py", "codegen"), ("torch/_inductor/async_compile.py", "codegen"),
    ("triton/compiler/", "codegen"), ("triton/backends/", "codegen"),
    ("torch/_inductor/lowering.py", "lowering"), ("torch/_inductor/kernel/", "lowering"),
    ("torch/_inductor/graph.py", "lowering"),
)
_DYNAMO = ("torch/_dynamo/", "torch/_subclasses/")


def stopped_at(exc, last):
    """`exc`: EXC of a failed compiled run; `last`: the last stage marked."""
    chain = exc["chain"]
    if any(frame["file"].startswith(("torch/_decomp/", "torch/_refs/")) for entry in chain for frame in entry["frames"][-12:]):
        return "decomposition"
    if any(".LoweringException" in entry["type"] for entry in chain):
        return "lowering"
    for entry in reversed(chain):
        for frame in reversed(entry["frames"]):
            for prefix, stage in _BY_FILE:
                if frame["file"].startswith(prefix):
                    return stage
    if last == "backward" or not chain:
        return last
    if chain[0]["type"].startswith("torch._dynamo."):
        return "dynamo"
    return last
