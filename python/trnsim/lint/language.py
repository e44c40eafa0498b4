"""Functions of nki.language that the simulators compute and the compiler does not take."""

import ast

from trnsim.lint.rule import ISSUES, TO_0_5, Rule
from trnsim.lint.values import argument

RULES = (
    Rule("language.divide", "error", "0.3", "", "nl.divide does not compile", "multiply by nl.reciprocal", ISSUES),
    Rule("language.mod", "error", "0.3", "", "nl.mod and nl.fmod compute in simulators and do not compile",
         "compute the rest before the launch, or with nisa.tensor_scalar on integers", ISSUES),
    Rule("language.power", "error", "0.3", "", "nl.power takes two tiles", "fill a tile with the exponent, or multiply",
         ISSUES),
    Rule("language.matmul", "error", "0.3", "", "nl.matmul compiles with transpose_x=True only",
         "lay x out transposed and say so, or use nisa.nc_matmul", ISSUES),
    Rule("language.random_seed", "error", "0.3", "", "nl.random_seed takes a tile of 1x1", "pass nl.full((1, 1), 42, "
         "dtype=nl.int32, buffer=nl.sbuf)", ISSUES),
    Rule("language.store_psum", "error", "0.3", "", "nl.store cannot read PSUM", "copy it to SBUF with "
         "nisa.tensor_copy first", ISSUES),
    Rule("language.rsqrt_psum", "error", "0.5", "", "nl.rsqrt cannot read PSUM", "use nisa.activation(op=nl.rsqrt)",
         TO_0_5),
    Rule("language.broadcast", "error", "0.3", "", "functions of nki.language on two tiles take equal shapes",
         "use nisa.tensor_scalar with a tile of one column", ISSUES),
)  # fmt: skip

_BINARY = ("add", "subtract", "multiply", "maximum", "minimum")


def check(item):
    """Yields (rule, node, what exactly)."""
    if isinstance(item.node, ast.ClassDef) or item.old:
        return
    for node, name in item.calls():
        if name.startswith("nki.language."):
            yield from _call(item.values, node, name.removeprefix("nki.language."))


def _call(values, node, name):
    first, second = argument(node, "x", 0), argument(node, "y", 1)
    if name == "divide":
        yield "language.divide", node, ""
    elif name in ("mod", "fmod"):
        yield "language.mod", node, f"nl.{name}"
    elif name == "power" and isinstance(second, (ast.Constant, ast.UnaryOp)):
        yield "language.power", second, f"not {ast.unparse(second)}"
    elif name == "matmul":
        turned = argument(node, "transpose_x", 2)
        if turned is None or isinstance(turned, ast.Constant) and not turned.value:
            yield "language.matmul", node, ""
    elif name == "random_seed":
        seed = argument(node, "seed", 0)
        if isinstance(seed, ast.Constant):
            yield "language.random_seed", seed, f"not {ast.unparse(seed)}"
    elif name == "store":
        value = argument(node, "value", 1)
        tensor = values.tensor(value) if value is not None else None
        if tensor is not None and tensor.buffer == "psum":
            yield "language.store_psum", value, f"'{ast.unparse(value)}'"
    elif name == "rsqrt" and first is not None:
        tensor = values.tensor(first)
        if tensor is not None and tensor.buffer == "psum":
            yield "language.rsqrt_psum", first, f"'{ast.unparse(first)}'"
    elif name in _BINARY and isinstance(first, ast.Name) and isinstance(second, ast.Name):
        a, b = values.tensor(first), values.tensor(second)
        if a and b and a.shape and b.shape and None not in (*a.shape, *b.shape) and a.shape != b.shape:
            yield "language.broadcast", node, f"not {list(a.shape)} and {list(b.shape)}"
