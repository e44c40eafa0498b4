"""nki.language: types, buffers, tensors, loops and the functions on tiles."""

from trnsim.dtypes import (  # noqa: F401
    bfloat16,
    bool_,
    float4_e2m1fn_x4,
    float8_e4m3,
    float8_e4m3fn,
    float8_e4m3fn_x4,
    float8_e5m2,
    float8_e5m2_x4,
    float8_e8m0fnu,
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
from trnsim.nki.language.buffers import (  # noqa: F401
    MemoryRegion,
    hbm,
    is_hbm,
    is_on_chip,
    is_psum,
    is_sbuf,
    private_hbm,
    psum,
    sbuf,
    shared_hbm,
)
from trnsim.nki.language.functions import (  # noqa: F401
    broadcast_to,
    ceil,
    cos,
    device_print,
    dropout,
    empty_like,
    expand_dims,
    floor,
    gather_flattened,
    load,
    load_transpose2d,
    matmul,
    mean,
    negative,
    rand,
    random_seed,
    rms_norm,
    shared_constant,
    shared_identity_matrix,
    softmax,
    store,
    tan,
    transpose,
    trunc,
    var,
    where,
    zeros_like,
)
from trnsim.nki.language.loops import (  # noqa: F401
    affine_range,
    ds,
    dynamic_range,
    fori_loop,
    no_reorder,
    num_programs,
    program_id,
    program_ndim,
    sequential_range,
    static_range,
    while_loop,
)
from trnsim.nki.language.objects import NKIObject  # noqa: F401
from trnsim.nki.language.operators import *  # noqa: F403
from trnsim.nki.language.tensors import (  # noqa: F401
    NkiTensor,
    full,
    ndarray,
    ones,
    zeros,
)

_BETA1 = {
    "arange": "slices, nl.ds or tensor.ap(...)",
    "mgrid": "slices, nl.ds or tensor.ap(...)",
    "par_dim": "dimension 0, which is the partition of every on-chip tensor",
    "static_cast": "dtype= of the function or instruction",
    "loop_reduce": "nisa.tensor_tensor in the loop",
    "atomic_rmw": "nisa.dma_compute",
}


def __getattr__(name):
    if name in _BETA1:
        raise AttributeError(
            f"nki.language has no '{name}' since nki 0.2: use {_BETA1[name]}, or import neuronxcc.nki"
        )
    raise AttributeError(f"module 'nki.language' has no attribute '{name}'")
