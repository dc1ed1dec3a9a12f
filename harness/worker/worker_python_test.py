"""The worker's Python parts that need no torch."""

import importlib
import importlib.util
import json
import os
import shutil
import struct
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "python"))

from flce_worker import changes, effect, exceptions, hooks, memory, native, paths, safetensors, source, stage, timing  # noqa: E402


def caught(function):
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


class Timing(unittest.TestCase):
    """With a device that writes down what it is asked for."""

    class Event:
        def __init__(self, log, **_):
            self.log = log

        def record(self):
            self.log.append("record")

        def synchronize(self):
            self.log.append("wait")

        def elapsed_time(self, end):
            return {1: 5.0, 2: 3.0, 3: 9.0}[self.log.count("wait")]

    def test_starts_without_cached_memory_and_times_after_the_warm_ups(self):
        log = []
        cuda = type("Cuda", (), {"synchronize": lambda *_: log.append("synchronize"), "empty_cache": lambda *_: log.append("empty"),
                                 "Event": lambda *_, **options: self.Event(log, **options)})()
        measured = timing.measure(type("Torch", (), {"cuda": cuda})(), lambda: log.append("run"), warmups=2, runs=3)
        self.assertEqual(log, ["synchronize", "empty", "run", "run", "synchronize"] + ["record", "run", "record", "wait"] * 3)
        self.assertEqual(measured, {"median": 5.0, "samples": [5.0, 3.0, 9.0]})


class WhatFailsLate(unittest.TestCase):
    """A kernel that reaches beyond its memory may be noticed when the run is timed, or its result copied."""

    def setUp(self):
        from flce_worker import cell

        lost = RuntimeError("CUDA error: an illegal memory access was encountered")
        self.runs = []

        class Runner:
            case = type("Case", (), {"step": "eager step"})
            tensors = {}

            def run(this, step):
                self.runs.append(step)
                if step in self.failing:
                    raise lost

            def outputs(this):
                raise lost

        fakes = {"torch": type(sys)("torch"), "flce_worker.timing": type(sys)("flce_worker.timing")}
        fakes["flce_worker.timing"].measure = lambda torch, run, **wanted: run() or {"median": 1.5}
        for patch in (unittest.mock.patch.dict(sys.modules, fakes),
                      unittest.mock.patch.object(sys.modules["flce_worker"], "timing", fakes["flce_worker.timing"]),
                      unittest.mock.patch.object(cell.Keep, "_save", lambda this, name, tensors: None)):
            patch.start()
            self.addCleanup(patch.stop)
        self.failing = set()
        self.observation = {"eager": {"status": "ok", "seconds": 1.0}, "timings_ms": {}}
        owner = type("Cell", (), {"observation": self.observation, "paths": paths.Paths([], __file__),
                                  "request": {"device": {"kind": "cuda"}, "measure": {"timing": {"warmups": 1}, "tensors": True}}})
        self.runner, self.phase = Runner(), {"status": "ok", "seconds": 1.0, "exception": None}
        self.keep = cell.Keep(owner(), self.runner)

    def test_a_compiled_step_that_fails_when_timed_has_failed(self):
        self.failing = {"compiled step"}
        self.keep.timings(self.runner, "compiled step", self.phase)
        self.assertEqual((self.phase["status"], self.observation["eager"]["status"]), ("raised", "ok"))
        self.assertIn("illegal memory access", self.phase["exception"]["chain"][0]["message"])
        self.assertEqual(self.observation["timings_ms"], {"eager": 1.5})

    def test_so_has_one_after_which_eager_fails(self):
        self.failing = {"eager step"}
        self.keep.timings(self.runner, "compiled step", self.phase)
        self.assertEqual((self.phase["status"], self.observation["eager"]["status"]), ("raised", "ok"))
        self.assertEqual(self.runs, ["eager step"])

    def test_eager_fails_by_itself_where_nothing_was_compiled(self):
        self.failing, self.phase["status"] = {"eager step"}, "raised"
        self.keep.timings(self.runner, None, self.phase)
        self.assertEqual(self.observation["eager"]["status"], "raised")

    def test_a_result_that_cannot_be_copied_is_none(self):
        self.keep.outputs("compiled", self.phase)
        self.assertEqual(self.phase["status"], "raised")


class HostModules(unittest.TestCase):
    """Over a stand-in for Triton's own cache, a folder per key."""

    def setUp(self):
        class FileCacheManager:
            def __init__(this, key, override=False, dump=False):
                this.key = key
                this.folder = os.path.join(os.environ["TRITON_CACHE_DIR"], key)
                os.makedirs(this.folder, exist_ok=True)

            def get_file(this, filename):
                path = os.path.join(this.folder, filename)
                return path if os.path.exists(path) else None

            def put(this, data, filename, binary=True):
                path = os.path.join(this.folder, filename)
                with open(path, "wb") as file:
                    file.write(data if isinstance(data, bytes) else data.encode())
                return path

        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        fakes = {name: type(sys)(name) for name in ("triton", "triton.runtime", "triton.runtime.cache")}
        fakes["triton.runtime.cache"].FileCacheManager = FileCacheManager
        variables = {"FLCE_HOST_MODULES": os.path.join(self.folder, "kept")}
        for patch in (unittest.mock.patch.dict(sys.modules, fakes), unittest.mock.patch.dict(os.environ, variables)):
            patch.start()
            self.addCleanup(patch.stop)
        self.addCleanup(sys.modules.pop, "flce_worker.host_modules", None)
        self.module = importlib.import_module("flce_worker.host_modules")

    def cell(self, name, key="KEY"):
        os.environ["TRITON_CACHE_DIR"] = os.path.join(self.folder, name)
        return self.module.HostModules(key)

    def test_host_modules_are_kept_for_the_next_cell_and_kernels_are_not(self):
        first = self.cell("first")
        self.assertEqual(first.put(b"elf", "launcher.so"), os.path.join(self.folder, "first/KEY/launcher.so"))
        first.put(b"kernel", "k.cubin")
        second = self.cell("second")
        with open(second.get_file("launcher.so"), "rb") as file:
            self.assertEqual(file.read(), b"elf")
        self.assertIsNone(second.get_file("k.cubin"))
        self.assertIsNone(self.cell("second", "OTHER").get_file("launcher.so"))
        self.assertIsNone(second.get_file("../KEY/absent.so"))

    def test_a_folder_that_cannot_be_written_costs_nothing_but_time(self):
        with open(os.environ["FLCE_HOST_MODULES"], "w"):
            pass
        first = self.cell("first")
        first.put(b"elf", "launcher.so")
        self.assertEqual(first.get_file("launcher.so"), os.path.join(self.folder, "first/KEY/launcher.so"))
        self.assertIsNone(self.cell("second").get_file("launcher.so"))

    def test_a_cell_killed_while_it_writes_leaves_no_module(self):
        with unittest.mock.patch("os.replace", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                self.cell("first").put(b"elf", "launcher.so")
        self.assertIsNone(self.cell("second").get_file("launcher.so"))
        self.assertEqual(os.listdir(os.path.join(self.folder, "kept/KEY")), [])

    def test_without_a_folder_it_is_the_private_cache(self):
        del os.environ["FLCE_HOST_MODULES"]
        self.cell("first").put(b"elf", "launcher.so")
        self.assertIsNone(self.cell("second").get_file("launcher.so"))


class ExceptionChain(unittest.TestCase):
    def setUp(self):
        self.paths = paths.Paths(sys_path=["/liger"], case_file=__file__)

    def record(self, error):
        record = exceptions.record(error, self.paths)
        json.dumps(record, allow_nan=False).encode("utf-8")  # whatever it holds can be written
        return record

    def relations(self, error):
        return [(entry["type"], entry["relation"], entry.get("suppressed", False)) for entry in self.record(error)["chain"]]

    def test_cause_context_and_suppressed_context_are_told_apart(self):
        def cause():
            try:
                raise KeyError("k")
            except KeyError as error:
                raise ValueError("v") from error

        def context():
            try:
                raise KeyError("k")
            except KeyError:
                raise ValueError("v")

        def hidden():
            try:
                raise KeyError("k")
            except KeyError:
                raise ValueError("v") from None

        first = ("builtins.ValueError", "raised", False)
        self.assertEqual(self.relations(caught(cause)), [first, ("builtins.KeyError", "cause", False)])
        self.assertEqual(self.relations(caught(context)), [first, ("builtins.KeyError", "context", False)])
        self.assertEqual(self.relations(caught(hidden)), [first, ("builtins.KeyError", "context", True)])

    def test_an_inner_exception_comes_before_the_cause_and_once(self):
        inner, outer = TypeError("t"), RuntimeError("r")
        outer.inner_exception = inner
        outer.__cause__ = inner
        outer.__context__ = inner
        self.assertEqual(self.relations(outer), [("builtins.RuntimeError", "raised", False), ("builtins.TypeError", "inner", False)])

    def test_a_cycle_ends(self):
        one, two = ValueError("1"), ValueError("2")
        one.__cause__, two.__cause__ = two, one
        self.assertEqual(len(self.record(one)["chain"]), 2)

    def test_an_endless_chain_is_cut(self):
        error = ValueError("0")
        for number in range(100):
            error, previous = ValueError(str(number)), error
            error.__cause__ = previous
        self.assertEqual(len(self.record(error)["chain"]), exceptions.MAX_CHAIN)

    def test_hostile_exceptions_are_recorded(self):
        class Raises(Exception):
            def __str__(self):
                raise SystemExit(3)

        class NotText(Exception):
            def __str__(self):
                return 5

        class Subclass(str):
            def __getitem__(self, key):
                raise RuntimeError("no")

        class Odd(Exception):
            def __str__(self):
                return Subclass("odd \ud800")

            @property
            def inner_exception(self):
                raise KeyboardInterrupt

        def message(error):
            return self.record(error)["chain"][0]["message"]

        self.assertRegex(message(Raises()), r"^<no message: __str__ of .*Raises raised builtins\.SystemExit>$")
        self.assertRegex(message(NotText()), r"^<no message: __str__ of .*NotText raised builtins\.TypeError>$")
        self.assertEqual(message(Odd()), "odd ?")

    def test_a_long_message_keeps_both_ends(self):
        text = self.record(ValueError("a" * 100_000 + "z" * 100_000))["chain"][0]["message"]
        self.assertLess(len(text), exceptions.MAX_MESSAGE + 100)
        self.assertTrue(text.startswith("aaa") and text.endswith("zzz"))
        self.assertIn("134464 characters left out", text)

    def test_a_deep_traceback_keeps_its_outer_20_and_inner_40_frames(self):
        def down(levels):
            if levels == 0:
                raise ValueError("bottom")
            down(levels - 1)

        frames = self.record(caught(lambda: down(200)))["chain"][0]["frames"]
        self.assertEqual(len(frames), 60)
        self.assertEqual(frames[0]["function"], "caught")
        self.assertEqual(frames[-1]["code"], 'raise ValueError("bottom")')
        self.assertEqual(frames[-1]["file"], "cases/worker_python_test.py")

    def test_the_target_and_the_compiled_code_come_from_the_messages(self):
        error = RuntimeError("x\n  target: aten.addmm.dtype\n  args[0]: 1\n\nfrom user code:\n"
                             '   File "/liger/liger_kernel/ops/a.py", line 249, in forward_at_93\n    torch.addmm(\n')
        record = self.record(error)
        self.assertEqual(record["target"], "aten.addmm.dtype")
        self.assertEqual(record["user_frames"], [{"file": "liger_kernel/ops/a.py", "line": 249, "function": "forward_at_93"}])

    def test_files_named_elsewhere_count_without_user_code(self):
        error = RuntimeError('File "/liger/liger_kernel/ops/a.py", line 3, in f,\n'
                             f'File "{json.__file__}", line 5, in dumps\n')
        self.assertEqual(self.record(error)["user_frames"], [{"file": "liger_kernel/ops/a.py", "line": 3, "function": "f"}])

    def test_groups_have_parts(self):
        group = ExceptionGroup("two", [ValueError("a"), KeyError("b")])
        self.assertEqual([kind for kind, _, _ in self.relations(group)],
                         ["builtins.ExceptionGroup", "builtins.ValueError", "builtins.KeyError"])


class Naming(unittest.TestCase):
    def test_files_are_named_alike_on_every_machine(self):
        names = paths.Paths(sys_path=["/fix", "/liger", HERE], case_file=os.path.join(HERE, "a_case.py"),
                            renamed={"/fix/x/decomposition.py": "torch/_inductor/decomposition.py"}, inductor_cache="/cache/ind")
        table = {
            "/liger/liger_kernel/ops/a.py": "liger_kernel/ops/a.py",
            os.path.join(HERE, "a_case.py"): "cases/a_case.py",
            exceptions.__file__: "harness/worker/flce_worker/exceptions.py",
            json.__file__: "python/json/__init__.py",
            "/fix/x/decomposition.py": "torch/_inductor/decomposition.py",
            "/cache/ind/ab/cab.py": "inductor/ab/cab.py",
            "<eval_with_key>.5": "<eval_with_key>.5",
            "/elsewhere/train.py": "/elsewhere/train.py",
        }
        self.assertEqual({file: names.relative(file) for file in table}, table)

    def test_users_are_those_who_call_torch(self):
        self.assertEqual([file for file in ("cases/a.py", "liger_kernel/b.py", "/home/train.py", "transformers/trainer.py",
                                            "torch/nn.py", "triton/c.py", "python/json.py", "harness/worker/x.py", "<string>",
                                            "inductor/ab/c.py") if paths.is_user(file)],
                         ["cases/a.py", "liger_kernel/b.py", "/home/train.py", "transformers/trainer.py"])


class StaticCall(unittest.TestCase):
    TEXT = textwrap.dedent('''
        """torch.addmm(out_dtype=1)"""
        def outer():
            # torch.addmm(a, out_dtype=torch.float32)
            torch.addmm(a, b, c)
            def inner():
                torch.addmm(
                    a, b, c,
                    out_dtype=torch.float32, out=a)
        torch.ops.aten.addmm.dtype_out(a, b, c, out_dtype=x)
        torch.mm(a, b, out_dtype=torch.float32)
    ''')

    def test_only_calls_with_an_out_dtype_count(self):
        self.assertEqual(source.find_calls(self.TEXT, "addmm"), [(7, "inner"), (10, "<module>")])
        self.assertEqual(source.find_calls(self.TEXT, "mm"), [(11, "<module>")])
        self.assertEqual(source.find_calls(self.TEXT, "bmm"), [])
        self.assertEqual(source.find_calls("def broken(:", "addmm"), [])

    def test_the_branches_that_may_stand_in_for_the_call(self):
        def lines(text):
            return source.branch_lines(textwrap.dedent(text), "addmm")

        # The other branches count, the conditions and what surrounds the choice do not.
        self.assertEqual(lines('''\
            def f(a, b, c):
                d = a @ b
                if c:
                    if fast(c):
                        x = b.t()
                        torch.addmm(a, x, c, out_dtype=t)
                    elif other(c):
                        torch.addmm(a, b, c)
                    else:
                        a += torch.mm(b, c).float()
                return a
            '''), [5, 6, 8, 10])
        # A branch that leaves makes the rest the other branch.
        self.assertEqual(lines('''\
            def f(a, b):
                if fast(a):
                    return torch.addmm(a, b, a, out_dtype=t)
                c = a @ b
                return c.float()
            '''), [3, 4, 5])
        self.assertEqual(lines('''\
            def f(a, b):
                with torch.no_grad():
                    for i in range(3):
                        torch.addmm(a,
                                    b, a, out_dtype=t)
            '''), [4, 5])
        self.assertEqual(lines("x = 1\n"), [])

    def test_the_first_root_that_has_the_module_decides(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            for root, text in ((first, "x = 1\n"), (second, self.TEXT)):
                os.makedirs(os.path.join(root, "pkg"))
                with open(os.path.join(root, "pkg/m.py"), "w") as out:
                    out.write(text)
            call = {"op": "addmm", "module": "pkg/m.py"}
            self.assertEqual(source.call_site(call, [first, second]), (False, None))
            self.assertEqual(source.call_site(call, ["/none", second]),
                             (True, {"file": "pkg/m.py", "line": 7, "function": "inner"}))
            self.assertEqual(source.call_site(call, ["/none"]), (None, None))
            self.assertEqual(source.call_site({"op": "addmm", "module": None}, [second]), (None, None))


class SafetensorsHeader(unittest.TestCase):
    def test_layout(self):
        data = safetensors.header([("a", "torch.bfloat16", (2, 3), 12), ("b", "torch.float32", (), 4)], {"cell": "c"})
        (length,) = struct.unpack("<Q", data[:8])
        self.assertEqual(len(data), 8 + length)
        self.assertEqual(len(data) % 8, 0)
        self.assertEqual(json.loads(data[8:]), {
            "__metadata__": {"cell": "c"},
            "a": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]},
            "b": {"dtype": "F32", "shape": [], "data_offsets": [12, 16]}})


class MemoryTrace(unittest.TestCase):
    def test_blocks_live_at_the_peak(self):
        def event(action, addr, size, frames=()):
            return {"action": action, "addr": addr, "size": size, "frames": list(frames)}

        trace = [event("segment_alloc", 1, 4096), event("alloc", 1, 100, ["a"]), event("alloc", 2, 50, ["b"]),
                 event("free_requested", 1, 100), event("free_completed", 1, 100), event("free_requested", 99, 7),
                 event("alloc", 1, 90, ["c"]), event("alloc", 3, 20, ["d"]),  # the peak: 50 + 90 + 20
                 event("free_requested", 3, 20), event("free_completed", 3, 20), event("alloc", 4, 9, ["e"])]
        self.assertEqual(memory.replay(trace), [(90, ["c"]), (50, ["b"]), (20, ["d"])])
        self.assertEqual(memory.replay([]), [])

    def test_at_most_ten(self):
        trace = [{"action": "alloc", "addr": n, "size": n + 1, "frames": []} for n in range(30)]
        self.assertEqual([size for size, _ in memory.replay(trace)], list(range(30, 20, -1)))

    def test_a_request_that_failed(self):
        trace = [{"action": "oom", "addr": 0, "size": 77, "frames": []}, {"action": "free_requested", "addr": 1, "size": 5}]
        self.assertEqual(memory.failed_request(trace), 77)
        self.assertIsNone(memory.failed_request(trace[1:]))


class StoppedAt(unittest.TestCase):
    def at(self, *entries, last="launch"):
        chain = [{"type": kind, "message": "", "frames": [{"file": file, "line": 1, "function": "f", "code": ""} for file in files]}
                 for kind, files in entries]
        return stage.stopped_at({"chain": chain}, last)

    def test_table(self):
        dynamo = ("torch._dynamo.exc.TorchRuntimeError", ["torch/_dynamo/exc.py"])
        self.assertEqual(self.at(dynamo, ("builtins.TypeError", ["torch/_subclasses/fake_tensor.py", "torch/_decomp/decompositions.py"])),
                         "decomposition")
        self.assertEqual(self.at(dynamo), "dynamo")
        self.assertEqual(self.at(("torch._inductor.exc.InductorError", []), ("torch._inductor.exc.LoweringException", [])), "lowering")
        self.assertEqual(self.at(("torch._inductor.exc.InductorError", ["torch/_inductor/codegen/triton.py"])), "codegen")
        self.assertEqual(self.at(("builtins.RuntimeError", ["cases/a.py"]), last="backward"), "backward")
        self.assertEqual(self.at(("builtins.RuntimeError", ["cases/a.py"])), "launch")


class Fixes(unittest.TestCase):
    def test_a_module_comes_from_the_fix(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "other.py")
            with open(file, "w") as out:
                out.write("value = 'fixed'\n")
            fix = {"name": "f", "hooks": [{"module": "flce_test_module", "file": file}], "python": None}
            finder = hooks.install(fix)
            try:
                self.assertEqual(importlib.import_module("flce_test_module").value, "fixed")
                self.assertEqual(finder.used, {"flce_test_module"})
            finally:
                sys.meta_path.remove(finder)
            self.assertEqual(hooks.renamed(fix), {file: "flce_test_module.py"})

    def test_a_missing_file_is_named(self):
        with self.assertRaisesRegex(FileNotFoundError, "fix 'f': the file for module a.b does not exist: /none.py"):
            hooks.install({"name": "f", "hooks": [{"module": "a.b", "file": "/none.py"}]})

    def test_no_fix(self):
        self.assertIsNone(hooks.install({"name": "none", "hooks": []}))


class Profile(unittest.TestCase):
    def test_text(self):
        self.assertEqual(native.profile_text({"id": "l4", "name": "NVIDIA L4", "capability": "8.9", "integrated": True,
                                              "driver": None, "source": "x"}),
                         "name=NVIDIA L4\ncapability=8.9\nintegrated=1")


class Poison(unittest.TestCase):
    def test_free_pieces_beside_live_blocks_are_found(self):
        segments = [{"segment_pool_id": (0, 0), "blocks": [{"size": 512, "state": "active_allocated"}, {"size": 1536, "state": "inactive"}]},
                    {"segment_pool_id": (0, 1), "blocks": [{"size": 4096, "state": "inactive"}]},
                    {"blocks": [{"size": 1024, "state": "inactive"}, {"size": 2048, "state": "active_awaiting_free"}]}]
        self.assertEqual(memory.free_pieces(segments), [1536, 1024])


class Changes(unittest.TestCase):
    OLD = """
        'a docstring'
        import os
        LIMIT = 1

        def one(a):
            'says what'
            return a

        class Two:
            step = 1

            @staticmethod
            def three():
                def inner():
                    return 1
                return inner()

            def four(self):
                return 4
    """

    def names(self, *replacements):
        old = textwrap.dedent(self.OLD)
        new = old
        for before, after in replacements:
            self.assertIn(before, new)
            new = new.replace(before, after)
        return [name for name, _, _ in changes.changed(old, new)]

    def test_what_is_no_code_is_no_change(self):
        self.assertEqual(self.names(("import os", "\n\n# why\nimport os"), ("return a", "return (a)  # a"), ("says what", "says more")), [])

    def test_a_change_belongs_to_the_innermost_function(self):
        self.assertEqual(self.names(("return a", "return a + 1")), ["one"])
        self.assertEqual(self.names(("return 1", "return 2")), ["Two.three.inner"])
        self.assertEqual(self.names(("return inner()", "return inner() + 1")), ["Two.three"])
        self.assertEqual(self.names(("one(a)", "one(a=2)"), ("return 4", "return 5")), ["one", "Two.four"])

    def test_code_outside_of_functions_is_one_piece(self):
        for replacement in (("LIMIT = 1", "LIMIT = 2"), ("step = 1", "step = 2"), ("    @staticmethod\n", "    @classmethod\n"),
                            ("    def four(self):\n        return 4\n", "    pass\n")):
            self.assertEqual(self.names(replacement), [changes.MODULE], replacement)

    def test_a_new_function_is_one_that_has_to_run(self):
        self.assertEqual(self.names(("LIMIT = 1", "LIMIT = 1\n\ndef new():\n    return 1\n")), ["new"])

    def test_the_line_is_that_of_the_code_object(self):
        text = textwrap.dedent(self.OLD)
        found = {name: line for name, line, _ in changes.changed("", text)}
        space = {}
        exec(compile(text, "two.py", "exec"), space)
        self.assertEqual(found["Two.three"], space["Two"].three.__code__.co_firstlineno)
        self.assertEqual(found["one"], space["one"].__code__.co_firstlineno)

    def test_what_is_not_python_is_one_piece(self):
        self.assertEqual(changes.changed("def (", "def ("), [])
        self.assertEqual(changes.changed("def (", "def )"), [(changes.MODULE, 0, ())])

    def test_files_that_hide_others_and_files_of_hooks(self):
        with tempfile.TemporaryDirectory() as folder:
            for root in ("overlay", "liger"):
                os.makedirs(os.path.join(folder, root, "liger_kernel"))
            self.write(folder, "liger/liger_kernel/a.py", "def f():\n    return 1\n")
            self.write(folder, "overlay/liger_kernel/a.py", "def f():\n    return 2\n")
            for root in ("overlay", "liger"):
                self.write(folder, root + "/liger_kernel/b.py", "def g():\n    return 1\n")
            self.write(folder, "overlay/liger_kernel/c.py", "NEW = 1\n")
            with open(json.__file__, encoding="utf-8") as source:
                text = source.read()
            self.write(folder, "json.py", text + "\n\ndef more():\n    pass\n")
            sys_path = [os.path.join(folder, "overlay"), os.path.join(folder, "liger")]
            fix = {"name": "f", "hooks": [{"module": "json", "file": os.path.join(folder, "json.py")}]}
            found = [(change.file, change.name) for change in changes.of_fix(sys_path, fix)]
            self.assertEqual(found, [("liger_kernel/a.py", "f"), ("liger_kernel/c.py", changes.MODULE), ("json/__init__.py", "more")])
            self.assertIsNone(changes.of_fix(sys_path, {"name": "none"}))
            self.assertIsNone(changes.of_fix(sys_path[1:], {"name": "f"}))

    @staticmethod
    def write(folder, name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)


class EffectOfAFix(unittest.TestCase):
    """A fix that changes flce_probe_NAME in a package of its own; only what needs no torch."""

    def effect(self, old, new):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for root, text in (("liger", old), ("overlay", new)):
            os.makedirs(os.path.join(folder, root, "liger_kernel"))
            Changes.write(folder, root + "/liger_kernel/one.py", textwrap.dedent(text))
        self.path = os.path.join(folder, "overlay/liger_kernel/one.py")
        return effect.Effect([os.path.join(folder, "overlay"), os.path.join(folder, "liger")], {"name": "f"})

    def load(self):
        name = "flce_effect_one"
        self.addCleanup(sys.modules.pop, name, None)
        spec = importlib.util.spec_from_file_location(name, self.path)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def ran(self, seen):
        return {change["name"]: change["ran"] for change in seen.record()["changes"]}

    def test_a_function_that_is_never_called(self):
        seen = self.effect("def f():\n    return 1\n", "def f():\n    return 2\n")
        with seen.imports():
            module = self.load()
        seen.look_at_modules()
        self.assertTrue(seen.open)
        self.assertEqual(self.ran(seen), {"f": False})
        seen.entered(module.f.__code__)
        self.assertFalse(seen.open)
        self.assertEqual(self.ran(seen), {"f": True})

    def test_a_function_that_the_import_calls(self):
        seen = self.effect("def f():\n    return 1\nX = f()\n", "def f():\n    return 2\nX = f()\n")
        with seen.imports():
            self.load()
        self.assertEqual(self.ran(seen), {"f": True})

    def test_code_of_a_module_runs_when_it_is_imported(self):
        seen = self.effect("X = 1\n", "X = 2\n")
        seen.look_at_modules()
        self.assertEqual(self.ran(seen), {changes.MODULE: False})
        self.load()
        seen.look_at_modules()
        self.assertEqual(self.ran(seen), {changes.MODULE: True})

    def test_a_function_that_cannot_be_seen_decides_nothing(self):
        text = "import functools\n@functools.lru_cache\ndef f():\n    return %d\n"
        seen = self.effect(text % 1, text % 2)
        self.load()
        seen.look_at_modules()
        self.assertEqual(self.ran(seen), {"f": None})
        self.assertFalse(seen.open)

    def test_a_fix_of_comments_changes_nothing(self):
        self.assertEqual(self.effect("X = 1\n", "X = 1  # one\n").record(), {"watched": True, "changes": []})
        self.assertIsNone(effect.Effect([], {"name": "none", "hooks": []}).record())


if __name__ == "__main__":
    unittest.main()
