"""The two measured phases: eager, then compiled."""

import contextlib
import time

import torch

from . import exceptions, memory
from .graphs import Recorder
from .probe import Watch


def not_run():
    return {"status": "not_run", "seconds": None, "peak_bytes": None, "exception": None, "launches": None,
            "backward": False, "out_of_memory": None}


class Phases:
    def __init__(self, runner, context):
        """`context`: paths, progress, launches (a launches.Log), measure (the request's), compile (the case's),
        call_branch (source.call_branch of the case's call), effect (an effect.Effect), real (False on the emulated
        device)."""
        self._runner = runner
        self._context = context
        self.top_blocks = []
        self.poisoned = None  # True: free memory held NaNs before each measured run
        self.allocated = None

    def probe(self):
        """The observation's `probe`: an eager run that also builds what eager builds once (kernels, handles)."""
        watch = Watch(self._context.paths)
        found = {"ran": False, "calls": [], "exception": None}
        try:
            with watch:
                self._runner.run(self._runner.case.step)
            torch.cuda.synchronize()
            found["ran"] = True
        except BaseException as error:
            found["exception"] = exceptions.record(error, self._context.paths)
        self._runner.release()
        found["calls"] = watch.calls
        return found

    def watch(self, step):
        """A run for the sake of what it enters, as long as nothing that the fix changes is known to have run."""
        if not self._context.effect.open:
            return
        try:
            with self._context.effect.running():
                self._runner.run(step)
                torch.cuda.synchronize()
        except BaseException:  # the run that counts says what failed
            pass
        self._runner.release()

    def eager(self):
        phase = not_run()
        self._measured("eager", phase, self._runner.case.step, lambda: None)
        return phase

    def compiled(self):
        """Compile, forward and backward twice: the first shows the failure, the second the memory."""
        phase = not_run()
        phase["first_call_seconds"] = None
        options = self._context.compile
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        torch._dynamo.utils.clear_compilation_metrics()
        _configure(options)
        recorder = Recorder(self._context.paths, self._context.progress, getattr(self._context, "call_branch", None))
        progress = self._context.progress
        with recorder:
            progress.mark("dynamo")
            step = torch.compile(self._runner.case.step, fullgraph=bool(options.get("fullgraph")),
                                 dynamic=options.get("dynamic"), mode=options.get("mode"))
            self._context.launches.begin("compile and first run")
            started = time.monotonic()
            try:
                with self._peak(False) as peak, self._watched_compile():
                    phase["backward"] = self._runner.run(step, lambda: progress.mark("backward"))
                    torch.cuda.synchronize()
                phase["status"] = "ok"
            except BaseException as error:
                self._failed(phase, error, peak)
            phase["first_call_seconds"] = round(time.monotonic() - started, 4)
            phase["graphs"] = recorder.graphs()
            if phase["status"] == "ok":
                self._measured("compiled", phase, step, lambda: None)
                phase["graphs"] = recorder.graphs()
            else:
                phase["launches"] = self._context.launches.take()
        return phase, step

    @contextlib.contextmanager
    def _watched_compile(self):
        effect = self._context.effect
        with contextlib.ExitStack() as stack:
            if effect.open:
                stack.enter_context(effect.tracing())
                if effect.in_torch:
                    stack.enter_context(effect.running())
            yield

    def _measured(self, name, phase, step, on_backward):
        launches = self._context.launches
        self._runner.release()
        self._poison()
        launches.begin(name)
        started, peak = time.monotonic(), None
        try:
            with self._peak(bool(self._context.measure.get("memory_blocks"))) as peak:
                phase["backward"] = self._runner.run(step, on_backward)
                torch.cuda.synchronize()
            phase["status"] = "ok"
            # The gradients are the result, which every way of computing them holds; the peak is what it takes beyond.
            phase["peak_bytes"] = max(0, peak.bytes - self._runner.gradients_bytes()) if peak.bytes is not None else None
        except BaseException as error:
            self._failed(phase, error, peak)
        phase["seconds"] = round(time.monotonic() - started, 4)
        phase["launches"] = launches.take()
        if peak is not None and peak.top_blocks:
            self.top_blocks = peak.top_blocks

    def _poison(self):
        """On a real GPU alone: the emulated device computes nothing that could show."""
        if not (self._context.real and self._context.measure.get("poison")):
            return
        try:
            memory.poison(torch)
            self.poisoned = self.poisoned is not False
        except Exception:  # a device without room: the run itself is not spoiled, the report says so
            self.poisoned = False

    def _peak(self, blocks):
        return memory.Peak(self._context.paths, blocks)

    def _failed(self, phase, error, peak):
        phase["status"] = "raised"
        phase["exception"] = exceptions.record(error, self._context.paths)
        phase["out_of_memory"] = memory.out_of_memory(error, peak)
        if phase["out_of_memory"] and peak is not None:
            phase["peak_bytes"] = peak.bytes


def _configure(options):
    """Dynamo settings of the case. An unknown setting is an error of the case, so it raises."""
    torch._dynamo.config.capture_scalar_outputs = bool(options.get("capture_scalar_outputs"))
    for name, value in (options.get("dynamo_config") or {}).items():
        setattr(torch._dynamo.config, name, value)
