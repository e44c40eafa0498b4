"""neuronxcc.nki.language: types, index expressions, tensors, loops and functions on tiles."""

import ml_dtypes
import numpy as np

from trnsim import _native, dtypes, lowering
from trnsim.beta1 import functions
from trnsim.beta1.functions import (  # noqa: F401
    all,
    broadcast_to,
    device_print,
    dropout,
    gather_flattened,
    matmul,
    mean,
    rms_norm,
    softmax,
    static_cast,
    transpose,
    var,
    where,
)
from trnsim.beta1.grid import nc, num_programs, program_id, program_ndim, spmd_dim  # noqa: F401
from trnsim.beta1.index import arange, ds, dslice, mgrid  # noqa: F401
from trnsim.beta1.issue import dtype_of
from trnsim.beta1.loops import loop_reduce  # noqa: F401
from trnsim.beta1.tensors import (  # noqa: F401
    empty_like,
    full,
    ndarray,
    ones,
    par_dim,
    shared_constant,
    shared_identity_matrix,
    zeros,
    zeros_like,
)
from trnsim.beta1.tile import Tile
from trnsim.beta1.traced import affine_range, sequential_range  # noqa: F401
from trnsim.beta1.transfers import atomic_rmw, load, load_transpose2d, rand, random_seed, store  # noqa: F401
from trnsim.dtypes import (  # noqa: F401
    bfloat16,
    bool_,
    float8_e4m3,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    int8,
    int16,
    int32,
    tfloat32,
    uint8,
    uint16,
    uint32,
)
from trnsim.limits import tile_size  # noqa: F401
from trnsim.lowering.tiles import refuse
from trnsim.nki.language import buffers
from trnsim.nki.language.loops import static_range  # noqa: F401
from trnsim.refusal import refused

sbuf, psum, hbm = buffers.sbuf, buffers.psum, buffers.hbm
private_hbm, shared_hbm = buffers.private_hbm, buffers.shared_hbm
fp32 = np.finfo(np.float32)


def finfo(dtype):
    """Limits of a float type, as numpy's finfo: min, max, eps, tiny."""
    return ml_dtypes.finfo(dtypes.host_dtype(dtype_of(dtype)))



class _Bfp16:
    """nl.bfp16.min: the bits 0xff80 of a bfloat16, minus infinity."""

    min = float("-inf")
    max = 3.3895313892515355e38


bfp16 = _Bfp16()


class Operator(_native.Token):
    """nl.add, nl.exp, ...: the value of `op=` arguments, and a function on tiles."""

    def __init__(self, name, alu, activation, function):
        super().__init__(name, alu, activation)
        self._function = function
        self.__doc__ = f"nl.{name}: an operator for op= arguments, and a function on tiles."
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


_BINARY = (
    "add subtract multiply divide maximum minimum power mod fmod equal not_equal greater greater_equal less"
    " less_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift"
    " abs_max abs_min"
).split()
_UNARY = (
    "abs square relu exp log sin cos tan arctan tanh sqrt rsqrt sigmoid gelu gelu_dx gelu_apprx_tanh"
    " gelu_apprx_sigmoid silu silu_dx softplus mish erf erf_dx sign reciprocal copy negative invert"
    " logical_not ceil floor trunc prelu"
).split()
_REDUCTIONS = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}


def _binary(op):
    def function(x, y, dtype=None, mask=None, name=None):
        return functions.binary(op, x, y, dtype=dtype, mask=mask)

    return function


def _unary(op):
    def function(x, dtype=None, mask=None, name=None):
        return functions.unary(op, x, dtype=dtype, mask=mask)

    return function


def _reduction(op):
    def function(x, axis, dtype=None, mask=None, keepdims=False, name=None):
        return functions.reduction(op, x, axis, dtype=dtype, mask=mask, keepdims=keepdims)

    return function


def _no_function(op):
    def function(*args, **kwargs):
        refuse("language.operator", f"nl.{op} is an operator for op= arguments and no function on tiles")

    return function


def _function_of(name):
    """What nl.<name> does when it is called, under that name in Python's messages."""
    if name in _REDUCTIONS:
        function = _reduction(_REDUCTIONS[name])
    else:
        function = (_binary if name in _BINARY else _unary if name in _UNARY else _no_function)(name)
    function.__name__ = name
    function.__qualname__ = f"nl.{name}"
    return function


for _name in dict.fromkeys([*_BINARY, *_UNARY, *_REDUCTIONS, *lowering.SPELLINGS]):
    if _name != "all":
        globals()[_name] = Operator(_name, *lowering.SPELLINGS.get(_name, ("", "")), _function_of(_name))


def expand_dims(data, axis, name=None):
    """A view of the tile with an axis of size 1 added."""
    return data.expand_dims(axis)


def is_tile(value) -> bool:
    """Whether a value is a tile of this dialect."""
    return isinstance(value, Tile)


all_reduce = refused(
    "nl.all_reduce", "no public document says which cores take part and how: add in shared HBM after a core_barrier"
)
gemm_grid = refused("nl.gemm_grid", "no public document gives its form: write nl.mgrid[0:128, 0:512]")
gemm_stationary_grid = refused(
    "nl.gemm_stationary_grid", "no public document gives its form: write nl.mgrid[0:128, 0:128]"
)


def simulate_kernel(*args, **kwargs):
    """nki.simulate_kernel."""
    from trnsim.beta1.kernel import simulate_kernel as simulate

    return simulate(*args, **kwargs)
