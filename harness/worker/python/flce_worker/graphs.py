"""What was compiled: the graphs that Dynamo gives to Inductor, counted and read, without changing what runs.

The recorder stands in front of `torch._inductor.compile_fx.compile_fx`, which torch.compile looks up at each call, reads
the graph and passes it on. It also marks the stages of the compiler as they begin.
"""

import logging
import re
import threading

from .paths import is_user

_FILE_LINE = re.compile(r'File "([^"\n]+)", line (\d+)')


class Recorder:
    """Context manager around a compiled run. `graphs()` afterwards is the observation's compiled.graphs."""

    def __init__(self, paths, progress, call_branch=None):
        """`call_branch`: source.call_branch of the call in question; its nodes are counted."""
        self._branch = (call_branch["file"], set(call_branch["lines"])) if call_branch else None
        self.branch_nodes = 0
        self._paths = paths
        self._progress = progress
        self._undo = []
        self._inside = threading.local()
        self._handler = _SuppressedHandler()
        self.captured = 0
        self.compiled = 0
        self.ops = {}
        self.nodes_from = {}

    def __enter__(self):
        import torch
        import torch._inductor.compile_fx as compile_fx
        import torch._inductor.graph as graph

        self._disabled = _disabled(torch)
        self._replace(compile_fx, "compile_fx", self._compile_fx)
        self._replace(graph.GraphLowering, "run", self._marking("lowering"))
        for name in ("codegen", "compile_to_module"):
            if hasattr(graph.GraphLowering, name):
                self._replace(graph.GraphLowering, name, self._marking("codegen"))
        logging.getLogger("torch._dynamo.convert_frame").addHandler(self._handler)
        return self

    def __exit__(self, *error):
        logging.getLogger("torch._dynamo.convert_frame").removeHandler(self._handler)
        for owner, name, original in reversed(self._undo):
            setattr(owner, name, original)
        self._undo.clear()
        return False

    def _replace(self, owner, name, wrap):
        original = getattr(owner, name)
        self._undo.append((owner, name, original))
        setattr(owner, name, wrap(original))

    def _marking(self, stage):
        def wrap(original):
            def call(*args, **kwargs):
                self._progress.mark(stage)
                return original(*args, **kwargs)

            return call

        return wrap

    def _compile_fx(self, original):
        def call(model, inputs, *args, **kwargs):
            # compile_fx calls itself to apply configuration; that is one graph, not two.
            if getattr(self._inside, "busy", False):
                return original(model, inputs, *args, **kwargs)
            self._inside.busy = True
            try:
                self.captured += 1
                try:
                    self._read(model)
                except Exception as error:  # reading must not break the compile
                    logging.getLogger("flce_worker").warning("captured graph not read: %r", error)
                self._progress.mark("decomposition")
                compiled = original(model, inputs, *args, **kwargs)
                self.compiled += 1
                self._progress.mark("launch")
                return compiled
            finally:
                self._inside.busy = False

        return call

    def _read(self, model):
        for module in model.modules():
            graph = getattr(module, "graph", None)
            for node in getattr(graph, "nodes", ()):
                if node.op not in ("call_function", "call_method"):
                    continue
                name = _op_name(node)
                self.ops[name] = self.ops.get(name, 0) + 1
                source = self._source(node)
                self.nodes_from[source] = self.nodes_from.get(source, 0) + 1

    def _source(self, node):
        trace = node.meta.get("stack_trace") or getattr(node, "stack_trace", None) or ""
        files = [self._paths.relative(file) for file, _ in _FILE_LINE.findall(trace)]
        if self._branch and any(self._paths.relative(file) == self._branch[0] and int(line) in self._branch[1]
                                for file, line in _FILE_LINE.findall(trace)):
            self.branch_nodes += 1
        for file in reversed(files):
            if file.startswith("liger_kernel/"):
                return file
        for file in reversed(files):
            if is_user(file):
                return "case" if file.startswith("cases/") else file
        return files[-1] if files else "unknown"

    def graphs(self):
        import torch._dynamo.utils as utils

        frames = utils.counters.get("frames", {})
        return {"captured": self.captured, "compiled": self.compiled, "breaks": _breaks(utils, self._paths),
                "nodes_from": dict(self.nodes_from), "ops": dict(self.ops), "suppressed": len(self._handler.lines),
                "suppressed_messages": self._handler.lines[:8], "disabled": self._disabled,
                "recompiles": _recompiles(utils), "branch_nodes": self.branch_nodes if self._branch else None,
                "frames": {"total": int(frames.get("total", 0)), "ok": int(frames.get("ok", 0))}}


def _op_name(node):
    target = node.target
    name = target if isinstance(target, str) else getattr(target, "__name__", None) or str(target)
    if type(target).__name__ in ("OpOverload", "OpOverloadPacket"):
        name = str(target)
    return f"{name}(out_dtype)" if node.kwargs.get("out_dtype") is not None else name


def _disabled(torch):
    import os

    config = torch._dynamo.config
    return bool(getattr(config, "disable", False)) or any(
        os.environ.get(name, "0") not in ("", "0") for name in ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"))


def _breaks(utils, paths):
    found = []
    for reason in getattr(utils, "graph_break_reasons", ()):
        stack = getattr(reason, "user_stack", None) or ()
        site = f"{paths.relative(stack[-1].filename)}:{stack[-1].lineno}" if len(stack) else None
        found.append({"reason": str(getattr(reason, "reason", reason))[:2000], "site": site})
    return found[:256]


def _recompiles(utils):
    try:
        metrics = utils.get_compilation_metrics()
    except Exception:
        return 0
    # A compile id is FRAME/COMPILE; the second part counts how often the frame was compiled before.
    ids = {str(item.compile_id) for item in metrics if getattr(item, "compile_id", None)}
    return sum(1 for text in ids if re.fullmatch(r"\d+/[1-9]\d*", text))


class _SuppressedHandler(logging.Handler):
    """Sees the warnings with which Dynamo gives a frame up and runs it eagerly."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = []

    def emit(self, record):
        try:
            text = record.getMessage()
            if "WON'T CONVERT" in text:
                self.lines.append(text[:4000])
        except Exception:
            pass
