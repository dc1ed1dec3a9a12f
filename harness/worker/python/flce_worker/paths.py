"""File names as they stand in an observation: the same on every machine.

torch/..., triton/..., liger_kernel/... are relative to the folder they are imported from; a case's own file is
cases/NAME.py, the harness is harness/worker/..., the standard library python/..., Inductor's generated code inductor/...
"""

import os
import sys
import sysconfig


class Paths:
    def __init__(self, sys_path=(), case_file=None, renamed=None, inductor_cache=None):
        """`renamed`: exact files that stand for others (a fix's replacement of a module)."""
        self._renamed = {os.path.realpath(k): v for k, v in (renamed or {}).items()}
        roots = []
        here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
        roots.append((here, "harness/worker/"))
        if case_file:
            roots.append((os.path.dirname(os.path.realpath(case_file)), "cases/"))
        if inductor_cache:
            roots.append((os.path.realpath(inductor_cache), "inductor/"))
        for entry in sys_path:
            roots.append((os.path.realpath(entry), ""))
        for key in ("purelib", "platlib"):
            roots.append((os.path.realpath(sysconfig.get_paths()[key]), ""))
        for entry in sys.path:
            if entry.endswith(("site-packages", "dist-packages")):
                roots.append((os.path.realpath(entry), ""))
        roots.append((os.path.realpath(sysconfig.get_paths()["stdlib"]), "python/"))
        # The longest root wins, and of equal ones the first named: a case's folder is also on sys.path.
        seen, ordered = set(), []
        for root, label in roots:
            if root not in seen:
                seen.add(root)
                ordered.append((root.rstrip("/") + "/", label))
        self._roots = sorted(ordered, key=lambda item: -len(item[0]))
        self._cache = {}

    def relative(self, name):
        known = self._cache.get(name)
        if known is None:
            known = self._cache[name] = self._find(name)
        return known

    def _find(self, name):
        if name.startswith("<"):
            return name
        real = os.path.realpath(name)
        if real in self._renamed:
            return self._renamed[real]
        for root, label in self._roots:
            if real.startswith(root):
                return label + real[len(root):]
        return name


_LIBRARIES = ("torch/", "triton/", "functorch/", "harness/worker/", "python/", "inductor/", "<", "numpy/", "sympy/", "networkx/")


def is_user(file):
    """True for code of the case, of Liger or of anything else that calls torch."""
    return not file.startswith(_LIBRARIES) and file != "_sysconfigdata"
