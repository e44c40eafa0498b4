"""Tensors that come with values: constants, identity matrices, random numbers."""

import os

import numpy as np

from trnsim import arrays, dtypes, limits, session
from trnsim.lowering.tiles import is_tensor, isa, launch, new, number, on_chip, refuse
from trnsim.lowering.tokens import TOKENS

_FILL_COLUMNS = 2048  # of the tile from which constants are copied to HBM
_RAND2_SINCE = 4  # NeuronCore generation
_FRACTION_BITS = {"tfloat32": 11, "float16": 11, "bfloat16": 8, "float8_e4m3": 4, "float8_e4m3fn": 4, "float8_e5m2": 3}


def full(shape, value, dtype, space="SBUF", name="", address=None):
    """A new tensor with the same number everywhere."""
    value = number(value, "nl.full", "fill_value")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return fill(launch().tensor(space, shape, dtype, name, address), value)


def fill(tensor, value):
    """Set every element of a tensor to one number; HBM is filled by DMA. Returns the tensor."""
    if tensor.space == "HBM":
        _fill_hbm(tensor, value)
    else:
        isa.memset(tensor, value)
    return tensor


def _fill_hbm(tensor, value):
    """From one tile of the constant, by DMA, as many elements at a time as it has."""
    partitions = limits.partitions()
    columns = min(_FILL_COLUMNS, -(-tensor.size // partitions))
    source = new((partitions, columns), tensor.dtype, "full.source")
    isa.memset(source, value)
    flat = tensor.reshape((tensor.size,))
    step = partitions * columns
    for at in range(0, tensor.size, step):
        count = min(step, tensor.size - at)
        rows, rest = divmod(count, columns)
        if rows:
            isa.dma_copy(flat[at : at + rows * columns].reshape((rows, columns)), source[:rows])
        if rest:
            isa.dma_copy(flat[at + rows * columns : at + count].reshape((1, rest)), source[:1, :rest])


def zeros(shape, dtype, space="SBUF", name="", address=None):
    """A new tensor of zeros."""
    return full(shape, 0, dtype, space, name, address)


def ones(shape, dtype, space="SBUF", name="", address=None):
    """A new tensor of ones."""
    return full(shape, 1, dtype, space, name, address)


def empty_like(x, dtype=None, space=None, name=""):
    """A new tensor with the shape of `x`, not initialised."""
    return launch().tensor(space or x.space, x.shape, dtype or x.dtype, name or x.name)


def zeros_like(x, dtype=None, space=None, name=""):
    """A new tensor of zeros with the shape of `x`."""
    return zeros(x.shape, dtype or x.dtype, space or x.space, name)


def shared_constant(constant, dtype=None, name="constant"):
    """A tensor in HBM with data that is part of the program: an array, or the path of a .npy file."""
    if isinstance(constant, (str, os.PathLike)):
        try:
            constant = np.load(constant)
        except (OSError, ValueError) as error:
            refuse(
                "language.constant", f"nl.shared_constant: {constant} is not a readable .npy file: {error}"
            )
    if is_tensor(constant) or not arrays.is_array(constant):
        refuse(
            "language.constant",
            f"nl.shared_constant: the constant must be an array or the path of a .npy file, got "
            f"{type(constant).__name__}",
        )
    host = arrays.to_numpy(constant)
    if dtype is not None and not isinstance(dtype, dtypes.NamedDtype):
        host = host.astype(dtype)
    frame = session.current()

    def create():
        return arrays.to_hbm(frame.launch, host, name, shared=True)

    if not frame.grid:
        return create()
    return frame.shared.get(frame, name, host.shape, host.dtype, create, "grid.shared_constant")[0]


def shared_identity_matrix(n, dtype=dtypes.uint8, dst=None):
    """The n x n identity in SBUF. Loaded from HBM once per dtype and kernel."""
    partitions = limits.partitions()
    if not 1 <= n <= partitions:
        refuse("language.shape", f"nl.shared_identity_matrix: n is {n}; it must be 1 to {partitions}")
    frame = session.current()
    known = frame.__dict__.setdefault("identity_matrices", {})
    key = str(dtype)
    if key not in known:
        host = np.eye(partitions, dtype=np.float32).astype(dtypes.host_dtype(dtype))
        constant = arrays.to_hbm(frame.launch, host, "identity", dtype)
        known[key] = new((partitions, partitions), dtype, "identity")
        isa.dma_copy(known[key], constant)
    identity = known[key][:n, :n]
    if dst is None:
        return identity
    isa.tensor_copy(dst, identity)
    return dst


def rand(shape, dtype, space="SBUF", name=""):
    """Uniform random numbers of [0, 1), from the Vector Engine."""
    tile = launch().tensor(space, shape, dtype, name)
    if launch().generation >= _RAND2_SINCE:
        isa.rand2(tile, 0.0, 1.0)
        return tile
    # As many bits as the type holds: a number near 1 is not rounded up to it.
    kept = _FRACTION_BITS.get(tile.dtype_name, 24)
    bits = new(shape, dtypes.uint32, "rand.bits")
    isa.rng(bits)
    isa.tensor_scalar(bits, bits, TOKENS["right_shift"], 32 - kept)
    isa.tensor_scalar(tile, bits, TOKENS["multiply"], 2.0**-kept)
    return tile


def random_seed(seed):
    """Seed the Vector Engine's random numbers from a [1, 1] tile of 32 bits."""
    isa.set_rng_seed(on_chip(seed, "nl.random_seed", "seed"))
