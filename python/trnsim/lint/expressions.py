"""Expressions that a kernel cannot have."""

import ast

from trnsim.lint.rule import FRONT_END, GUIDE, TO_0_2, TO_0_3, Rule

RULES = (
    Rule("python.lambda", "error", "0.2", "", "a kernel has no lambda", "define a function at the top of the file",
         FRONT_END),
    Rule("python.comprehension", "error", "0.2", "", "a kernel has no comprehension or generator expression",
         "fill a list in a for loop", FRONT_END),
    Rule("python.walrus", "error", "0.2", "", "a kernel has no ':='", "assign in a statement of its own", FRONT_END),
    Rule("python.set", "error", "0.2", "", "a kernel has no sets", "use a list, or a dictionary with strings as keys",
         GUIDE),
    Rule("python.matmul_operator", "error", "0.2", "", "a kernel has no operator '@'", "use nisa.nc_matmul", FRONT_END),
    Rule("python.is", "error", "0.3", "", "a kernel compares with 'is' only against None", "use == or !=", TO_0_3),
    Rule("python.starred", "error", "0.2", "", "a kernel does not take sequences apart with '*'",
         "write the items out", FRONT_END),
    Rule("python.double_star", "error", "0.2", "", "a kernel does not take dictionaries apart with '**'",
         "write the keywords out", FRONT_END),
    Rule("python.format_spec", "error", "0.2", "", "a formatted string of a kernel has no format after ':'",
         "leave the format out", FRONT_END),
    Rule("python.chained_in", "error", "0.2", "", "'in' is not part of a chain of comparisons",
         "join two comparisons with 'and'", FRONT_END),
    Rule("python.dict_key", "error", "0.2", "", "a dictionary of a kernel has strings as keys", "use a string",
         f"{GUIDE}; {TO_0_2}"),
    Rule("python.literal", "error", "0.2", "", "a kernel has no complex numbers and no bytes",
         "use two floats, or a string", GUIDE),
    Rule("python.wide_integer", "warning", "0.2", "", "integers of a kernel have 32 bits", "split the number", GUIDE),
    Rule("python.mutating_chain", "error", "0.2", "", "assignments to items or attributes stand alone",
         "write one statement for each", FRONT_END),
)  # fmt: skip

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BY_TYPE = {ast.Lambda: "python.lambda", ast.NamedExpr: "python.walrus", ast.Set: "python.set"}


def check(item):
    """Yields (rule, node, what exactly)."""
    if isinstance(item.node, ast.ClassDef):
        return
    for node in item.nodes():
        if type(node) in _BY_TYPE:
            yield _BY_TYPE[type(node)], node, ""
        elif isinstance(node, _COMPREHENSIONS):
            yield "python.comprehension", node, ""
        elif isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
            yield "python.matmul_operator", node, ""
        elif isinstance(node, ast.Compare):
            yield from _comparison(node)
        elif isinstance(node, ast.Starred):
            yield "python.starred", node, f"'{ast.unparse(node)}'"
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg is None:
                    yield "python.double_star", keyword, f"'**{ast.unparse(keyword.value)}'"
        elif isinstance(node, ast.Dict):
            yield from _keys(node)
        elif isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            yield "python.format_spec", node, f"in '{ast.unparse(node.value)}'"
        elif isinstance(node, ast.Constant):
            yield from _constant(node)
        elif isinstance(node, ast.Assign) and len(node.targets) > 1:
            if any(isinstance(t, (ast.Subscript, ast.Attribute)) for t in node.targets):
                yield "python.mutating_chain", node, ""
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            given = item.values.assigned.get(node.value.id, [])
            if given and all(isinstance(value, ast.Dict) for value in given) and _is_no_string(node.slice):
                yield "python.dict_key", node.slice, f"not '{ast.unparse(node.slice)}'"


def _comparison(node):
    for op, other in zip(node.ops, node.comparators):
        if isinstance(op, (ast.Is, ast.IsNot)):
            if not any(isinstance(side, ast.Constant) and side.value is None for side in (node.left, other)):
                yield "python.is", node, f"not '{ast.unparse(node)}'"
        elif isinstance(op, (ast.In, ast.NotIn)) and len(node.ops) > 1:
            yield "python.chained_in", node, f"'{ast.unparse(node)}'"


def _keys(node):
    for key in node.keys:
        if key is None:
            yield "python.double_star", node, ""
        elif _is_no_string(key):
            yield "python.dict_key", key, f"not '{ast.unparse(key)}'"


def _is_no_string(key):
    return isinstance(key, ast.Tuple) or isinstance(key, ast.Constant) and not isinstance(key.value, str)


def _constant(node):
    if isinstance(node.value, (complex, bytes)):
        yield "python.literal", node, f"'{node.value!r}'"
    elif type(node.value) is int and node.value > 0xFFFFFFFF:
        yield "python.wide_integer", node, f"{node.value} has more"
