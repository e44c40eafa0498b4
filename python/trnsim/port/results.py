"""Instructions of Beta 1 return a tile; since release 0.2 they write into one that they are given as dst=."""

import ast
import functools
import importlib
import inspect

# The shape of a result and of which argument its dtype is, where an assignment can be rewritten without knowing more.
_AS_DATA = {"activation": "data", "activation_reduce": "data", "reciprocal": "data", "tensor_copy": "src",
            "tensor_scalar": "data", "scalar_tensor_tensor": "data", "tensor_scalar_reduce": "data"}
_NO_SINGLE_RESULT = ("builtin_custom_op", "get_nc_version")
# Arguments have others since: the call is advised on, not rewritten.
_OTHER_ARGUMENTS = ("affine_select", "iota", "local_gather", "nc_n_gather", "nc_stream_shuffle", "bn_stats", "bn_aggr",
                    "sequence_bounds", "dropout", "range_select", "tensor_copy_dynamic_src")


@functools.cache
def parameters(instruction: str) -> tuple[str, ...] | None:
    """The parameters of an instruction of Beta 1, in order; None where it does not return a tile."""
    function = getattr(importlib.import_module("trnsim.beta1.isa"), instruction, None)
    if function is None or instruction in _NO_SINGLE_RESULT or not callable(function) or isinstance(function, type):
        return None
    names = tuple(inspect.signature(function).parameters)
    return None if "dst" in names else names


def arguments(call: ast.Call, names: tuple[str, ...]) -> dict[str, ast.AST] | None:
    """What a call gives by parameter; None for * and **."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    return dict(zip(names, call.args)) | {keyword.arg: keyword.value for keyword in call.keywords}


def has_mask(given: dict[str, ast.AST]) -> bool:
    mask = given.get("mask")
    return mask is not None and not (isinstance(mask, ast.Constant) and mask.value is None)


def rewritten(function: str, instruction: str, dst: str, given: dict[str, ast.AST], text) -> str | None:
    """The call with dst=; None where its arguments are others since."""
    if instruction in _OTHER_ARGUMENTS:
        return None
    left_out = ("mask", "dtype", "shape") if instruction == "memset" else ("mask", "dtype", "keepdims")
    pairs = [f"{name}={text(value)}" for name, value in given.items() if name not in left_out]
    return f"{function}({', '.join([f'dst={dst}', *pairs])})"


def allocation(instruction: str, given: dict[str, ast.AST], text, language: str) -> str | None:
    """nl.ndarray(...) for the result; None where its shape or dtype does not follow from the call alone."""
    dtype = text(given["dtype"]) if "dtype" in given else None
    if instruction == "memset":
        return _ndarray(language, text(given["shape"]), dtype, "sbuf") if dtype and "shape" in given else None
    if instruction == "nc_matmul":
        stationary, moving = (_plain(given.get(side), text) for side in ("stationary", "moving"))
        if not (stationary and moving):
            return None
        shape = f"({stationary}.shape[1], {moving}.shape[1])"
        return _ndarray(language, shape, dtype or f"{language}.float32", "psum")
    data = _plain(given.get(_AS_DATA.get(instruction, "data" if "data" in given else "data1")), text)
    if data is None:
        return None
    if instruction == "nc_transpose":
        on_vector = "engine" in given and "vector" in text(given["engine"])
        return _ndarray(language, f"({data}.shape[1], {data}.shape[0])", dtype or f"{data}.dtype",
                        "sbuf" if on_vector else "psum")
    if instruction == "tensor_reduce" and text(given.get("axis", ast.Tuple([]))) in ("1", "[1]", "(1,)", "-1"):
        return _ndarray(language, f"({data}.shape[0], 1)", dtype or f"{data}.dtype", "sbuf")
    if instruction == "tensor_tensor" and dtype:
        return _ndarray(language, f"{data}.shape", dtype, "sbuf")
    if instruction in _AS_DATA:
        return _ndarray(language, f"{data}.shape", dtype or f"{data}.dtype", "sbuf")
    return None


def _plain(node: ast.AST | None, text) -> str | None:
    """The text of a name or of a part of one, whose shape can be asked for."""
    return text(node) if isinstance(node, (ast.Name, ast.Subscript)) else None


def _ndarray(language: str, shape: str, dtype: str, buffer: str) -> str:
    return f"{language}.ndarray({shape}, dtype={dtype}, buffer={language}.{buffer})"
