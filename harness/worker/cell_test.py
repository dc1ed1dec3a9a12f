"""Real cells on one environment and the emulated device, by cold processes and by a zygote.

    cell_test.py --worker bin/flce-worker --emulator lib/libflce_emulated_cuda.so --environment ENV --stubs DIR
                 --liger DIR [--capability 9.0] [unittest arguments]

ENV is a virtual environment with torch (lean or full), DIR of --stubs holds the stub libraries that it lacks, DIR of
--liger the folder that holds liger_kernel (0.8.1 or later).
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import cell_request
import zygote_client

OPTIONS = None
COLD = ("flce-bf16-fp32-accum", "flce-frozen-weight")
SERVED = COLD + ("flce-bf16-no-accum", "addmm-out-dtype", "control-clean", "control-user-dtype-multiply", "control-crash",
                 "control-abort", "control-hang", "control-exit", "control-system-exit", "control-import-error",
                 "control-flce-disabled", "control-flce-suppressed")


def profile(capability):
    with open(os.path.join(cell_request.ROOT, "cases/devices.json"), encoding="utf-8") as source:
        return next(device for device in json.load(source)["devices"] if device["capability"] == capability)


class Cells:
    """Runs everything once; the tests look at what came out."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="flce-cells-")
        os.makedirs(os.path.join(self.folder, "lib"))
        os.symlink(os.path.abspath(OPTIONS.emulator), os.path.join(self.folder, "lib/libcuda.so.1"))
        self.ends, self.cold, self.served = {}, {}, {}
        for name in COLD:
            self.cold[name] = self._cold(name)
        self._serve()

    def request(self, kind, name):
        output = os.path.join(self.folder, kind, name)
        os.makedirs(output)
        request = cell_request.make(name, output, os.path.abspath(os.path.join(OPTIONS.environment, "bin/python")),
                                    os.path.abspath(OPTIONS.liger), OPTIONS.capability, profile=profile(OPTIONS.capability))
        request["cell_id"] = name
        request["environment"] = self.private(output)
        request["limits"] = {"deadline_s": 3 if name == "control-hang" else 600}
        return request

    @staticmethod
    def private(folder):
        return {"TORCHINDUCTOR_CACHE_DIR": folder + "/inductor", "TRITON_CACHE_DIR": folder + "/triton", "TMPDIR": folder,
                "HOME": folder}

    def variables(self):
        return {"LD_PRELOAD": os.path.abspath(OPTIONS.emulator), "LD_LIBRARY_PATH": os.path.abspath(OPTIONS.stubs),
                "TRITON_LIBCUDA_PATH": os.path.join(self.folder, "lib"), "TORCHINDUCTOR_COMPILE_THREADS": "1",
                "PYTHONNOUSERSITE": "1"}

    def _cold(self, name):
        request = self.request("cold", name)
        file = os.path.join(request["output_dir"], "request.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(request, out)
        with open(os.path.join(request["output_dir"], "stderr.txt"), "wb") as stderr:
            subprocess.run([OPTIONS.worker, "--request", file], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=stderr, env=dict(os.environ, **self.variables(), **request["environment"]), check=True)
        return self._observation(request)

    def _serve(self):
        requests = [self.request("served", name) for name in SERVED]
        start = {key: requests[0][key] for key in ("python", "sys_path", "fix")}
        start["sys_path"] = start["sys_path"][1:]  # every cell brings its own Liger
        with open(os.path.join(self.folder, "zygote.txt"), "wb") as stderr:
            zygote = zygote_client.Zygote(OPTIONS.worker, start, dict(self.variables(), **self.private(self.folder)), stderr)
            if not zygote.ready["ready"]:
                raise RuntimeError(zygote.ready["error"])
            self.versions = zygote.ready["versions"]
            for request, answer in zygote.answers(requests):
                self.ends[request["cell_id"]] = answer.get("exit") or answer
                self.served[request["cell_id"]] = self._observation(request)
            self.warmed = zygote.warmed
            self.exit_code = zygote.close()

    @staticmethod
    def _observation(request):
        try:
            with open(os.path.join(request["output_dir"], "observation.json"), encoding="utf-8") as source:
                return json.load(source)
        except FileNotFoundError:
            return None


class RealCells(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cells = Cells()
        version = cls.cells.versions["torch"].split("+")[0]
        cls.torch = tuple(int(part) for part in version.split(".")[:2])

    @classmethod
    def tearDownClass(cls):
        if "--keep" not in sys.argv:
            shutil.rmtree(cls.cells.folder, ignore_errors=True)

    def test_the_reported_failure(self):
        for seen in (self.cells.cold["flce-bf16-fp32-accum"], self.cells.served["flce-bf16-fp32-accum"]):
            self.assertEqual(seen["eager"]["status"], "ok")
            self.assertTrue(seen["affected"]["call_present"])
            site = seen["affected"]["call_site"]
            if self.torch < (2, 8):
                self.assertEqual(seen["probe"]["calls"], [])
                self.assertEqual(seen["affected"]["overloads"], ["default", "out"])
                self.assertEqual(seen["compiled"]["status"], "ok")
                continue
            self.assertEqual(seen["probe"]["calls"], [{"op": "aten.addmm.dtype_out", **site, "count": 2,
                                                       "operand_dtype": "bf16", "accumulator_dtype": "f32"}])
            failure = seen["compiled"]["exception"]
            last = failure["user_frames"][-1]
            self.assertEqual((last["file"], last["line"]), (site["file"], site["line"]))
            types = [entry["type"] for entry in failure["chain"]]
            if self.torch < (2, 13):
                self.assertEqual(types[0], "torch._dynamo.exc.TorchRuntimeError")
                self.assertIn("builtins.TypeError", types)
                self.assertIn("unsupported operand type(s) for *: 'torch.dtype' and 'FakeTensor'", failure["chain"][0]["message"])
                self.assertEqual(seen["stage"], "decomposition")
            else:
                self.assertEqual(types[:2], ["torch._inductor.exc.InductorError", "torch._inductor.exc.LoweringException"])
                self.assertIn("builtins.TypeError", types)
                self.assertEqual(failure["target"], "aten.addmm.dtype")
                self.assertEqual(seen["stage"], "lowering")
                self.assertEqual(seen["compiled"]["graphs"]["ops"]["addmm(out_dtype)"], 2)

    def test_the_launch_log_shows_the_accumulating_products(self):
        seen = self.cells.cold["flce-bf16-fp32-accum"]
        products = [gemm for gemm in seen["eager"]["launches"]["gemms"]
                    if gemm["a"] == "bf16" and gemm["d"] == "f32" and gemm["accumulates"]]
        self.assertEqual(len(products), 0 if self.torch < (2, 8) else 2)
        self.assertGreater(seen["eager"]["launches"]["kernel_count"], 0)
        self.assertEqual(seen["values"], "not_computed")

    def test_a_frozen_weight_compiles_without_the_call(self):
        seen = self.cells.cold["flce-frozen-weight"]
        self.assertEqual((seen["eager"]["status"], seen["compiled"]["status"]), ("ok", "ok"))
        self.assertEqual(seen["probe"]["calls"], [])
        self.assertGreater(seen["compiled"]["graphs"]["compiled"], 0)
        self.assertGreater(seen["compiled"]["peak_bytes"], 0)
        self.assertIsNone(seen["stage"])

    def test_the_zygote_sees_what_a_cold_process_sees(self):
        for name in COLD:
            self.assertEqual(essence(self.cells.served[name]), essence(self.cells.cold[name]), name)

    def test_the_zygote_warms_its_device_and_leaves_no_thread(self):
        self.assertEqual([(news["ok"], news["error"]) for news in self.cells.warmed], [(True, None)])

    def test_controls(self):
        ends = self.cells.ends
        self.assertEqual(ends["control-crash"], {"signal": 11})
        self.assertEqual(ends["control-abort"], {"signal": 6})
        self.assertEqual(ends["control-exit"], {"code": 7})
        self.assertEqual(ends["control-hang"], {"timed_out": True})
        clean = self.cells.served["control-clean"]
        self.assertEqual((clean["eager"]["status"], clean["compiled"]["status"], clean["compiled"]["graphs"]["compiled"]),
                         ("ok", "ok", 1))
        leaves = self.cells.served["control-system-exit"]
        self.assertEqual(leaves["eager"]["exception"]["chain"][0]["type"], "builtins.SystemExit")
        imports = self.cells.served["control-import-error"]
        self.assertEqual((imports["stage"], imports["exception"]["chain"][0]["type"]), ("import", "builtins.ModuleNotFoundError"))
        self.assertEqual(self.cells.exit_code, 0)

    def test_user_code_that_multiplies_a_dtype_has_no_frame_of_liger(self):
        seen = self.cells.served["control-user-dtype-multiply"]
        self.assertEqual(seen["eager"]["status"], "ok")
        failure = seen["compiled"]["exception"]
        self.assertIn("unsupported operand type(s) for *: 'torch.dtype' and 'FakeTensor'", failure["chain"][0]["message"])
        self.assertEqual({frame["file"] for frame in failure["user_frames"]}, {"cases/control_case.py"})

    def test_passes_that_compiled_nothing_say_so(self):
        disabled = self.cells.served["control-flce-disabled"]
        self.assertEqual(disabled["compiled"]["status"], "ok")
        self.assertNotIn("liger_kernel/ops/fused_linear_cross_entropy.py", disabled["compiled"]["graphs"]["nodes_from"])
        suppressed = self.cells.served["control-flce-suppressed"]
        self.assertEqual(suppressed["compiled"]["status"], "ok")
        self.assertEqual(suppressed["log"]["dynamo_suppressed"], self.torch >= (2, 8))


def essence(seen):
    """What must not depend on how the cell was run. Addresses in texts differ from process to process."""

    def exception(value):
        return value and ([(entry["type"], entry["relation"], re.sub(r"0x[0-9a-f]+", "0x", entry["message"]))
                           for entry in value["chain"]], value["target"], value["user_frames"])

    def phase(value):
        # What a compile that fails has launched is the compiler's own benchmarking, which a warm process need not repeat.
        launches = value["launches"] if value["status"] == "ok" else None
        return (value["status"], value["peak_bytes"], value["backward"], exception(value["exception"]),
                launches and (launches["gemms"], launches["kernels"]))

    graphs = seen["compiled"]["graphs"]
    return (seen["versions"], seen["device"], seen["affected"], seen["stages"], seen["stage"], seen["probe"],
            phase(seen["eager"]), phase(seen["compiled"]), graphs["captured"], graphs["compiled"], graphs["ops"],
            graphs["nodes_from"], graphs["breaks"], graphs["suppressed"], graphs["frames"])


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("worker", "emulator", "environment", "stubs", "liger"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--capability", default="9.0")
    parser.add_argument("--keep", action="store_true", help="keep the cells' folders")
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.worker = os.path.abspath(OPTIONS.worker)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
