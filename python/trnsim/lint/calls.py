"""Functions of Python and of libraries that a kernel cannot call, and what it may not share with the rest."""

import ast
import builtins
import sys

from trnsim.lint.reach import definition
from trnsim.lint.rule import FRONT_END, GUIDE, Rule

_UNKNOWN = "the compiler does not know this function of Python"

RULES = (
    Rule("call.iterator", "error", "0.2", "", f"{_UNKNOWN}", "count with 'for i in range(len(items))'", FRONT_END),
    Rule("call.sum", "error", "0.2", "", f"{_UNKNOWN}", "add or test in a for loop", FRONT_END),
    Rule("call.set", "error", "0.2", "", "a kernel has no values of this type", "use a list, a tuple or a string",
         GUIDE),
    Rule("call.reflection", "error", "0.2", "", f"{_UNKNOWN}: names are resolved while the kernel is compiled",
         "write the attribute or the call itself", FRONT_END),
    Rule("call.io", "error", "0.2", "", "a kernel reads and writes no files", "do it before the launch", FRONT_END),
    Rule("call.super", "error", "0.2", "", "classes of a kernel have no base to call", "write the method out", GUIDE),
    Rule("call.builtin", "error", "0.2", "", f"{_UNKNOWN}", "compute the value before the launch and pass it",
         FRONT_END),
    Rule("call.numpy", "error", "0.2", "", "a kernel cannot call numpy", "use nki.language or nki.isa on tiles, and "
         "math or plain numbers for constants, computed outside", GUIDE),
    Rule("call.framework", "error", "0.2", "", "a kernel cannot call PyTorch or JAX",
         "do it before the launch, or with nki.isa", GUIDE),
    Rule("call.library", "error", "0.2", "", "a kernel cannot call other libraries of Python",
         "compute the value before the launch and pass it", GUIDE),
    Rule("call.list_method", "warning", "0.2", "", "the compiler's lists have append, clear, copy, count, extend, "
         "index, pop, remove and reverse", "build another list", FRONT_END),
    Rule("call.dict_method", "warning", "0.2", "", "the compiler's dictionaries have clear, copy, get, items, keys, "
         "pop, setdefault and values", "set the items one by one", FRONT_END),
    Rule("state.global_mutable", "warning", "0.2", "", "a compiled kernel is kept by its arguments alone: what it "
         "reads of a global list, set or dictionary may be stale", "pass it as an argument, or make it a tuple", GUIDE),
    Rule("state.global_write", "error", "0.2", "", "a kernel is a function of its arguments and changes nothing global",
         "return what it found", GUIDE),
    Rule("state.closure", "warning", "0.2", "", "a compiled kernel is kept by its arguments alone: what it reads of an "
         "enclosing function's list, set or dictionary may be stale", "pass it as an argument", GUIDE),
    Rule("state.print_tensor", "note", "0.2", "", "print happens while the kernel is compiled and shows no values",
         "use nl.device_print", GUIDE),
)  # fmt: skip

_GROUPS = {
    "call.iterator": "enumerate zip map filter reversed sorted iter next aiter anext",
    "call.sum": "sum any all",
    "call.set": "set frozenset bytes bytearray complex memoryview",
    "call.reflection": "getattr setattr delattr hasattr eval exec compile globals locals vars dir callable id hash "
    "__import__ object issubclass",
    "call.io": "open input breakpoint",
    "call.super": "super",
}
_RULE_OF = {name: rule for rule, names in _GROUPS.items() for name in names.split()}
_KNOWN = set("isinstance type slice print min max abs str bool int float divmod tuple list dict len range".split())
_METHODS = {
    "list": (dir(list), "append clear copy count extend index pop remove reverse".split(), "call.list_method"),
    "dict": (dir(dict), "clear copy get items keys pop setdefault values".split(), "call.dict_method"),
}
_WRITERS = set("append extend insert remove clear update setdefault pop add reverse sort".split())
_FRAMEWORKS = ("torch", "jax", "torch_xla", "torch_neuronx", "tensorflow")
_FREE = ("math", "typing", "dataclasses", "enum", "abc", "collections")


def check(item):
    """Yields (rule, node, what exactly)."""
    if isinstance(item.node, ast.ClassDef):
        return
    for node in item.nodes():
        if isinstance(node, ast.Call):
            yield from _call(item, node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from _shared(item, node)
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            yield from _write(item, node)


def _call(item, node):
    function = node.func
    if isinstance(function, ast.Name):
        yield from _builtin(item, node, function.id)
        if _calls_kernel(item, node):
            yield "signature.inner_jit", node, f"'{function.id}'"
    if name := item.name_of(function):
        yield from _library(name, node)
    elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        yield from _method(item, node, function)


def _builtin(item, node, name):
    module = item.module
    if name in item.values.names or name in module.definitions or name in module.aliases or name in module.values:
        return
    if name == "print":
        for argument in node.args:
            if item.values.tensor(argument) is not None:
                yield "state.print_tensor", node, f"of '{ast.unparse(argument)}'"
    elif hasattr(builtins, name) and name not in _KNOWN:
        value = getattr(builtins, name)
        if not (isinstance(value, type) and issubclass(value, BaseException)):
            yield _RULE_OF.get(name, "call.builtin"), node, f"'{name}'"


def _library(name, node):
    top = name.partition(".")[0]
    if top in ("numpy", "ml_dtypes"):
        yield "call.numpy", node, f"'{name}'"
    elif top in _FRAMEWORKS:
        yield "call.framework", node, f"'{name}'"
    elif top and top not in _FREE and top in sys.stdlib_module_names:
        yield "call.library", node, f"'{name}'"


def _method(item, node, function):
    given = item.values.assigned.get(function.value.id, [])
    for kind, literal in (("list", ast.List), ("dict", ast.Dict)):
        if given and all(isinstance(value, literal) for value in given):
            every, known, rule = _METHODS[kind]
            if function.attr in every and function.attr not in known:
                yield rule, node, f"not {function.attr}"
    if function.attr in _WRITERS and _mutable_global(item, function.value):
        yield "state.global_write", node, f"'{function.value.id}'"


def _mutable_global(item, node):
    if not isinstance(node, ast.Name) or node.id in item.values.names or node.id in item.module.definitions:
        return False
    return _mutable(item.module.values.get(node.id))


def _mutable(value):
    if isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)):
        return True
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") in ("list", "dict", "set")


def _shared(item, node):
    if not item.entry or isinstance(item.parent(node), ast.Attribute) and item.parent(node).attr in _WRITERS:
        return
    if _mutable_global(item, node):
        yield "state.global_mutable", node, f"'{node.id}'"
        return
    outer = item.module.parents.get(item.node)
    while outer is not None and node.id not in item.values.names:
        if isinstance(outer, ast.FunctionDef):
            for statement in outer.body:
                if isinstance(statement, ast.Assign) and _mutable(statement.value):
                    if any(isinstance(t, ast.Name) and t.id == node.id for t in statement.targets):
                        yield "state.closure", node, f"'{node.id}' of '{outer.name}'"
                        return
        outer = item.module.parents.get(outer)


def _write(item, node):
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Subscript) and _mutable_global(item, target.value):
            yield "state.global_write", target, f"'{target.value.id}'"


def _calls_kernel(item, node):
    """Whether a call inside a kernel is that of another kernel."""
    if node.func.id in item.values.names:
        return False
    found = definition(item.module, node.func.id)
    if found and isinstance(found[1], ast.FunctionDef):
        return any(found[0].entry_name(d) for d in found[1].decorator_list)
    return False
