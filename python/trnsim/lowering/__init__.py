"""The functions of nki.language as instructions, for both dialects.

Each takes native tensors (or numbers, where the hardware has immediates), issues instructions to the
current launch and returns a new native tensor in SBUF (products and transposes: in PSUM), or `dst` where
that is given. The dtype of the result is `dtype`, else that of the first tile; a dialect that promotes
passes dtype=promote(x, y).
"""

from trnsim.lowering.broadcasting import broadcast_to, partitions_in_psum
from trnsim.lowering.creation import (
    empty_like,
    fill,
    full,
    ones,
    rand,
    random_seed,
    shared_constant,
    shared_identity_matrix,
    zeros,
    zeros_like,
)
from trnsim.lowering.elementwise import activation, binary, copy, divide, unary
from trnsim.lowering.matrix import matmul, transpose
from trnsim.lowering.movement import dropout, gather_flattened, load, load_transpose2d, store, where
from trnsim.lowering.promotion import promote, promote_dtypes, scalar_dtype
from trnsim.lowering.reductions import all_, mean, reduce, rms_norm, softmax, var
from trnsim.lowering.tokens import COMPARISONS, FOREIGN, SPELLINGS, TOKENS, name_of, token

__all__ = [
    "COMPARISONS",
    "FOREIGN",
    "SPELLINGS",
    "TOKENS",
    "activation",
    "all_",
    "binary",
    "broadcast_to",
    "copy",
    "divide",
    "dropout",
    "empty_like",
    "fill",
    "full",
    "gather_flattened",
    "load",
    "load_transpose2d",
    "matmul",
    "mean",
    "name_of",
    "ones",
    "partitions_in_psum",
    "promote",
    "promote_dtypes",
    "rand",
    "random_seed",
    "reduce",
    "rms_norm",
    "scalar_dtype",
    "shared_constant",
    "shared_identity_matrix",
    "softmax",
    "store",
    "token",
    "transpose",
    "unary",
    "var",
    "where",
    "zeros",
    "zeros_like",
]
