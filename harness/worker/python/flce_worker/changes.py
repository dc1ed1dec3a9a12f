"""What a fix changes, function by function: the files that it puts in the place of others, read with ast on both sides.

Comments, formatting, docstrings and moved lines are no change. The code of a module outside of any function, class bodies
and decorators included, is one piece: "<module>".
"""

import ast
import dataclasses
import filecmp
import importlib.machinery
import os
from typing import Optional, Tuple

MODULE = "<module>"


@dataclasses.dataclass
class Change:
    """A piece of code that a fix changes. `path`: the file that is imported; `file`: its name in an observation."""

    file: str
    path: str
    name: str
    line: int = 0
    decorators: Tuple[str, ...] = ()
    ran: Optional[bool] = False  # None: cannot be seen

    @property
    def function(self):
        """The name that the interpreter gives the code object."""
        return self.name.split("#")[0].rsplit(".", 1)[-1]


def of_fix(sys_path, fix):
    """[Change] of a request's `sys_path` and `fix`; None where no file stands for another. A file that cannot be read as
    Python is one piece."""
    if (fix or {}).get("name") in (None, "none"):
        return None
    files = [*_shadowed(sys_path), *_hooked(fix)]
    if not files:
        return None
    return [Change(file, path, *piece) for file, path, original in files for piece in changed(_text(original), _text(path))]


def changed(old, new):
    """[(name, line, decorators)] of what differs in `new`; its code outside of functions comes first."""
    try:
        before, after = _pieces(old), _pieces(new)
    except (SyntaxError, ValueError, RecursionError):
        return [] if old == new else [(MODULE, 0, ())]
    found = []
    # A function that is gone may uncover another one of its name: that happens where it was defined.
    if before[MODULE][0] != after[MODULE][0] or any(name not in after for name in before):
        found.append((MODULE, 0, ()))
    for name, (text, line, decorators) in after.items():
        if name != MODULE and before.get(name, (None,))[0] != text:
            found.append((name, line, decorators))
    return found


def _pieces(text):
    reader = _Reader()
    tree = reader.generic_visit(_without_docstring(ast.parse(text)))
    return {MODULE: (ast.dump(tree), 0, ()), **reader.found}


class _Reader(ast.NodeTransformer):
    """Takes the functions out of a tree: `found` has their text, first line and decorators by qualified name."""

    def __init__(self):
        self.found = {}
        self._names = []

    def visit_FunctionDef(self, node):
        decorators, node.decorator_list = node.decorator_list, []
        # The line that the interpreter gives the code object: the first decorator's.
        line = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        self._inside(node)
        name = key = ".".join([*self._names, node.name])
        count = 1
        while key in self.found:
            count += 1
            key = f"{name}#{count}"
        self.found[key] = (ast.dump(node), line, tuple(ast.unparse(decorator) for decorator in decorators))
        # Decorators run where the function stands; without any, nothing happens there but that a name is bound.
        return ast.Expr(ast.Tuple([ast.Constant(key), *decorators], ast.Load())) if decorators else None

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        return self._inside(node)

    def _inside(self, node):
        self._names.append(node.name)
        self.generic_visit(_without_docstring(node))
        self._names.pop()
        return node


def _without_docstring(node):
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        node.body = node.body[1:]
    return node


def _shadowed(sys_path):
    """Files of the first folder with a liger_kernel that differ from those of the second, which it hides."""
    folders = [entry for entry in sys_path if os.path.isdir(os.path.join(entry, "liger_kernel"))]
    if len(folders) < 2:
        return
    overlay, hidden = folders[:2]
    for folder, names, files in os.walk(os.path.join(overlay, "liger_kernel")):
        names.sort()
        for name in sorted(files):
            if not name.endswith(".py"):
                continue
            path = os.path.join(folder, name)
            file = os.path.relpath(path, overlay)
            original = os.path.join(hidden, file)
            if not os.path.isfile(original):
                yield file, path, None
            elif not filecmp.cmp(path, original, shallow=False):
                yield file, path, original


def _hooked(fix):
    for hook in fix.get("hooks") or ():
        package, *rest = hook["module"].split(".")
        spec = importlib.machinery.PathFinder.find_spec(package)
        root = os.path.dirname(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else ""
        stem = os.path.join(package, *rest)
        file = next((name for name in (stem + ".py", os.path.join(stem, "__init__.py"))
                     if os.path.isfile(os.path.join(root, name))), None)
        yield file or stem + ".py", hook["file"], os.path.join(root, file) if file else None


def _text(path):
    if path is None:
        return ""
    with open(path, encoding="utf-8", errors="replace") as source:
        return source.read()
