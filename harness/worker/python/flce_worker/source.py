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


def call_branch(call, roots):
    """{"file", "lines"}: the lines of the statements of which the call's is one, chosen by the same conditions: what is
    compiled in the call's place when the call is not. None if the source holds no such call."""
    module = call.get("module")
    for root in roots if module else ():
        path = os.path.join(root, module)
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as source:
                lines = branch_lines(source.read(), call["op"])
            return {"file": module, "lines": lines} if lines else None
    return None


def branch_lines(text, op):
    """Sorted lines of the first such call's statement and of the other branches of its innermost `if`, without the
    conditions. After a branch that leaves, what follows the `if` is the other branch."""
    calls = find_calls(text, op)
    if not calls:
        return []
    statements, lines = [ast.parse(text)], set()
    while True:
        index = next((i for i, one in enumerate(statements) if _holds(one, calls[0][0])), None)
        if index is None:
            return sorted(lines)
        found = statements[index]
        if isinstance(found, ast.If):
            branches = _branches(found)
            leaves = any(isinstance(branch[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)) for branch in branches)
            taken = [one for branch in branches for one in branch] + (statements[index + 1:] if leaves else [])
            inner = [one for one in taken if _holds(one, calls[0][0])]
            lines = _lines(taken)
            statements = inner
            continue
        inner = [one for name in ("body", "orelse", "finalbody") for one in getattr(found, name, ())]
        inner += [one for handler in getattr(found, "handlers", ()) for one in handler.body]
        if not inner:
            return sorted(lines or _lines([found]))
        statements = inner


def _branches(found):
    branches = [found.body]
    while len(found.orelse) == 1 and isinstance(found.orelse[0], ast.If):
        found = found.orelse[0]
        branches.append(found.body)
    return branches + ([found.orelse] if found.orelse else [])


def _holds(node, line):
    return not hasattr(node, "lineno") or node.lineno <= line <= node.end_lineno


def _lines(statements):
    return {line for one in statements for line in range(one.lineno, one.end_lineno + 1)}
