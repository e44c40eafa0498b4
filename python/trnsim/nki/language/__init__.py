"""nki.language: types, buffers, tensors, loops and the functions on tiles."""

from trnsim.dtypes import (  # noqa: F401
    bfloat16, bool_, float4_e2m1fn_x4, float8_e4m3, float8_e4m3fn, float8_e4m3fn_x4, float8_e5m2, float8_e5m2_x4,
    float8_e8m0fnu, float16, float32, int8, int16, int32, tfloat32, uint8, uint16, uint32,
)
from trnsim.nki.language.buffers import (  # noqa: F401
    hbm, is_hbm, is_on_chip, is_psum, is_sbuf, private_hbm, psum, sbuf, shared_hbm,
)
from trnsim.nki.language.loops import (  # noqa: F401
    affine_range, ds, num_programs, program_id, program_ndim, sequential_range, static_range,
)
from trnsim.nki.language.tensors import NkiTensor, ndarray, tile_size, zeros  # noqa: F401
from trnsim.nki.language.operators import *  # noqa: F403
