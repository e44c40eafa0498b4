"""The dtype of a result when the kernel does not say: NKI's promotion table (NKI 2.26, data types)."""

import numbers

import numpy as np

from trnsim import dtypes
from trnsim.lowering.tiles import is_tensor, name_of_dtype

# Beside the rules in promote_dtypes: pairs of floats whose result is neither's.
_FLOAT_PAIRS = {
    frozenset(("float16", "bfloat16")): dtypes.float32,
    frozenset(("float8_e4m3", "float8_e5m2")): dtypes.bfloat16,
    frozenset(("float8_e4m3fn", "float8_e5m2")): dtypes.bfloat16,
    frozenset(("float8_e4m3", "float8_e4m3fn")): dtypes.bfloat16,
    frozenset(("tfloat32", "float32")): dtypes.float32,
}
_INT_PAIRS = {
    frozenset(("int8", "uint8")): dtypes.int16,
    frozenset(("int8", "uint16")): dtypes.int32,
    frozenset(("int16", "uint16")): dtypes.int32,
    frozenset(("int8", "uint32")): dtypes.float32,
    frozenset(("int16", "uint32")): dtypes.float32,
    frozenset(("int32", "uint32")): dtypes.float32,
}
_OBJECTS = {name_of_dtype(getattr(dtypes, name)): getattr(dtypes, name) for name in dtypes.NAMES}


def scalar_dtype(value):
    """The dtype that a Python number counts as: bool uint8, int int32, float float32."""
    if isinstance(value, (bool, np.bool_)):
        return dtypes.uint8
    return dtypes.int32 if isinstance(value, numbers.Integral) else dtypes.float32


def promote_dtypes(a, b):
    """The common dtype of two: a float over an integer, the wider float, the table's word on mixed pairs."""
    name_a, name_b = (_storage_name(dtype) for dtype in (a, b))
    if name_a == name_b:
        return _OBJECTS[name_a]
    float_a, float_b = "float" in name_a, "float" in name_b
    if float_a != float_b:
        return _OBJECTS[name_a if float_a else name_b]
    pair = frozenset((name_a, name_b))
    special = (_FLOAT_PAIRS if float_a else _INT_PAIRS).get(pair)
    if special is not None:
        return special
    size_a, size_b = _OBJECTS[name_a].itemsize, _OBJECTS[name_b].itemsize
    return _OBJECTS[name_a if size_a >= size_b else name_b]


def _storage_name(dtype) -> str:
    name = name_of_dtype(dtype)
    return "uint8" if name == "bool" else name


def promote(a, b):
    """The dtype of a result of `a` and `b`, tensors, dtypes or numbers. Numbers are weak beside a tile: an
    integer does not widen an integer tile, and no number widens a float tile."""
    if is_tensor(a) and is_tensor(b):
        return promote_dtypes(a.dtype, b.dtype)
    for strong, weak in ((a, b), (b, a)):
        if is_tensor(strong) and isinstance(weak, (numbers.Real, np.bool_)):
            if "float" in strong.dtype_name or isinstance(weak, (numbers.Integral, np.bool_)):
                return strong.dtype
            return dtypes.float32
    return promote_dtypes(*(_dtype_of(value) for value in (a, b)))


def _dtype_of(value):
    if is_tensor(value):
        return value.dtype
    return scalar_dtype(value) if isinstance(value, (numbers.Real, np.bool_)) else value
