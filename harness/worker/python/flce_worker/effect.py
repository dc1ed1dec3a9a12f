"""Did anything that a fix changes run? Seen, not assumed: functions as the interpreter or Dynamo enters them.

Watching costs time, so it begins with what is cheap and ends with the first piece that ran: the imports, then an eager
run of its own after the probe, then what Dynamo traces, and last a compiled run that nobody measures. The backward passes
of watched runs stay on their thread, where the interpreter's profiler sees them.
"""

import contextlib
import cProfile
import os
import sys

from . import changes

_from_start = set()  # the functions entered while the process was set up; a forked cell inherits it


class Effect:
    def __init__(self, sys_path, fix):
        found = changes.of_fix(sys_path, fix)
        self.changes = found or []
        # False when a watcher fails, or where a module that is imported first may do anything: nothing is concluded then.
        self._watched = found is not None and not (fix or {}).get("python")
        self._applies = found is not None
        self._functions = {}
        for change in self.changes:
            if change.name != changes.MODULE:
                # Not by line alone: a module's own code may begin on the line of its first function.
                self._functions[os.path.realpath(change.path), change.line, change.function] = change
        self._real = {}

    @property
    def open(self):
        """True while nothing that was changed is known to have run: watching on is worth it."""
        return self._watched and bool(self.changes) and not any(change.ran or change.ran is None for change in self.changes)

    def entered(self, code):
        """A code object was run, or traced to be compiled."""
        name = code.co_filename
        if name not in self._real:
            self._real[name] = os.path.realpath(name)
        change = self._functions.get((self._real[name], code.co_firstlineno, code.co_name))
        if change is not None:
            change.ran = True

    @contextlib.contextmanager
    def imports(self, torch=False):
        """Around imports: what they call. `torch`: torch is among them, which enters nothing of Liger."""
        with self._profiled() if self._functions and (self.in_torch or not torch) else contextlib.nullcontext():
            yield
        _from_start.update(key for key, change in self._functions.items() if change.ran)

    def look_at_modules(self):
        """After the imports, and after each step that may have imported more."""
        if not self.changes:
            return
        files = {}
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str):
                files[os.path.realpath(file)] = module
        for change in self.changes:
            path = os.path.realpath(change.path)
            module = files.get(path)
            if module is None or change.ran:
                continue
            if change.name == changes.MODULE or (path, change.line, change.function) in _from_start:
                change.ran = True
            elif change.decorators:
                change.ran = _wrapped_ran(module, change)

    @contextlib.contextmanager
    def running(self):
        """Around a run or a compile that is only watched, or watched for want of cheaper ways."""
        import torch

        with self._profiled(), torch.autograd.set_multithreading_enabled(False):
            yield
        self.look_at_modules()

    @contextlib.contextmanager
    def tracing(self):
        """Around a compile: the functions that Dynamo reads, which the interpreter then never enters."""
        try:
            from torch._dynamo.symbolic_convert import InstructionTranslatorBase as translator

            original = translator.__init__
        except Exception:
            self._watched = False
            yield
            return

        def init(this, *args, **kwargs):
            original(this, *args, **kwargs)
            self.entered(this.f_code)

        translator.__init__ = init
        try:
            yield
        finally:
            translator.__init__ = original
            self.look_at_modules()

    @property
    def in_torch(self):
        """True if a changed function is torch's own: it may run while something is compiled."""
        return any(change.file.startswith("torch/") for change in self._functions.values())

    @contextlib.contextmanager
    def _profiled(self):
        profile = cProfile.Profile(builtins=False)
        try:
            profile.enable()
        except Exception:  # another profiler is at work
            self._watched = False
            yield
            return
        try:
            yield
        finally:
            profile.disable()
            for entry in profile.getstats():
                if hasattr(entry.code, "co_filename"):
                    self.entered(entry.code)

    def record(self):
        """The observation's `fix`; None without one that replaces files."""
        if not self._applies:
            return None
        return {"watched": self._watched,
                "changes": [{"file": change.file, "name": change.name, "line": change.line, "ran": change.ran}
                            for change in self.changes]}


def _wrapped_ran(module, change):
    """What can be said of a decorated function that was not seen. False: it did not run."""
    found = module
    for name in change.name.split("#")[0].split("."):
        found = getattr(found, name, None)
    # A Triton kernel is translated, not entered; whoever launches it, or a kernel that calls it, asks for its hash.
    for _ in range(8):
        if not type(found).__module__.startswith("triton"):
            break
        if hasattr(found, "hash"):
            return getattr(found, "hash") is not None
        found = getattr(found, "fn", None)
    # A cached result may have been computed before anyone watched, and a kernel that is not found by name cannot be asked.
    return None if any(word in text for text in change.decorators for word in ("cache", "jit")) else False
