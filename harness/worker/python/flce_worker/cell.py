"""One cell, front to back: request in, observation out. Nothing that the case does in Python ends this function early."""

import contextlib
import importlib
import json
import os
import sys
import time
import types

from . import effect, environment, exceptions, hooks, source
from .native import Emulator, Progress
from .paths import Paths

FORMAT = 1
# On the emulated device no value is computed: larger inputs are not worth the host memory.
LARGEST_GENERATED = 64 << 20


class Stopped(Exception):
    """The cell cannot go on; the observation already says why."""


def run(text):
    """JSON of a request -> JSON of its observation."""
    request = json.loads(text)
    return json.dumps(Cell(request).run(), allow_nan=False)


class Cell:
    def __init__(self, request, progress=None, emulator=None):
        self.request = request
        self.case_file = None
        self.call_branch = None
        self.effect = None
        self.progress = progress or Progress()
        self.progress.log_to(os.path.join(request["output_dir"], "progress.ndjson"))
        self.emulator = emulator or Emulator()
        case = request["case"]
        self.observation = {
            "format": FORMAT, "cell_id": request["cell_id"], "case": case["name"], "complete": False,
            "versions": {"python": environment.python_version(), "torch": None, "torch_git": None, "cuda": None,
                         "triton": None, "liger": None, "liger_path": None},
            "device": {"kind": request["device"]["kind"], "name": None, "capability": request["device"].get("capability"),
                       "count": None, "arch_list": [], "total_memory": None},
            "affected": {"overloads": [], "call_present": None, "call_site": None},
            "stages": [], "stage": None, "exception": None, "skipped": None,
            "fix": None, "probe": {"ran": False, "calls": [], "exception": None},
            "eager": _not_run(), "compiled": dict(_not_run(), first_call_seconds=None, graphs=None),
            "memory": {"inputs_bytes": None, "top_blocks": []},
            "timings_ms": {"import": None, "eager": None, "compiled_first": None, "compiled": None},
            "emulator": None, "tensors": {"inputs": None, "eager": None, "compiled": None, "reference": None}, "values": "not_computed",
            "poisoned": None,
            "log": {"dynamo_suppressed": False, "stderr_tail": None}, "environment": environment.variables(),
        }

    def run(self):
        try:
            self._import()
            self._device()
            case = self._build()
            self._measure(case)
            self.observation["complete"] = True
        except Stopped:
            self.observation["complete"] = True
        finally:
            self.observation["stages"] = list(self.progress.stages)
            if self.effect is not None:
                self.observation["fix"] = self.effect.record()
        return self.observation

    @property
    def paths(self):
        return Paths(self.request.get("sys_path") or (), self.case_file, hooks.renamed(self.request.get("fix") or {}),
                     os.environ.get("TORCHINDUCTOR_CACHE_DIR"))

    def _stop(self, stage, error):
        if type(error).__name__ == "Skipped" and type(error).__module__ == "flce_worker.case":
            self.observation["skipped"] = str(error)
        self.observation["stage"] = stage
        self.observation["exception"] = exceptions.record(error, self.paths)
        raise Stopped from None

    def _import(self):
        self.progress.mark("import")
        request, started = self.request, time.monotonic()
        for entry in reversed(request.get("sys_path") or ()):
            if entry not in sys.path:
                sys.path.insert(0, entry)
        try:
            fix = request.get("fix") or {}
            hooks.install(fix)
            self.effect = effect.Effect(request.get("sys_path") or (), fix)
            with self.effect.imports(torch=True):
                import torch

                self.observation["versions"].update(environment.torch_versions(torch))
                self.observation["versions"]["triton"] = environment.triton_version()
                self.observation["versions"].update(environment.liger(request.get("sys_path") or ()))
                import torch._dynamo
                import torch._inductor.compile_fx

            self._affected(torch)
            with self.effect.imports():
                if fix.get("python"):
                    importlib.import_module(fix["python"])
                self.module = importlib.import_module(request["case"]["module"])
                self.case_file = getattr(self.module, "__file__", None)
        except BaseException as error:
            self._stop("import", error)
        finally:
            self.observation["timings_ms"]["import"] = round((time.monotonic() - started) * 1000, 1)

    def _affected(self, torch):
        call = self.request["case"].get("call")
        if not call:
            return
        affected = self.observation["affected"]
        packet = getattr(torch.ops.aten, call["op"], None)
        affected["overloads"] = sorted(packet.overloads()) if packet is not None else []
        roots = [*(self.request.get("sys_path") or ()), *sys.path]
        affected["call_present"], affected["call_site"] = source.call_site(call, roots)
        self.call_branch = source.call_branch(call, roots)

    def _device(self):
        self.progress.mark("device")
        request = self.request["device"]
        try:
            self.emulator.set_profile(request.get("profile"))
            import torch

            self.observation["device"] = environment.device(torch, request["kind"])
        except BaseException as error:
            self._stop("device", error)

    def _build(self):
        import torch

        from .case import InputMaker, Skipped

        description = self.request["case"]
        emulated = self.request["device"]["kind"] == "emulated"
        self.progress.mark("eager")
        try:
            make = InputMaker(self.request["seed"], LARGEST_GENERATED if emulated else None)
            function = getattr(self.module, description["function"])
            with self.effect.imports():  # a case imports what it is about when it is built
                case = function(description.get("parameters") or {}, self.request["shape"], make)
            self.effect.look_at_modules()
            if emulated and case.needs_values:
                raise Skipped("sizes depend on computed values here, and the emulated device computes none; use --device cuda")
            return case
        except BaseException as error:
            self._stop("eager", error)

    def _measure(self, case):
        from .launches import Log
        from .phases import Phases
        from .runner import Runner

        observation, paths = self.observation, self.paths
        runner = Runner(case, self.request["seed"])
        try:
            runner.place()
            observation["memory"]["inputs_bytes"] = runner.inputs_bytes()
        except BaseException as error:
            self._stop("eager", error)
        launches = Log(self.emulator)
        context = types.SimpleNamespace(paths=paths, progress=self.progress, launches=launches,
                                        real=self.request["device"]["kind"] == "cuda", measure=self.request["measure"],
                                        compile=self.request["case"]["compile"], call_branch=self.call_branch,
                                        effect=self.effect)
        phases = Phases(runner, context)
        keep = Keep(self, runner)

        observation["probe"] = phases.probe()
        if observation["probe"]["ran"]:
            phases.watch(runner.case.step)
        observation["eager"] = phases.eager()
        keep.outputs("eager", observation["eager"])
        if observation["eager"]["status"] == "raised":
            observation["stage"] = "eager"
        step = None
        if self._worth_compiling(observation["eager"]):
            self._compiled(phases, runner, keep)
        runner.release()
        observation["memory"]["top_blocks"] = phases.top_blocks
        observation["poisoned"] = phases.poisoned
        observation["emulator"] = launches.summary()
        if launches.events:
            with open(os.path.join(self.request["output_dir"], "sequence.json"), "w", encoding="utf-8") as file:
                json.dump(launches.events, file)

    @staticmethod
    def _worth_compiling(eager):
        """After a failed eager run the compile is still tried, unless CUDA itself is lost."""
        if eager["status"] != "raised":
            return True
        chain = eager["exception"]["chain"]
        return not any("illegal memory access" in entry["message"] or "device-side assert" in entry["message"]
                       for entry in chain)

    def _compiled(self, phases, runner, keep):
        from . import stage

        observation = self.observation
        phase, step = phases.compiled()
        observation["compiled"] = phase
        timings = observation["timings_ms"]
        timings["compiled_first"] = _milliseconds(phase["first_call_seconds"])
        keep.outputs("compiled", phase)
        if phase["graphs"] and phase["graphs"]["suppressed"]:
            observation["log"]["dynamo_suppressed"] = True
        keep.timings(runner, step, phase)
        if phase["status"] == "raised" and observation["stage"] is None:
            observation["stage"] = stage.stopped_at(phase["exception"], self.progress.last)
        if phase["status"] == "ok":
            phases.watch(step)
            keep.reference()


class Keep:
    """Tensors and times, where values are computed at all."""

    def __init__(self, cell, runner):
        self._cell = cell
        self._runner = runner
        self._real = cell.request["device"]["kind"] == "cuda"
        if self._real:
            cell.observation["values"] = "computed"
            self._save("inputs", runner.tensors)

    def _save(self, name, tensors):
        if not self._cell.request["measure"].get("tensors"):
            return
        from . import safetensors

        file = f"{name}.safetensors"
        safetensors.save(os.path.join(self._cell.request["output_dir"], file), tensors,
                         {"cell_id": self._cell.request["cell_id"], "phase": name})
        self._cell.observation["tensors"][name] = file

    def outputs(self, name, phase):
        if self._real and phase["status"] == "ok":
            with self._part_of(phase):
                self._save(name, self._runner.outputs())

    @contextlib.contextmanager
    def _part_of(self, phase):
        """What fails here belongs to the phase: a kernel that reaches beyond its memory may be noticed only by a later call, or
        only in a later run, where what lies beyond is nobody's."""
        try:
            yield
        except BaseException as error:
            phase["status"] = "raised"
            phase["exception"] = exceptions.record(error, self._cell.paths)

    def reference(self):
        """What the two runs are judged by where their difference has no derived bound. Without one they can only be equal."""
        if not (self._real and self._cell.request["measure"].get("tensors")):
            return
        try:
            self._runner.run_widened()
            self._save("reference", self._runner.outputs())
        except BaseException as error:
            print(f"flce-worker: no fp32 run to judge by: {type(error).__name__}: {error}", file=sys.stderr)

    def timings(self, runner, step, phase):
        timings = self._cell.observation["timings_ms"]
        eager = self._cell.observation["eager"]
        wanted = self._cell.request["measure"].get("timing")
        if not (self._real and wanted):
            timings["eager"] = _milliseconds(eager["seconds"])
            timings["compiled"] = _milliseconds(phase["seconds"])
            return
        import torch

        from . import timing

        if eager["status"] == "ok":
            # Eager has run before: if it fails now, the compiled run has left it something to fail of.
            with self._part_of(phase if phase["status"] == "ok" else eager):
                timings["eager"] = timing.measure(torch, lambda: runner.run(runner.case.step), **wanted)["median"]
        if phase["status"] == "ok":
            with self._part_of(phase):
                timings["compiled"] = timing.measure(torch, lambda: runner.run(step), **wanted)["median"]


def _milliseconds(seconds):
    return None if seconds is None else round(seconds * 1000, 3)


def _not_run():
    return {"status": "not_run", "seconds": None, "peak_bytes": None, "exception": None, "launches": None,
            "backward": False, "out_of_memory": None}
