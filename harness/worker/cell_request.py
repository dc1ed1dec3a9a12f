"""A worker request for one case file and one environment, for tests and for debugging by hand."""

import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def case_names():
    folder = os.path.join(ROOT, "cases")
    return sorted(name[:-5] for name in os.listdir(folder)
                  if name.endswith(".json") and is_case(os.path.join(folder, name)))


def is_case(path):
    with open(path, encoding="utf-8") as source:
        content = json.load(source)
    return isinstance(content, dict) and "module" in content and "function" in content


def load_case(name):
    with open(os.path.join(ROOT, "cases", name + ".json"), encoding="utf-8") as source:
        return json.load(source)


def make(name, output_dir, python, liger=None, capability="9.0", kind="emulated", profile=None, shape=None, fix=None,
         measure=None, case=None):
    """The request as a dict."""
    case = case or load_case(name)
    sys_path = [liger] if liger else []
    sys_path += [os.path.join(ROOT, "harness/worker/python"), os.path.join(ROOT, "cases")]
    return {
        "format": 1, "cell_id": f"{name}/{os.path.basename(output_dir)}", "output_dir": output_dir, "python": python,
        "sys_path": sys_path,
        "case": {key: case[key] for key in ("name", "module", "function", "parameters", "compile", "call")},
        "shape": shape or case["shape"], "seed": 1327,
        "fix": fix or {"name": "none", "hooks": [], "python": None},
        "device": {"kind": kind, "capability": capability, "profile": profile, "count": 1},
        "measure": measure or {"tensors": True, "memory_blocks": True, "timing": None},
        "limits": {"deadline_s": 300},
    }
