"""Statements and signatures that a kernel cannot have."""

import ast

from trnsim.lint.rule import FRONT_END, GUIDE, TO_0_2, TO_0_3, TO_0_6, Rule

_PLAIN = "no statement of a kernel"

RULES = (
    Rule("python.try", "error", "0.2", "", f"'try' is {_PLAIN}", "decide with if/else beforehand", FRONT_END),
    Rule("python.raise", "error", "0.2", "", f"'raise' is {_PLAIN}", "use assert with a message", FRONT_END),
    Rule("python.with", "error", "0.2", "", "the only context of a kernel is nl.no_reorder()",
         "write the statements without 'with'", FRONT_END),
    Rule("python.with_as", "error", "0.2", "", "a context of a kernel takes no arguments and binds no name",
         "write 'with nl.no_reorder():'", FRONT_END),
    Rule("python.async", "error", "0.2", "", "a kernel has neither async functions nor await",
         "write plain functions; engines run side by side anyway", FRONT_END),
    Rule("python.yield", "error", "0.2", "", "a kernel has no generators", "return a list or a tuple", FRONT_END),
    Rule("python.match", "error", "0.2", "", f"'match' is {_PLAIN}", "use if/elif", FRONT_END),
    Rule("python.global", "error", "0.2", "", "a kernel cannot assign to global names",
         "pass values as arguments and return them", FRONT_END),
    Rule("python.nonlocal", "error", "0.2", "", "a kernel cannot assign to names of an enclosing function",
         "pass values as arguments and return them", FRONT_END),
    Rule("python.del", "error", "0.2", "", f"'del' is {_PLAIN}", "leave the name; for an item use list.pop or dict.pop",
         FRONT_END),
    Rule("python.import", "error", "0.2", "", "nothing is imported inside a kernel", "import at the top of the file",
         FRONT_END),
    Rule("python.inner_class", "error", "0.2", "", "no class is defined inside a kernel",
         "define it at the top of the file, on nl.NKIObject", FRONT_END),
    Rule("python.inner_function", "error", "0.2", "0.5", "no function is defined inside a kernel before release 0.6",
         "define it at the top of the file and pass it what it needs", f"{FRONT_END}; since 0.6 {TO_0_6}"),
    Rule("python.type_alias", "error", "0.2", "", f"'type' is {_PLAIN}", "leave annotations out", FRONT_END),
    Rule("python.loop_else", "error", "0.2", "", "a loop of a kernel has no 'else'", "keep a flag and test it after it",
         FRONT_END),
    Rule("python.loop_target", "error", "0.2", "", "a loop assigns one plain name",
         "take the item apart in the body: a = item[0]", FRONT_END),
    Rule("signature.varargs", "error", "0.2", "", "a function of a kernel takes no *arguments",
         "name the parameters, or pass one tuple", FRONT_END),
    Rule("signature.kwargs", "warning", "0.2", "", "what **arguments collect is not seen by the compiler",
         "name the parameters", FRONT_END),
    Rule("signature.keyword_only", "error", "0.3", "", "the signature of a kernel has no '*'",
         "leave the '*' out and put parameters with defaults last", TO_0_3),
    Rule("signature.list_default", "error", "0.3", "", "a list is no argument of a kernel", "use a tuple", TO_0_3),
    Rule("signature.decorator", "error", "0.2", "", "a function that a kernel calls has no decorator of its own",
         "call the plain function", FRONT_END),
    Rule("signature.inner_jit", "warning", "0.2", "0.2", "a function that a kernel calls is not itself nki.jit",
         "leave the decorator out and write nki.jit(f) where Python calls it", TO_0_2),
    Rule("python.recursion", "warning", "0.2", "",
         "every call is inlined while a kernel is compiled, a recursive one for ever unless a constant stops it",
         "write a loop", GUIDE),
)  # fmt: skip

_BY_TYPE = {
    ast.Try: "python.try", ast.TryStar: "python.try", ast.Raise: "python.raise", ast.Match: "python.match",
    ast.AsyncFunctionDef: "python.async", ast.AsyncFor: "python.async", ast.AsyncWith: "python.async",
    ast.Await: "python.async", ast.Yield: "python.yield", ast.YieldFrom: "python.yield", ast.Global: "python.global",
    ast.Nonlocal: "python.nonlocal", ast.Delete: "python.del", ast.Import: "python.import",
    ast.ImportFrom: "python.import", ast.ClassDef: "python.inner_class", ast.FunctionDef: "python.inner_function",
}  # fmt: skip
if hasattr(ast, "TypeAlias"):  # Python 3.12
    _BY_TYPE[ast.TypeAlias] = "python.type_alias"


def check(item):
    """Yields (rule, node, what exactly)."""
    if isinstance(item.node, ast.ClassDef):
        return
    yield from _signature(item)
    for node in item.nodes():
        if type(node) in _BY_TYPE:
            yield _BY_TYPE[type(node)], node, f"'{node.name}'" if hasattr(node, "name") and node.name else ""
        elif isinstance(node, ast.With):
            yield from _context(item, node)
        elif isinstance(node, (ast.For, ast.While)):
            if node.orelse:
                yield "python.loop_else", node.orelse[0], ""
            if isinstance(node, ast.For) and not isinstance(node.target, ast.Name):
                yield "python.loop_target", node.target, f"not '{ast.unparse(node.target)}'"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == item.node.name:
            if node.func.id not in item.values.names:
                yield "python.recursion", node, f"'{node.func.id}' calls itself"


def _context(item, node):
    for part in node.items:
        call = part.context_expr
        name = item.name_of(call.func) if isinstance(call, ast.Call) else ""
        if name != "nki.language.no_reorder":
            yield "python.with", call, f"not '{ast.unparse(call)}'"
        elif call.args or call.keywords or part.optional_vars is not None:
            yield "python.with_as", call, ""


def _signature(item):
    node, arguments = item.node, item.node.args
    if isinstance(node, ast.AsyncFunctionDef):
        yield "python.async", node, f"'{node.name}'"
    if arguments.vararg:
        yield "signature.varargs", arguments.vararg, f"'*{arguments.vararg.arg}' of '{node.name}'"
    elif arguments.kwonlyargs and item.launched:
        yield "signature.keyword_only", arguments.kwonlyargs[0], f"before '{arguments.kwonlyargs[0].arg}'"
    if arguments.kwarg:
        yield "signature.kwargs", arguments.kwarg, f"'**{arguments.kwarg.arg}' of '{node.name}'"
    if item.launched:
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if isinstance(default, (ast.List, ast.ListComp)):
                yield "signature.list_default", default, f"'{ast.unparse(default)}'"
    if item.entry:
        return
    for decorator in node.decorator_list:
        plain = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = plain.attr if isinstance(plain, ast.Attribute) else getattr(plain, "id", "")
        if last not in ("staticmethod", "dataclass", "jit"):
            yield "signature.decorator", decorator, f"'@{ast.unparse(decorator)}' of '{node.name}'"
