"""An exception as data: the whole chain with types, messages and frames.

Whatever the exception does (a __str__ that raises or exits, a cycle of causes, a type without a name, a message of
megabytes), recording it never raises.
"""

import itertools
import linecache
import re

from .paths import is_user

MAX_CHAIN = 32
MAX_FRAMES_HEAD = 20
MAX_FRAMES_TAIL = 40
MAX_MESSAGE = 64 * 1024
MAX_CODE = 240

_FILE_LINE = re.compile(r'File "([^"\n]+)", line (\d+), in ([^\s,]+)')
_TARGET = re.compile(r"^\s*target: (\S+)", re.MULTILINE)
_USER_CODE = "from user code:"


def record(error, paths):
    """EXC of the observation. `paths` is a Paths."""
    chain, messages = [], []
    for exception, relation, suppressed in walk(error):
        message = message_of(exception)
        messages.append(message)
        entry = {"type": type_name(exception), "message": cut(message, MAX_MESSAGE), "relation": relation,
                 "frames": frames_of(exception, paths)}
        if suppressed:
            entry["suppressed"] = True
        chain.append(entry)
    return {"chain": chain, "target": _target(messages), "user_frames": _user_frames(chain, messages, paths)}


def walk(error):
    """(exception, relation, suppressed) depth first, outermost first; each exception once.

    `suppressed` marks a context that `raise ... from None` hides from the printed traceback."""
    found, stack, count = set(), [(error, "raised", False)], 0
    while stack and count < MAX_CHAIN:
        exception, relation, suppressed = stack.pop()
        if not isinstance(exception, BaseException) or id(exception) in found:
            continue
        found.add(id(exception))
        count += 1
        yield exception, relation, suppressed
        following = [(_attribute(exception, "inner_exception"), "inner", False)]
        following += [(part, "inner", False) for part in _parts(exception)]
        following.append((exception.__cause__, "cause", False))
        following.append((exception.__context__, "context", bool(exception.__suppress_context__)))
        stack.extend(reversed(following))


def _attribute(thing, name):
    try:
        return getattr(thing, name, None)
    except BaseException:
        return None


def _parts(exception):
    parts = _attribute(exception, "exceptions")  # an exception group
    return parts[:8] if isinstance(parts, tuple) else ()


def type_name(exception):
    kind = type(exception)
    try:
        module, name = kind.__module__, kind.__qualname__
        return f"{module}.{name}" if isinstance(module, str) else str(name)
    except BaseException:
        return "unnamed"


def message_of(exception):
    try:
        text = str(exception)
    except BaseException as error:
        return f"<no message: __str__ of {type_name(exception)} raised {type_name(error)}>"
    return clean(text)


def clean(text):
    """Valid UTF-8 without lone surrogates; a plain str even if a subclass came in."""
    return str.encode(text, "utf-8", "replace").decode("utf-8")


def cut(text, limit):
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    return f"{text[:head]}\n... {len(text) - head - tail} characters left out ...\n{text[-tail:]}"


def frames_of(exception, paths):
    """Outermost first; of a long traceback the first 20 and the last 40 frames."""
    head, tail, trace = [], [], exception.__traceback__
    for _ in itertools.repeat(None):
        if trace is None:
            break
        if len(head) < MAX_FRAMES_HEAD:
            head.append(trace)
        else:
            tail.append(trace)
            if len(tail) > MAX_FRAMES_TAIL:
                tail.pop(0)
        trace = trace.tb_next
    return [_frame(item, paths) for item in head + tail]


def _frame(trace, paths):
    code = trace.tb_frame.f_code
    line = trace.tb_lineno or 0
    return {"file": paths.relative(code.co_filename), "line": line, "function": code.co_name,
            "code": source_line(code.co_filename, line)}


def source_line(file, line):
    try:
        return clean(linecache.getline(file, line).strip()[:MAX_CODE])
    except Exception:
        return ""


def _target(messages):
    for message in messages:
        match = _TARGET.search(message)
        if match:
            return match.group(1)
    return None


def _user_frames(chain, messages, paths):
    """Frames of the case and of Liger, innermost last: the interpreter's own first, then those that the compiler names
    as the code it was compiling."""
    frames = [{key: frame[key] for key in ("file", "line", "function")}
              for entry in chain[:1] for frame in entry["frames"] if is_user(frame["file"])]
    frames += compiled_code_frames(messages, paths)
    unique = []
    for frame in frames:
        if frame in unique:
            unique.remove(frame)
        unique.append(frame)
    return unique[-64:]


def compiled_code_frames(messages, paths):
    """From the text after "from user code:" if a message has it, else from every File line in the messages."""
    for message in messages:
        where = message.find(_USER_CODE)
        if where >= 0:
            found = _parse(message[where:], paths)
            if found:
                return found
    for message in messages:
        found = _parse(message, paths)
        if found:
            return found[-8:]
    return []


def _parse(text, paths):
    found = []
    for file, line, function in _FILE_LINE.findall(text):
        frame = {"file": paths.relative(file), "line": int(line), "function": function}
        if is_user(frame["file"]) and frame not in found:
            found.append(frame)
    return found
