"""The index of a loop, used when the loop has ended. Python keeps its last value, and so does a kernel that runs as
Python; the compiler of Beta 1 has nothing to put there and stops without naming a line. So such a use is a warning."""

import ast
import functools
import inspect
import textwrap
import warnings

_LOOPS = ("affine_range", "sequential_range", "static_range")
_SCOPES = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def warn(function) -> None:
    """Warn at each line of a kernel that uses the index of a loop which has ended."""
    for name, loop_line, line, file in _uses(function):
        text = (
            f"'{name}' is the index of the loop in line {loop_line}, which has ended: the compiler of Beta 1 stops "
            "there. Use it inside the loop, or name the element that is meant"
        )
        warnings.warn_explicit(text, UserWarning, file, line)


@functools.lru_cache(maxsize=256)
def _uses(function) -> tuple:
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return ()  # without its source there is nothing to say
    file = inspect.getsourcefile(function) or "?"
    if not isinstance(tree.body[0], ast.FunctionDef):
        return ()  # a lambda has no loops
    found = uses_after_loops(tree.body[0].body)
    return tuple((name, loop + first - 1, line + first - 1, file) for name, loop, line in found)


def uses_after_loops(body, following=()) -> list:
    """(name, line of the loop, line of the use), for a list of statements and for what comes after them."""
    found = []
    for place, statement in enumerate(body):
        rest = [*body[place + 1 :], *following]
        if _is_loop(statement):
            found += _first_use(statement.target.id, statement.lineno, rest)
        for block in _blocks(statement):
            found += uses_after_loops(block, rest)
    return found


def _is_loop(statement) -> bool:
    if not isinstance(statement, ast.For) or not isinstance(statement.target, ast.Name):
        return False
    function = getattr(statement.iter, "func", None)
    return getattr(function, "attr", getattr(function, "id", "")) in _LOOPS


def _blocks(statement):
    """The lists of statements inside one that belong to the same function."""
    if isinstance(statement, _SCOPES):
        return []
    handlers = [handler.body for handler in getattr(statement, "handlers", ())]
    return [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")] + handlers


def _first_use(name, loop_line, statements) -> list:
    for statement in statements:
        for node in _in_order(statement):
            if isinstance(node, ast.Name) and node.id == name:
                return [(name, loop_line, node.lineno)] if isinstance(node.ctx, ast.Load) else []
    return []


def _in_order(node):
    """The names of a statement as they are evaluated: values before what they are bound to; no other scopes."""
    if isinstance(node, (*_SCOPES, *_COMPREHENSIONS)):
        return
    fields = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.For):
        fields = [node.iter, node.target, *node.body, *node.orelse]
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        fields = [*([node.value] if node.value is not None else []), *targets]
    yield node
    for child in fields:
        yield from _in_order(child)
