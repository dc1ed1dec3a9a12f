"""Fixes: import a module from another file, without touching the environment."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys


class Replacement(importlib.abc.MetaPathFinder):
    """Serves the named modules from the given files; everything else is found as always."""

    def __init__(self, files):
        self._files = dict(files)
        self.used = set()

    def find_spec(self, name, path=None, target=None):
        file = self._files.get(name)
        if file is None:
            return None
        self.used.add(name)
        found = None
        if os.path.basename(file) == "__init__.py":
            # A package keeps the folder it was found in: only its __init__ is replaced.
            original = importlib.machinery.PathFinder.find_spec(name, path, target)
            found = list(original.submodule_search_locations) if original else [os.path.dirname(file)]
        return importlib.util.spec_from_file_location(name, file, submodule_search_locations=found)


def install(fix):
    """Installs a request's `fix`; returns the Replacement, or None. Raises FileNotFoundError for a hook without a file."""
    files = {hook["module"]: hook["file"] for hook in fix.get("hooks") or ()}
    for module, file in files.items():
        if not os.path.isfile(file):
            raise FileNotFoundError(f"fix {fix.get('name')!r}: the file for module {module} does not exist: {file}")
    if not files:
        return None
    finder = Replacement(files)
    sys.meta_path.insert(0, finder)
    return finder


def renamed(fix):
    """File of a hook -> the name it stands for, for Paths."""
    return {hook["file"]: hook["module"].replace(".", "/") + ".py" for hook in fix.get("hooks") or ()}
