"""Instructions that move, select and search: the second half of neuronxcc.nki.isa."""

from trnsim import dtypes, session
from trnsim.beta1.deferred import defer
from trnsim.beta1.index import Affine
from trnsim.beta1.indirect import Indirect
from trnsim.beta1.issue import dtype_of, is_tile, isa, native, now, operand, parts_of, result, shrink, tile
from trnsim.beta1.mask import Mask
from trnsim.lowering.tiles import name_of_dtype, refuse
from trnsim.lowering.tokens import TOKENS, token
from trnsim.nki.choices import choice_group

_engine = choice_group("engine")
_reduce_cmd = choice_group("reduce_cmd")
_dge_mode = choice_group("dge_mode")
_oob_mode = choice_group("oob_mode")
FP32_MIN = -3.4028234663852886e38


def tensor_copy(src, *, mask=None, dtype=None, engine=_engine.unknown):
    """A copy of `src`, with another dtype if one is given."""
    src = tile(src, "tensor_copy", "src")
    return result("tensor_copy", isa.tensor_copy, src, {"src": src}, {"engine": engine}, dtype=src.dtype, given=dtype,
                  mask=mask)


def tensor_copy_predicated(*, src, dst, predicate, mask=None, reverse_pred=False):
    """dst = src where predicate is not zero; `dst` keeps its other elements."""
    now()
    dst, predicate = tile(dst, "tensor_copy_predicated", "dst"), _bits(tile(predicate, "tensor_copy_predicated", "predicate"))
    src = operand(src, "tensor_copy_predicated", "src")
    for ranges in parts_of(mask, dst.shape, "tensor_copy_predicated"):
        isa.tensor_copy_predicated(dst=shrink(dst, ranges, dst.shape).target(), src=native(shrink(src, ranges, dst.shape)),
                                   predicate=shrink(predicate, ranges, dst.shape).tensor, reverse_pred=reverse_pred)


def _bits(predicate):
    """Predicates are unsigned integers to the hardware; a bool is one byte."""
    return predicate.view(dtypes.uint8) if name_of_dtype(predicate.dtype) == "bool" else predicate


def memset(shape, value, dtype, *, mask=None, engine=_engine.unknown):
    """A tile of one number."""
    parts = parts_of(mask, tuple(shape), "memset")

    def emit(dst, accumulate):
        for ranges in parts:
            isa.memset(dst=shrink(dst, ranges, tuple(shape)).target(), value=value, engine=engine)

    return defer("memset", emit, tuple(shape), dtype_of(dtype), exact=True)


def iota(expr, dtype, *, mask=None):
    """The values of an index expression of nl.arange: an int32 per element on GpSimd, converted to `dtype`."""
    if not isinstance(expr, Affine) or expr.ndim < 2:
        refuse("iota.expr", f"iota: expr must be an index expression with a partition and a free axis, such as "
                            f"nl.arange(n)[None, :]; got {expr!r}")
    parts = parts_of(mask, expr.shape, "iota")

    def emit(dst, accumulate):
        for ranges in parts:
            starts = [r[0] for r in ranges] if ranges else [0] * expr.ndim
            out = shrink(dst, ranges, expr.shape)
            offset = expr.const + sum(c * start for c, start in zip(expr.coefs, starts))
            isa.iota(dst=out.target(), pattern=_pattern(expr.coefs, out.shape), offset=offset,
                     channel_multiplier=expr.coefs[0])

    return defer("iota", emit, expr.shape, dtype_of(dtype), ("SBUF",), exact=True)


def _pattern(coefs, shape):
    return [[coef, size] for coef, size in list(zip(coefs, shape))[1:]]


def affine_select(pred, on_true_tile, on_false_value, *, mask=None, dtype=None):
    """on_true_tile where `pred`, one comparison of index expressions, holds; the number on_false_value elsewhere."""
    data = tile(on_true_tile, "affine_select", "on_true_tile")
    if not isinstance(pred, Mask) or len(pred.terms) != 1:
        refuse("affine_select.pred", "affine_select: pred must be one comparison of nl.arange or nl.mgrid expressions, such as "
                                     f"(i_f <= i_p); got {type(pred).__name__}. Two conditions need two instructions.")
    expression, op = pred.terms[0]
    expression = expression.to_rank(data.ndim)
    parts = parts_of(mask, data.shape, "affine_select")

    def emit(dst, accumulate):
        for ranges in parts:
            starts = [r[0] for r in ranges] if ranges else [0] * data.ndim
            out = shrink(dst, ranges, data.shape)
            offset = expression.const + sum(c * start for c, start in zip(expression.coefs, starts))
            isa.affine_select(dst=out.target(), pattern=_pattern(expression.coefs, out.shape),
                              channel_multiplier=expression.coefs[0],
                              on_true_tile=shrink(data, ranges, data.shape).tensor, on_false_value=on_false_value,
                              cmp_op=TOKENS[op], offset=offset)

    return defer("affine_select", emit, data.shape, dtype_of(dtype) if dtype else data.dtype, ("SBUF",), exact=dtype is not None)


def range_select(*, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=_reduce_cmd.idle, reduce_res=None,
                 reduce_op=TOKENS["maximum"], range_start=0, on_false_value=FP32_MIN, mask=None, dtype=None):
    """on_true_tile where its position lies between the [P, 1] bounds, on_false_value elsewhere; with a reduction."""
    data = tile(on_true_tile, "range_select", "on_true_tile")
    operands = {"on_true_tile": data, "bound0": tile(bound0, "range_select", "bound0"),
                "bound1": tile(bound1, "range_select", "bound1")}
    if reduce_res is not None:
        operands["reduce_res"] = tile(reduce_res, "range_select", "reduce_res")
    options = {"comp_op0": token(comp_op0), "comp_op1": token(comp_op1), "reduce_cmd": reduce_cmd,
               "reduce_op": token(reduce_op), "range_start": range_start, "on_false_value": on_false_value}
    return result("range_select", isa.range_select, data, operands, options, dtype=data.dtype, given=dtype, mask=mask,
                  also_written=("reduce_res",) if reduce_res is not None else ())


def select_reduce(*, dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=_reduce_cmd.idle,
                  reduce_op=TOKENS["maximum"], reverse_pred=False, mask=None, dtype=None):
    """dst = on_true where predicate is not zero, on_false (a number or [P, 1] tile) elsewhere; with a reduction."""
    now()
    dst = tile(dst, "select_reduce", "dst")
    predicate, on_true = _bits(tile(predicate, "select_reduce", "predicate")), tile(on_true, "select_reduce", "on_true")
    on_false = operand(on_false, "select_reduce", "on_false")
    for ranges in parts_of(mask, dst.shape, "select_reduce", whole_axes=range(1, dst.ndim)):
        part = {key: native(shrink(value, ranges, dst.shape))
                for key, value in {"predicate": predicate, "on_true": on_true, "on_false": on_false}.items()}
        if reduce_res is not None:
            part["reduce_res"] = shrink(tile(reduce_res, "select_reduce", "reduce_res"), ranges, dst.shape).target()
        isa.select_reduce(dst=shrink(dst, ranges, dst.shape).target(), reduce_cmd=reduce_cmd, reduce_op=token(reduce_op),
                          reverse_pred=reverse_pred, **part)


def sequence_bounds(*, segment_ids, dtype=None):
    """First and last position of each element's segment: [1, N] -> [1, 2, N]."""
    ids = tile(segment_ids, "sequence_bounds", "segment_ids")

    def emit(dst, accumulate):
        isa.sequence_bounds(dst=dst.target(), segment_ids=ids.tensor)

    return defer("sequence_bounds", emit, (ids.shape[0], 2, ids.size // ids.shape[0]), dtype_of(dtype) if dtype else ids.dtype,
                 ("SBUF",), exact=True)


def local_gather(src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, *, mask=None):
    """Runs of `num_elem_per_idx` elements chosen by the indices of each 16 partitions."""
    src, index = tile(src_buffer, "local_gather", "src_buffer"), tile(index, "local_gather", "index")
    _no_mask(mask, "local_gather")
    columns = index.size // index.shape[0]
    count = 16 * columns if num_valid_indices is None else num_valid_indices
    shape = (src.shape[0], columns, 16, num_elem_per_idx) if count == 16 * columns else (src.shape[0], count, num_elem_per_idx)

    def emit(dst, accumulate):
        isa.local_gather(dst=dst.target(), src_buffer=src.tensor, index=index.tensor, num_elem_per_idx=num_elem_per_idx,
                         num_valid_indices=num_valid_indices)

    return defer("local_gather", emit, shape, src.dtype, ("SBUF",), exact=True)


def _no_mask(mask, name):
    if mask is not None and mask is not True:
        refuse("mask.instruction", f"{name} takes no mask in the simulator; give it the part of the tile by a subscript")


def nc_n_gather(data, indices, *, mask=None, dtype=None):
    """result[p, j] = data[p, indices[p, j]], the free axes of data flattened."""
    data, indices = tile(data, "nc_n_gather", "data"), tile(indices, "nc_n_gather", "indices")
    return result("nc_n_gather", isa.nc_n_gather, indices, {"data": data, "indices": indices}, {}, dtype=data.dtype,
                  given=dtype, mask=mask, spaces=("SBUF",), exact=True)


def _search(name, function, operands, data, shape, dtype, mask, more=None, spaces=("SBUF", "PSUM")):
    """Instructions that look through the free axes of `data`; a mask narrows data and, by rows, the rest."""
    parts = parts_of(mask, data.shape, name, whole_axes=tuple(range(1, data.ndim)))

    def rows_of(value, ranges):
        if value is data or value.shape == data.shape:
            return shrink(value, ranges, data.shape)
        return value if ranges is None else value.part([ranges[0]] + [None] * (value.ndim - 1))

    def emit(dst, accumulate):
        for ranges in parts:
            arguments = {key: (rows_of(value, ranges).target() if key == "dst_idx" else rows_of(value, ranges).tensor)
                         for key, value in operands.items()}
            function(dst=rows_of(dst, ranges).target(), **arguments, **(more or {}))

    return defer(name, emit, shape, dtype, spaces, exact=True)


def max8(*, src, mask=None, dtype=None):
    """The eight largest elements of each partition, in descending order: [P, 8]."""
    src = tile(src, "max8", "src")
    return _search("max8", isa.max8, {"src": src}, src, (src.shape[0], 8), dtype_of(dtype) if dtype else src.dtype, mask)


def nc_find_index8(*, data, vals, mask=None, dtype=None):
    """Where in each partition of `data` its eight values of `vals` stand: uint32 [P, 8]."""
    data, vals = tile(data, "nc_find_index8", "data"), tile(vals, "nc_find_index8", "vals")
    return _search("nc_find_index8", isa.nc_find_index8, {"data": data, "vals": vals}, data, (data.shape[0], 8),
                   dtype_of(dtype) if dtype else dtypes.uint32, mask)


def nc_match_replace8(*, data, vals, imm, dst_idx=None, mask=None, dtype=None):
    """data with the first element equal to each of the eight `vals` replaced by `imm`; their positions to `dst_idx`."""
    data, vals = tile(data, "nc_match_replace8", "data"), tile(vals, "nc_match_replace8", "vals")
    operands = {"data": data, "vals": vals}
    if dst_idx is not None:
        operands["dst_idx"] = tile(dst_idx, "nc_match_replace8", "dst_idx")
    return _search("nc_match_replace8", isa.nc_match_replace8, operands, data, data.shape,
                   dtype_of(dtype) if dtype else data.dtype, mask, {"imm": float(imm)})


def nc_stream_shuffle(src, dst, shuffle_mask, *, dtype=None, mask=None):
    """Partitions of each quadrant of `dst` from the partitions of `src` that shuffle_mask lists."""
    now()
    _no_mask(mask, "nc_stream_shuffle")
    isa.nc_stream_shuffle(dst=tile(dst, "nc_stream_shuffle", "dst").target(), src=tile(src, "nc_stream_shuffle", "src").tensor,
                          shuffle_mask=list(shuffle_mask))


def dma_copy(*, dst, src, mask=None, dst_rmw_op=None, oob_mode=_oob_mode.error, dge_mode=_dge_mode.unknown):
    """Copy between HBM and SBUF by DMA; rows of one side may be chosen by an index tile. dst_rmw_op=np.add adds to dst."""
    now()
    for name, value in (("dst", dst), ("src", src)):
        if not is_tile(value):
            refuse("dma_copy.argument", f"dma_copy: {name} must be a tensor, got {type(value).__name__}")
    options = {"dge_mode": dge_mode}
    if isinstance(dst, Indirect) or isinstance(src, Indirect):
        _no_mask(mask, "dma_copy with an index tile")
        return _dma_rows(dst, src, dst_rmw_op, {"oob_mode": oob_mode, **options})
    if dst_rmw_op is not None:
        refuse("dma_copy.rmw", "dma_copy: dst_rmw_op works on rows chosen by an index tile: dst[index_tile, i_f]")
    for ranges in parts_of(mask, dst.shape, "dma_copy", rows=True):
        isa.dma_copy(dst=shrink(dst, ranges, dst.shape).target(), src=shrink(src, ranges, dst.shape).tensor, **options)
    return None


def _dma_rows(dst, src, rmw, options):
    if isinstance(dst, Indirect) and isinstance(src, Indirect):
        refuse("dma_copy.both_indexed", "dma_copy: only one of dst and src can be indexed by a tile")
    if isinstance(src, Indirect):
        isa.dma_copy(dst=dst.target(), src=src.rows.tensor, src_index=src.index.tensor, **options)
        return
    value = src.tensor
    if rmw is not None:
        if token(rmw).name not in ("add", "sum"):
            refuse("dma_copy.rmw", f"dma_copy: dst_rmw_op is {token(rmw).name}; only np.add is known")
        value = _added(dst, value, options)
    isa.dma_copy(dst=dst.rows.target(), src=value, dst_index=dst.index.tensor, **options)


def _added(dst, value, options):
    """The rows of dst plus `value`: read, added and, by the caller, written back, as the DMA engine does on its way."""
    launch = session.current().launch
    old = launch.tensor("SBUF", value.shape, value.dtype, "dma_copy.rows")
    isa.dma_copy(dst=old, src=dst.rows.tensor, src_index=dst.index.tensor, **options)
    isa.tensor_tensor(dst=old, data1=old, data2=value, op=TOKENS["add"])
    return old


def dma_transpose(src, *, axes=None, mask=None, dtype=None, dge_mode=_dge_mode.unknown):
    """A tile in SBUF with the outer and inner axes of `src` exchanged, by DMA; from HBM or SBUF."""
    _no_mask(mask, "dma_transpose")
    if not is_tile(src):
        refuse("dma_transpose.argument", f"dma_transpose: src must be a tensor, got {type(src).__name__}")
    rank = len(src.shape)
    order = tuple(axes) if axes is not None else (rank - 1,) + tuple(range(1, rank - 1)) + (0,)
    shape = tuple(src.shape[d] for d in order)
    options = {"dge_mode": dge_mode} if axes is None else {"axes": order, "dge_mode": dge_mode}

    def emit(dst, accumulate):
        if isinstance(src, Indirect):
            isa.dma_transpose(dst=dst.target(), src=src.rows.tensor, src_index=src.index.tensor, **options)
        else:
            isa.dma_transpose(dst=dst.target(), src=src.tensor, **options)

    transposed = defer("dma_transpose", emit, shape, src.dtype, ("SBUF",), exact=True)
    return transposed if dtype is None or dtype_of(dtype) == src.dtype else tensor_copy(transposed, dtype=dtype)


