"""An eager run watched call by call: which matrix products with an `out_dtype` are reached, from where, with what types.

Two watchers, because neither sees everything: a dispatch mode sees what reaches ATen under any spelling, but not what
runs inside a custom operator; the functions of the torch namespace see calls from inside custom operators too.
"""

import functools
import sys
import threading

from .names import dtype_name
from .paths import is_user

OPS = ("addmm", "mm", "bmm", "baddbmm")


class Watch:
    """Context manager. Afterwards `calls` is the observation's probe.calls."""

    def __init__(self, paths):
        self._paths = paths
        self._found = {}
        self._lock = threading.Lock()
        self._inside = threading.local()
        self._originals = {}
        self._mode = None

    @property
    def calls(self):
        return list(self._found.values())

    def __enter__(self):
        import torch

        for op in OPS:
            original = getattr(torch, op, None)
            if original is not None:
                self._originals[op] = original
                setattr(torch, op, self._watched(op, original))
        self._mode = _dispatch_mode(self)
        self._mode.__enter__()
        return self

    def __exit__(self, *error):
        import torch

        try:
            self._mode.__exit__(*error)
        finally:
            for op, original in self._originals.items():
                setattr(torch, op, original)
        return False

    def _watched(self, op, original):
        @functools.wraps(original)
        def call(*args, **kwargs):
            out_dtype = kwargs.get("out_dtype")
            if out_dtype is None:
                return original(*args, **kwargs)
            overload = "dtype_out" if kwargs.get("out") is not None else "dtype"
            self._add(f"aten.{op}.{overload}", op, args, out_dtype, sys._getframe(1))
            depth = getattr(self._inside, "depth", 0)
            self._inside.depth = depth + 1
            try:
                return original(*args, **kwargs)
            finally:
                self._inside.depth = depth

        return call

    def dispatched(self, func, args, kwargs):
        """Called by the dispatch mode for every operator."""
        overload = getattr(func, "_overloadname", "")
        if "dtype" not in overload or getattr(self._inside, "depth", 0):
            return
        name = str(func)  # aten.addmm.dtype_out
        op = name.split(".")[1] if name.count(".") == 2 else name
        if not name.startswith("aten.") or op not in OPS:
            return
        out_dtype = kwargs.get("out_dtype")
        if out_dtype is None:
            out_dtype = next((value for value in args if type(value).__name__ == "dtype"), None)
        self._add(name, op, args, out_dtype, sys._getframe(1))

    def _add(self, name, op, args, out_dtype, frame):
        site = self._site(frame)
        operand = args[1] if op in ("addmm", "baddbmm") and len(args) > 1 else (args[0] if args else None)
        key = (name, site, dtype_name(getattr(operand, "dtype", None)), dtype_name(out_dtype))
        with self._lock:
            call = self._found.get(key)
            if call is None:
                file, line, function = site
                self._found[key] = {"op": name, "file": file, "line": line, "function": function, "count": 1,
                                    "operand_dtype": key[2], "accumulator_dtype": key[3]}
            else:
                call["count"] += 1

    def _site(self, frame):
        while frame is not None:
            file = self._paths.relative(frame.f_code.co_filename)
            if is_user(file):
                return file, frame.f_lineno, frame.f_code.co_name
            frame = frame.f_back
        return "unknown", 0, "unknown"


def _dispatch_mode(watch):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            watch.dispatched(func, args, kwargs)
            return func(*args, **kwargs)

    return Mode()
