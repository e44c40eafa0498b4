"""What the local names of a function stand for, as far as the text alone says: tensors, registers, numbers."""

import ast
from typing import NamedTuple

_CREATORS = ("ndarray", "zeros", "ones", "full", "empty_like", "zeros_like")
_LOOPS = ("affine_range", "sequential_range", "static_range")
_TILES = {"pmax": 128, "psum_fmax": 512, "gemm_stationary_fmax": 128, "gemm_moving_fmax": 512}
_OPERATORS = {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__}


class Tensor(NamedTuple):
    """A tensor that the function makes. Unknown sizes are None, an unknown buffer or dtype is ""."""

    shape: tuple | None
    dtype: str
    buffer: str
    node: ast.Call


class Values:
    """The local names of one function or class."""

    def __init__(self, owner):
        self._owner = owner
        self.assigned: dict[str, list] = {}
        self.parameters = set()
        self.tensors: dict[str, Tensor] = {}
        self.registers: set[str] = set()
        self.dynamic: set[str] = set()  # indices of loops on the device
        self.loaded: set[str] = set()
        self._names(owner)
        for name, given in self.assigned.items():
            kinds = [self._kind(value) for value in given]
            if kinds and all(isinstance(k, Tensor) for k in kinds):
                self.tensors[name] = kinds[0] if len(kinds) == 1 else _common(kinds)
            elif kinds and all(k == "register" for k in kinds):
                self.registers.add(name)
            elif kinds and all(k == "dynamic" for k in kinds):
                self.dynamic.add(name)
        self.names = self.parameters | set(self.assigned)

    def _names(self, owner):
        body = owner.node
        for inner in ast.walk(body):
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                a = inner.args
                self.parameters |= {p.arg for p in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg] if p}
            elif isinstance(inner, ast.Assign):
                for target in inner.targets:
                    self._assign(target, inner.value)
            elif isinstance(inner, (ast.AnnAssign, ast.NamedExpr)) and inner.value is not None:
                self._assign(inner.target, inner.value)
            elif isinstance(inner, ast.AugAssign):
                self._assign(inner.target, None)
            elif isinstance(inner, (ast.For, ast.AsyncFor, ast.comprehension)):
                self._assign(inner.target, ("in", inner.iter))
            elif isinstance(inner, ast.withitem) and inner.optional_vars is not None:
                self._assign(inner.optional_vars, None)

    def _assign(self, target, value):
        if isinstance(target, ast.Name):
            self.assigned.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self._assign(part, None)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, None)

    def _kind(self, value):
        if isinstance(value, tuple):
            name = self.language(value[1].func) if isinstance(value[1], ast.Call) else ""
            return "dynamic" if name == "dynamic_range" else None
        if not isinstance(value, ast.Call):
            return None
        if self._owner.name_of(value.func) == "nki.isa.register_alloc":
            return "register"
        function = self.language(value.func)
        if function in _CREATORS:
            return self._tensor(value, function)
        if function in ("load", "load_transpose2d"):
            return Tensor(None, "", "sbuf", value)
        return None

    def language(self, node) -> str:
        """The name of a function of nki.language; "" for any other."""
        name = self._owner.name_of(node)
        return name.removeprefix("nki.language.") if name.startswith("nki.language.") else ""

    def _tensor(self, call, function):
        given = argument(call, "shape", 0)
        shape = None
        if not function.endswith("_like") and isinstance(given, (ast.Tuple, ast.List)):
            shape = None if any(map(_is_starred, given.elts)) else tuple(self.number(e) for e in given.elts)
        dtype = argument(call, "dtype", 2 if function == "full" else 1)
        buffer = argument(call, "buffer", 2 if function == "ndarray" else 9)
        if buffer is None:
            where = "" if function.endswith("_like") or self._owner.old else "sbuf"
        else:
            where = self._owner.name_of(buffer).rpartition(".")[2]
        return Tensor(shape, self._owner.name_of(dtype).rpartition(".")[2] if dtype is not None else "", where, call)

    def number(self, node, depth=0) -> int | None:
        """The integer that an expression stands for in every run; None where the text does not settle it."""
        if isinstance(node, ast.Constant):
            return node.value if type(node.value) is int else None
        if depth > 8:
            return None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.number(node.operand, depth + 1)
            return None if value is None else -value
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node, depth)
        if isinstance(node, ast.Attribute):
            name = self._owner.name_of(node)
            return _TILES.get(node.attr) if name.startswith("nki.language.tile_size.") else None
        if isinstance(node, ast.Name):
            return self._named_number(node, depth)
        if isinstance(node, ast.Call) and self.language(node.func) == "par_dim" and node.args:
            return self.number(node.args[0], depth + 1)
        return None

    def _arithmetic(self, node, depth):
        left, right = self.number(node.left, depth + 1), self.number(node.right, depth + 1)
        if left is None or right is None:
            return None
        if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](left, right)
        return left // right if isinstance(node.op, ast.FloorDiv) and right else None

    def _named_number(self, node, depth):
        if node.id in self.parameters:
            return None
        if node.id in self.assigned:
            given = self.assigned[node.id]
            return self.number(given[0], depth + 1) if len(given) == 1 and isinstance(given[0], ast.AST) else None
        value = self._owner.module.values.get(node.id)
        return self.number(value, depth + 1) if value is not None else None

    def tensor(self, node) -> Tensor | None:
        """The tensor that an operand names, whole or as a part of it."""
        while isinstance(node, ast.Subscript):
            node = node.value
        return self.tensors.get(node.id) if isinstance(node, ast.Name) and node.id not in self.parameters else None

    def is_register(self, node) -> bool:
        """Whether a name is that of a register of the device."""
        return isinstance(node, ast.Name) and node.id in self.registers and node.id not in self.parameters

    def is_dynamic(self, node) -> bool:
        """Whether a name is the index of a loop on the device."""
        return isinstance(node, ast.Name) and node.id in self.dynamic and node.id not in self.parameters

    def at_run_time(self, node) -> str:
        """Which value of the device an expression needs while the kernel is compiled; "" for none."""
        for part in _parts(node):
            if self.is_register(part):
                return f"register '{part.id}'"
            if self.is_dynamic(part):
                return f"loop index '{part.id}'"
            if isinstance(part, (ast.Name, ast.Subscript)) and (self.tensor(part) is not None):
                return f"tensor '{ast.unparse(part)}'"
        return ""


def _parts(node):
    """The operands of a condition, without those that are asked for a property or handed to a function."""
    if isinstance(node, ast.Compare):
        if not any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            operands = [node.left, *node.comparators]
            if not any(isinstance(o, ast.Constant) and o.value is None for o in operands):
                for operand in operands:
                    yield from _parts(operand)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _parts(value)
    elif isinstance(node, ast.BinOp):
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield from _parts(node.operand)
    elif isinstance(node, (ast.Name, ast.Subscript)):
        yield node


def _is_starred(node):
    return isinstance(node, ast.Starred)


def _common(kinds):
    first = kinds[0]
    return Tensor(
        first.shape if all(k.shape == first.shape for k in kinds) else None,
        first.dtype if all(k.dtype == first.dtype for k in kinds) else "",
        first.buffer if all(k.buffer == first.buffer for k in kinds) else "",
        first.node,
    )


def argument(call: ast.Call, name: str, position: int):
    """The expression given for a parameter; None where it is not given."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if position < len(call.args) else None
