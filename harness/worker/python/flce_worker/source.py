"""Is the call in question in the source at all? Read with ast, so that comments, strings and formatting do not count."""

import ast
import os


def find_calls(text, op):
    """[(line, function)] of calls `....OP(..., out_dtype=...)` in Python source, in order of lines.

    The line is that of the call expression's start. A text that is not Python has none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []

    def visit(node, function):
        for child in ast.iter_child_nodes(node):
            inside = child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
            if isinstance(child, ast.Call) and _name(child.func) == op and \
                    any(keyword.arg == "out_dtype" for keyword in child.keywords):
                found.append((child.lineno, function))
            visit(child, inside)

    visit(tree, "<module>")
    return sorted(found)


def _name(function):
    # torch.addmm, torch.ops.aten.addmm.dtype_out and a bare name all count as addmm.
    parts = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        parts.append(function.id)
    if not parts:
        return None
    return parts[1] if parts[0] in ("default", "out", "dtype", "dtype_out") and len(parts) > 1 else parts[0]


def call_site(call, roots):
    """(call_present, call_site) for a case's `call`; the first of `roots` that holds call["module"] is read.

    (None, None) if no root holds it."""
    module = call.get("module")
    if not module:
        return None, None
    for root in roots:
        path = os.path.join(root, module)
        if not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as source:
            calls = find_calls(source.read(), call["op"])
        if not calls:
            return False, None
        line, function = calls[0]
        return True, {"file": module, "line": line, "function": function}
    return None, None
