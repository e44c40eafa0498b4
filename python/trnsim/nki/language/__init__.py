"""nki.language: types, buffers, tensors, loops and the functions on tiles."""

from trnsim import releases
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
from trnsim.nki.language.grids import (  # noqa: F401
    NkiBlockGrid,
    NkiGrid,
    NkiTileGrid,
    alloc_blocks,
    alloc_tiles,
    blocks,
    int64,
    tiles,
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
    par_dim,
    zeros,
)

def __getattr__(name):
    text = releases.absent("nki.language", name)
    if text is not None:
        raise AttributeError(text)
    raise AttributeError(f"module 'nki.language' has no attribute '{name}'")
