"""Decisions and loops on values that only the device has."""

import ast

from trnsim.lint.rule import GUIDE, LOOPS, TO_0_6, Rule

RULES = (
    Rule("runtime.if", "error", "0.2", "", "an 'if' is decided while the kernel is compiled",
         "use nisa.select_reduce, tensor_copy_predicated or a loop over a register", GUIDE),
    Rule("runtime.assert", "error", "0.2", "", "an 'assert' is decided while the kernel is compiled",
         "check shapes and constants only", GUIDE),
    Rule("runtime.while", "error", "0.2", "", "a 'while' is decided while the kernel is compiled, except over one "
         "register", "compute the condition into a 1x1 tile and load it into the register", GUIDE),
    Rule("runtime.number", "error", "0.2", "", "the device's values are no numbers of Python",
         "work on the tile with nki.isa, or on the register with .ap(scalar_offset=...)", GUIDE),
    Rule("runtime.range", "error", "0.2", "", "the bounds of range() are known while the kernel is compiled",
         "use nl.fori_loop, before release 0.6 nl.dynamic_range", LOOPS),
    Rule("runtime.iterate", "error", "0.2", "", "a 'for' goes over ranges, lists and tuples, not over tensors",
         "count with range and slice the tensor", GUIDE),
    Rule("runtime.arithmetic", "error", "0.3", "", "the index of a loop on the device takes part in no arithmetic of "
         "Python", "use it as .ap(scalar_offset=...), with a step in the loop's range", f"{LOOPS}; {TO_0_6}"),
    Rule("runtime.induction_write", "error", "0.4", "", "the index of a loop on the device is read-only",
         "copy it into a register of its own", GUIDE),
    Rule("loop.step", "error", "0.3", "", "the step of a loop on the device is a positive constant", "write a number",
         f"{LOOPS}; {TO_0_6}"),
    Rule("loop.in_no_reorder", "error", "0.3", "", "a loop on the device cannot stand inside nl.no_reorder()",
         "put nl.no_reorder() inside the loop", LOOPS),
    Rule("loop.nested", "warning", "0.4", "", "a loop on the device inside another one fails where it carries values",
         "unroll the outer one with range", "NKI release notes 0.4, known issues"),
    Rule("loop.dynamic_deprecated", "warning", "0.6", "0.6", "loops over nl.dynamic_range are on their way out",
         "use nl.fori_loop with the body as a function", TO_0_6),
    Rule("loop.dynamic_removed", "error", "0.7", "", "loops over nl.dynamic_range are gone",
         "use nl.fori_loop with the body as a function", "releases of SDK 2.33"),
    Rule("loop.while_deprecated", "warning", "0.6", "0.6", "'while' over a register is on its way out",
         "use nl.while_loop with the body as a function", TO_0_6),
    Rule("loop.while_removed", "error", "0.7", "", "'while' over a register is gone",
         "use nl.while_loop with the body as a function", "releases of SDK 2.33"),
    Rule("loop.body_returns", "error", "0.6", "", "the body of nl.fori_loop returns nothing",
         "keep running values in SBUF", TO_0_6),
)  # fmt: skip

_NUMBERS = ("int", "float", "bool", "range", "str")
_DEVICE = ("dynamic_range", "fori_loop", "while_loop")


def check(item):
    """Yields (rule, node, what exactly)."""
    if isinstance(item.node, ast.ClassDef):
        return
    values = item.values
    for node in item.nodes():
        if isinstance(node, (ast.If, ast.IfExp, ast.Assert)):
            if found := values.at_run_time(node.test):
                yield "runtime.assert" if isinstance(node, ast.Assert) else "runtime.if", node.test, f"not by {found}"
        elif isinstance(node, ast.While):
            yield from _while(values, node)
        elif isinstance(node, ast.For):
            yield from _for(item, node)
        elif isinstance(node, ast.Call):
            yield from _call(item, node)
        elif isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                if values.is_dynamic(side):
                    yield "runtime.arithmetic", node, f"'{side.id}' in '{ast.unparse(node)}'"


def _while(values, node):
    if values.is_register(node.test):
        yield "loop.while_deprecated", node, f"'{node.test.id}'"
        yield "loop.while_removed", node, f"'{node.test.id}'"
    elif found := values.at_run_time(node.test):
        yield "runtime.while", node.test, f"not by {found}"


def _for(item, node):
    values = item.values
    if isinstance(node.iter, ast.Name) and values.tensor(node.iter) is not None:
        yield "runtime.iterate", node.iter, f"'{node.iter.id}'"
    if isinstance(node.iter, ast.Call) and values.language(node.iter.func) == "dynamic_range":
        yield "loop.dynamic_deprecated", node.iter, ""
        yield "loop.dynamic_removed", node.iter, ""
        if len(node.iter.args) > 2:
            yield from _step(values, node.iter.args[2])


def _step(values, step):
    number = values.number(step)
    if values.is_register(step):
        yield "loop.step", step, f"not register '{step.id}'"
    elif number is not None and number <= 0:
        yield "loop.step", step, f"not {number}"


def _call(item, node):
    values, name = item.values, item.name_of(node.func)
    if isinstance(node.func, ast.Name) and node.func.id in _NUMBERS and node.func.id not in values.names:
        for argument in node.args:
            if found := values.at_run_time(argument):
                yield "runtime.range" if node.func.id == "range" else "runtime.number", node, f"not {found}"
    elif name in ("nki.isa.register_move", "nki.isa.register_load") and node.args + node.keywords:
        target = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "dst"), None)
        if values.is_dynamic(target):
            yield "runtime.induction_write", node, f"'{target.id}'"
    if name.removeprefix("nki.language.") in _DEVICE and name.startswith("nki.language."):
        yield from _on_device(item, node, name.removeprefix("nki.language."))


def _on_device(item, node, name):
    outer = item.parent(node)
    while outer is not None and outer is not item.node:
        if isinstance(outer, ast.With) and any("no_reorder" in ast.unparse(w.context_expr) for w in outer.items):
            yield "loop.in_no_reorder", node, f"nl.{name}"
            break
        if isinstance(outer, ast.For) and outer.iter is not node and isinstance(outer.iter, ast.Call):
            if item.values.language(outer.iter.func) == "dynamic_range":
                yield "loop.nested", node, ""
                break
        outer = item.parent(outer)
    if name == "fori_loop" and len(node.args) > 2 and isinstance(node.args[2], ast.Name):
        yield from _body(item, node.args[2].id)
        for step in [k.value for k in node.keywords if k.arg == "step"]:
            yield from _step(item.values, step)


def _body(item, name):
    for node in item.nodes():
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for part in ast.walk(node):
                if isinstance(part, ast.Return) and part.value is not None:
                    if not (isinstance(part.value, ast.Constant) and part.value.value is None):
                        yield "loop.body_returns", part, f"'{name}'"
