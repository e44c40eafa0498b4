"""Matrix products and transposes."""

import itertools

from trnsim import dtypes, session
from trnsim.beta1 import run
from trnsim.beta1.deferred import defer
from trnsim.beta1.enums import matmul_perf_mode, tensor_engine, unknown_engine, vector_engine
from trnsim.beta1.instructions.elementwise import tensor_copy
from trnsim.beta1.issue import dtype_of, isa, parts_of, shrink, tile
from trnsim.lowering.tiles import refuse, same_dtype

_VECTOR_BLOCK = 32  # rows and columns that the Vector engine transposes at once
_PERF_MODES = {
    "double_row": matmul_perf_mode.double_row,
    "double_row_gen3": matmul_perf_mode.double_row,
    "none": matmul_perf_mode.none,
    "": matmul_perf_mode.none,
}


def nc_matmul(
    stationary,
    moving,
    *,
    is_stationary_onezero=False,
    is_moving_onezero=False,
    is_transpose=False,
    tile_position=(),
    tile_size=(),
    perf_mode=None,
    mask=None,
    name=None,
):
    """stationary.T @ moving on the Tensor engine: [K, M], [K, N] -> float32 [M, N] in PSUM.

    `psum += nisa.nc_matmul(...)` accumulates there. mask: narrows stationary and moving along the axes that
    they share with it.
    """
    stationary, moving = tile(stationary, "nc_matmul", "stationary"), tile(moving, "nc_matmul", "moving")
    if isinstance(perf_mode, str):
        if perf_mode not in _PERF_MODES:
            refuse(
                "nc_matmul.perf_mode",
                f"nc_matmul: perf_mode '{perf_mode}' is not one of {', '.join(_PERF_MODES)}",
            )
        perf_mode = _PERF_MODES[perf_mode]
    options = {"is_stationary_onezero": is_stationary_onezero, "is_moving_onezero": is_moving_onezero}
    if len(tile_position) or len(tile_size):
        options.update(tile_position=tile_position, tile_size=tile_size)
    if perf_mode is not None:
        options["perf_mode"] = perf_mode
    parts = parts_of(mask, moving.shape, "nc_matmul", whole_axes=(0, 1))
    double = perf_mode is matmul_perf_mode.double_row
    shape = (stationary.size // stationary.shape[0] // (2 if double else 1),) + (
        (moving.shape[2],) if double and moving.ndim == 3 else moving.shape[1:]
    )

    moves = is_transpose and session.current().launch.generation >= 3

    def emit(dst, accumulate):
        for ranges in parts:
            left = (
                stationary
                if ranges is None
                else stationary.part([ranges[0]] + [None] * (stationary.ndim - 1))
            )
            out = dst if ranges is None else dst.part([None] + list(ranges[1:]))
            # Where bits cannot be moved into the type of dst, a product with the permutation gives the
            # same values.
            moved = is_transpose and not (moves and not same_dtype(dst.dtype, stationary.dtype))
            dst.storage.groups.add(out.view_key)
            isa.nc_matmul(
                dst=out.target(),
                stationary=left.tensor,
                moving=shrink(moving, ranges, moving.shape).tensor,
                is_transpose=moved,
                accumulate=None if moved else accumulate,
                **options,
            )

    return defer(
        "nc_matmul",
        emit,
        shape,
        stationary.dtype if moves else dtypes.float32,
        ("PSUM",),
        sums=not is_transpose,
    )


def nc_transpose(data, *, mask=None, dtype=None, engine=unknown_engine):
    """Partition and free axes exchanged. On the Tensor engine into PSUM, on the Vector engine, which transposes
    blocks of 32 x 32, into SBUF."""
    data = tile(data, "nc_transpose", "data")
    parts = parts_of(mask, data.shape, "nc_transpose", whole_axes=tuple(range(data.ndim)))
    shape = (data.size // data.shape[0], data.shape[0])
    chosen = vector_engine if engine is vector_engine else tensor_engine
    spread = chosen is tensor_engine and data.itemsize == 1
    spaces = ("SBUF", "PSUM") if engine is vector_engine or spread else ("PSUM",)

    def emit(dst, accumulate):
        for ranges in parts:
            out = dst if ranges is None else dst.part([ranges[1], ranges[0]])
            part = shrink(data, ranges, data.shape)
            for rows, columns in _blocks(part.shape, chosen):
                block, turned = part.part([rows, columns]), out.part([columns, rows])
                out_of_engine = _every_second(turned) if spread else turned.target()
                isa.nc_transpose(dst=out_of_engine, data=block.tensor, engine=chosen)
                if spread:
                    isa.tensor_copy(dst=turned.target(), src=out_of_engine)

    transposed = defer("nc_transpose", emit, shape, data.dtype, spaces, exact=True)
    return (
        transposed if dtype is None or dtype_of(dtype) == data.dtype else tensor_copy(transposed, dtype=dtype)
    )


def _every_second(tile):
    """A new PSUM tensor of the tile's shape, of every second byte: so the Tensor engine writes bytes."""
    columns = tile.size // tile.shape[0]
    wide = run.current().launch.tensor("PSUM", (tile.shape[0], 2 * columns), tile.dtype, "transpose")
    return wide[:, 0 : 2 * columns : 2]


def _blocks(shape, engine):
    """Ranges of rows and of columns of what one instruction transposes."""
    if engine is not vector_engine or len(shape) != 2 or max(shape) <= _VECTOR_BLOCK:
        return [(None, None)]
    ranges = [[(at, min(at + _VECTOR_BLOCK, size)) for at in range(0, size, _VECTOR_BLOCK)] for size in shape]
    return itertools.product(*ranges)
