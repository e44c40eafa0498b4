"""Gather, search and shuffle."""

from trnsim import dtypes
from trnsim.beta1.deferred import defer
from trnsim.beta1.issue import dtype_of, isa, no_mask, now, parts_of, result, shrink, tile


def local_gather(src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, *, mask=None):
    """Runs of `num_elem_per_idx` elements chosen by the indices of each 16 partitions."""
    src, index = tile(src_buffer, "local_gather", "src_buffer"), tile(index, "local_gather", "index")
    no_mask(mask, "local_gather")
    columns = index.size // index.shape[0]
    count = 16 * columns if num_valid_indices is None else num_valid_indices
    shape = (
        (src.shape[0], columns, 16, num_elem_per_idx)
        if count == 16 * columns
        else (src.shape[0], count, num_elem_per_idx)
    )

    def emit(dst, accumulate):
        isa.local_gather(
            dst=dst.target(),
            src_buffer=src.tensor,
            index=index.tensor,
            num_elem_per_idx=num_elem_per_idx,
            num_valid_indices=num_valid_indices,
        )

    return defer("local_gather", emit, shape, src.dtype, ("SBUF",), exact=True)


def nc_n_gather(data, indices, *, mask=None, dtype=None):
    """result[p, j] = data[p, indices[p, j]], the free axes of data flattened."""
    data = tile(data, "nc_n_gather", "data")
    return result(
        "nc_n_gather",
        {"indices": indices, "data": data},
        dtype=data.dtype,
        given=dtype,
        mask=mask,
        spaces=("SBUF",),
        exact=True,
    )


def _search(name, function, operands, data, shape, dtype, mask, more=None, spaces=("SBUF", "PSUM")):
    """Instructions that look through the free axes of `data`; a mask narrows data and, by rows, the rest."""
    parts = parts_of(mask, data.shape, name, whole_axes=tuple(range(1, data.ndim)))

    def rows_of(value, ranges):
        if value is data or value.shape == data.shape:
            return shrink(value, ranges, data.shape)
        return value if ranges is None else value.part([ranges[0]] + [None] * (value.ndim - 1))

    def emit(dst, accumulate):
        for ranges in parts:
            arguments = {
                key: rows_of(value, ranges).target() if key == "dst_idx" else rows_of(value, ranges).tensor
                for key, value in operands.items()
            }
            function(dst=rows_of(dst, ranges).target(), **arguments, **(more or {}))

    return defer(name, emit, shape, dtype, spaces, exact=True)


def max8(*, src, mask=None, dtype=None):
    """The eight largest elements of each partition, in descending order: [P, 8]."""
    src = tile(src, "max8", "src")
    return _search(
        "max8", isa.max8, {"src": src}, src, (src.shape[0], 8), dtype_of(dtype) if dtype else src.dtype, mask
    )


def nc_find_index8(*, data, vals, mask=None, dtype=None):
    """Where in each partition of `data` its eight values of `vals` stand: uint32 [P, 8]."""
    data, vals = tile(data, "nc_find_index8", "data"), tile(vals, "nc_find_index8", "vals")
    return _search(
        "nc_find_index8",
        isa.nc_find_index8,
        {"data": data, "vals": vals},
        data,
        (data.shape[0], 8),
        dtype_of(dtype) if dtype else dtypes.uint32,
        mask,
    )


def nc_match_replace8(*, data, vals, imm, dst_idx=None, mask=None, dtype=None):
    """data with the first element equal to each of the eight `vals` replaced by `imm`; their positions to
    `dst_idx`."""
    data, vals = tile(data, "nc_match_replace8", "data"), tile(vals, "nc_match_replace8", "vals")
    operands = {"data": data, "vals": vals}
    if dst_idx is not None:
        operands["dst_idx"] = tile(dst_idx, "nc_match_replace8", "dst_idx")
    return _search(
        "nc_match_replace8",
        isa.nc_match_replace8,
        operands,
        data,
        data.shape,
        dtype_of(dtype) if dtype else data.dtype,
        mask,
        {"imm": float(imm)},
    )


def nc_stream_shuffle(src, dst, shuffle_mask, *, dtype=None, mask=None):
    """Partitions of each quadrant of `dst` from the partitions of `src` that shuffle_mask lists."""
    now()
    no_mask(mask, "nc_stream_shuffle")
    isa.nc_stream_shuffle(
        dst=tile(dst, "nc_stream_shuffle", "dst").target(),
        src=tile(src, "nc_stream_shuffle", "src").tensor,
        shuffle_mask=list(shuffle_mask),
    )
