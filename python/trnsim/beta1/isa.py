"""neuronxcc.nki.isa: instructions that return their result as a tile.

Each takes `mask=` (the part of the tile that it works on) and most take `dtype=` (of the result). A result
assigned to a tile that exists, `out[...] = nisa.x(...)`, is written there by the instruction itself.
"""

import functools
import inspect

import numpy as np

from trnsim import _native, session
from trnsim._native import Unimplemented
from trnsim.beta1.enums import (
    dge_mode,
    dma_engine,
    engine,
    gpsimd_engine,
    matmul_perf_mode,
    nc_version,
    oob_mode,
    reduce_cmd,
    scalar_engine,
    tensor_engine,
    unknown_engine,
    vector_engine,
)
from trnsim.beta1.instructions.dma import dma_copy, dma_transpose
from trnsim.beta1.instructions.elementwise import (
    activation,
    activation_reduce,
    dropout,
    reciprocal,
    scalar_tensor_tensor,
    tensor_copy,
    tensor_copy_dynamic_dst,
    tensor_copy_dynamic_src,
    tensor_scalar,
    tensor_scalar_reduce,
    tensor_tensor,
    tensor_tensor_scan,
)
from trnsim.beta1.instructions.matrix import nc_matmul, nc_transpose
from trnsim.beta1.instructions.reductions import (
    bn_aggr,
    bn_stats,
    tensor_partition_reduce,
    tensor_reduce,
    tensor_scalar_cumulative,
)
from trnsim.beta1.instructions.search import (
    local_gather,
    max8,
    nc_find_index8,
    nc_match_replace8,
    nc_n_gather,
    nc_stream_shuffle,
)
from trnsim.beta1.instructions.selection import (
    affine_select,
    iota,
    memset,
    range_select,
    select_reduce,
    sequence_bounds,
    tensor_copy_predicated,
)
from trnsim.refusal import refused


def get_nc_version() -> nc_version:
    """The NeuronCore generation that the kernel runs on."""
    return nc_version(session.current().launch.generation)


def _named(function):
    """The instruction, which takes a name= as each one does; the simulator names results by their variables."""

    @functools.wraps(function)
    def call(*args, name=None, **kwargs):
        return function(*args, **kwargs)

    return function if "name" in inspect.signature(function).parameters else call


builtin_custom_op = refused("nisa.builtin_custom_op", "custom C++ operators of the GpSimd engine are not simulated")
fp32 = np.finfo(np.float32)

# Later releases' instructions, which Beta 1 never had in this form.
_LATER = frozenset(
    "rng rand2 rand_set_state rand_get_state set_rng_seed core_barrier sendrecv nc_matmul_mx quantize_mx dma_compute"
    " nonzero_with_count register_alloc register_move register_load register_store".split()
)


def __getattr__(name):
    if name not in _LATER and not hasattr(_native.isa, name):
        raise AttributeError(f"module 'neuronxcc.nki.isa' has no attribute '{name}'")
    return refused(f"nisa.{name}", "Beta 1 (neuronxcc.nki) does not have it: import nki", Unimplemented)


__all__ = [
    "activation",
    "activation_reduce",
    "affine_select",
    "bn_aggr",
    "bn_stats",
    "builtin_custom_op",
    "dge_mode",
    "dma_copy",
    "dma_engine",
    "dma_transpose",
    "dropout",
    "engine",
    "fp32",
    "get_nc_version",
    "gpsimd_engine",
    "iota",
    "local_gather",
    "matmul_perf_mode",
    "max8",
    "memset",
    "nc_find_index8",
    "nc_match_replace8",
    "nc_matmul",
    "nc_n_gather",
    "nc_stream_shuffle",
    "nc_transpose",
    "nc_version",
    "oob_mode",
    "range_select",
    "reciprocal",
    "reduce_cmd",
    "scalar_engine",
    "scalar_tensor_tensor",
    "select_reduce",
    "sequence_bounds",
    "tensor_copy",
    "tensor_copy_dynamic_dst",
    "tensor_copy_dynamic_src",
    "tensor_copy_predicated",
    "tensor_engine",
    "tensor_partition_reduce",
    "tensor_reduce",
    "tensor_scalar",
    "tensor_scalar_cumulative",
    "tensor_scalar_reduce",
    "tensor_tensor",
    "tensor_tensor_scan",
    "unknown_engine",
    "vector_engine",
]

for _name in __all__:
    if inspect.isfunction(globals()[_name]) and _name not in ("builtin_custom_op", "get_nc_version"):
        globals()[_name] = _named(globals()[_name])
