"""Classes that a kernel can use."""

import ast

from trnsim.lint.rule import FRONT_END, GUIDE, Rule

RULES = (
    Rule("class.base", "error", "0.2", "", "a class of a kernel inherits from nl.NKIObject or Enum",
         "write class C(nl.NKIObject)", f"{GUIDE}; {FRONT_END}"),
    Rule("class.bases", "error", "0.2", "", "a class of a kernel inherits from nl.NKIObject and no other",
         "hold the other object in a field", GUIDE),
    Rule("class.keyword", "error", "0.2", "", "a class of a kernel takes no keywords such as metaclass",
         "leave it out", FRONT_END),
    Rule("class.statement", "error", "0.2", "", "a class of a kernel has fields and methods only",
         "move the statement out of the class", FRONT_END),
    Rule("class.decorator", "error", "0.2", "", "a class of a kernel may be a dataclass, its methods static",
         "leave the decorator out and call the method", FRONT_END),
    Rule("class.slots", "warning", "0.2", "", "the compiler copies an object's dictionary only, not its slots",
         "leave __slots__ out", GUIDE),
    Rule("class.enum_operator", "error", "0.2", "", "members of an Enum have == and != only",
         "compare what you derive from them by if/elif", GUIDE),
)  # fmt: skip

_BASES = ("NKIObject", "Enum", "NamedTuple")
_FIELDS = (ast.Assign, ast.AnnAssign, ast.Pass, ast.FunctionDef)
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def check(item):
    """Yields (rule, node, what exactly)."""
    if isinstance(item.node, ast.ClassDef):
        yield from _class(item.node)
    else:
        yield from _members(item)


def _class(node):
    bases = [ast.unparse(base) for base in node.bases]
    allowed = [any(name in base.rpartition(".")[2] for name in _BASES) for base in bases]
    if not any(allowed):
        yield "class.base", node, f"'{node.name}' does not"
    elif len(bases) > 1:
        yield "class.bases", node.bases[1], f"'{node.name}' has {len(bases)}"
    for keyword in node.keywords:
        yield "class.keyword", keyword, f"'{keyword.arg}'"
    for decorator in node.decorator_list:
        yield from _decorator(decorator, ("dataclass",))
    for statement in node.body:
        documented = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not isinstance(statement, _FIELDS) and not documented:
            yield "class.statement", statement, f"in '{node.name}'"
        elif isinstance(statement, ast.FunctionDef):
            for decorator in statement.decorator_list:
                yield from _decorator(decorator, ("staticmethod",))
        elif isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__slots__":
            yield "class.slots", statement, ""


def _decorator(decorator, allowed):
    plain = decorator.func if isinstance(decorator, ast.Call) else decorator
    if ast.unparse(plain).rpartition(".")[2] not in allowed:
        yield "class.decorator", decorator, f"'@{ast.unparse(decorator)}'"


def _members(item):
    enums = {name for name, node in item.module.definitions.items() if isinstance(node, ast.ClassDef)
             and any(ast.unparse(base).rpartition(".")[2] == "Enum" for base in node.bases)}
    for node in item.nodes():
        if isinstance(node, ast.Compare) and any(isinstance(op, _ORDERED) for op in node.ops):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Attribute) and isinstance(side.value, ast.Name) and side.value.id in enums:
                    yield "class.enum_operator", node, f"not '{ast.unparse(node)}'"
                    break
