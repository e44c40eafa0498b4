"""Constants, index values, and selection by a condition."""

from trnsim import dtypes, lowering
from trnsim.beta1.deferred import defer
from trnsim.beta1.enums import engine, reduce_cmd
from trnsim.beta1.index import Affine
from trnsim.beta1.issue import dtype_of, isa, native, now, operand, parts_of, result, shrink, tile
from trnsim.beta1.mask import Mask
from trnsim.lowering.tiles import name_of_dtype, refuse
from trnsim.lowering.tokens import TOKENS, token

FP32_MIN = -3.4028234663852886e38


def memset(shape, value, dtype, *, mask=None, engine=engine.unknown):
    """A tile of one number."""
    parts = parts_of(mask, tuple(shape), "memset")

    def emit(dst, accumulate):
        for ranges in parts:
            isa.memset(dst=shrink(dst, ranges, tuple(shape)).target(), value=value, engine=engine)

    return defer("memset", emit, tuple(shape), dtype_of(dtype), exact=True)


def iota(expr, dtype, *, mask=None):
    """The values of an index expression of nl.arange: an int32 per element on GpSimd, converted to
    `dtype`."""
    if not isinstance(expr, Affine) or expr.ndim < 2:
        refuse(
            "iota.expr",
            "iota: expr must be an index expression with a partition and a free axis, such as "
            f"nl.arange(n)[None, :]; got {expr!r}",
        )
    parts = parts_of(mask, expr.shape, "iota")

    def emit(dst, accumulate):
        for ranges in parts:
            starts = [r[0] for r in ranges] if ranges else [0] * expr.ndim
            out = shrink(dst, ranges, expr.shape)
            offset = expr.const + sum(c * start for c, start in zip(expr.coefs, starts))
            isa.iota(
                dst=out.target(),
                pattern=_pattern(expr.coefs, out.shape),
                offset=offset,
                channel_multiplier=expr.coefs[0],
            )

    return defer("iota", emit, expr.shape, dtype_of(dtype), ("SBUF",), exact=True)


def _pattern(coefs, shape):
    return [[coef, size] for coef, size in list(zip(coefs, shape))[1:]]


def affine_select(pred, on_true_tile, on_false_value, *, mask=None, dtype=None):
    """on_true_tile where `pred`, one comparison of index expressions, holds; the number on_false_value
    elsewhere. GpSimd, which runs it, does not reach PSUM: a tile there is copied to SBUF first."""
    data = tile(on_true_tile, "affine_select", "on_true_tile")
    if not isinstance(pred, Mask) or len(pred.terms) != 1:
        refuse(
            "affine_select.pred",
            "affine_select: pred must be one comparison of nl.arange or nl.mgrid expressions, such as "
            f"(i_f <= i_p); got {type(pred).__name__}. Two conditions need two instructions.",
        )
    expression, op = pred.terms[0]
    expression = expression.to_rank(data.ndim)
    parts = parts_of(mask, data.shape, "affine_select")

    def emit(dst, accumulate):
        for ranges in parts:
            starts = [r[0] for r in ranges] if ranges else [0] * data.ndim
            out = shrink(dst, ranges, data.shape)
            offset = expression.const + sum(c * start for c, start in zip(expression.coefs, starts))
            kept = shrink(data, ranges, data.shape).tensor
            isa.affine_select(
                dst=out.target(),
                pattern=_pattern(expression.coefs, out.shape),
                channel_multiplier=expression.coefs[0],
                on_true_tile=lowering.copy(kept) if data.space == "PSUM" else kept,
                on_false_value=on_false_value,
                cmp_op=TOKENS[op],
                offset=offset,
            )

    return defer(
        "affine_select",
        emit,
        data.shape,
        dtype_of(dtype) if dtype else data.dtype,
        ("SBUF",),
        exact=dtype is not None,
    )


def tensor_copy_predicated(*, src, dst, predicate, mask=None, reverse_pred=False):
    """dst = src where predicate is not zero; `dst` keeps its other elements."""
    now()
    dst, predicate = tile(dst, "tensor_copy_predicated", "dst"), _bits(
        tile(predicate, "tensor_copy_predicated", "predicate")
    )
    src = operand(src, "tensor_copy_predicated", "src")
    for ranges in parts_of(mask, dst.shape, "tensor_copy_predicated"):
        isa.tensor_copy_predicated(
            dst=shrink(dst, ranges, dst.shape).target(),
            src=native(shrink(src, ranges, dst.shape)),
            predicate=shrink(predicate, ranges, dst.shape).tensor,
            reverse_pred=reverse_pred,
        )


def _bits(predicate):
    """Predicates are unsigned integers to the hardware; a bool is one byte."""
    return predicate.view(dtypes.uint8) if name_of_dtype(predicate.dtype) == "bool" else predicate


def range_select(
    *,
    on_true_tile,
    comp_op0,
    comp_op1,
    bound0,
    bound1,
    reduce_cmd=reduce_cmd.idle,
    reduce_res=None,
    reduce_op=TOKENS["maximum"],
    range_start=0,
    on_false_value=FP32_MIN,
    mask=None,
    dtype=None,
):
    """on_true_tile where its position lies between the [P, 1] bounds, on_false_value elsewhere; with a
    reduction."""
    return result(
        "range_select",
        {"on_true_tile": on_true_tile, "bound0": bound0, "bound1": bound1, "reduce_res": reduce_res},
        options={
            "comp_op0": token(comp_op0),
            "comp_op1": token(comp_op1),
            "reduce_cmd": reduce_cmd,
            "reduce_op": token(reduce_op),
            "range_start": range_start,
            "on_false_value": on_false_value,
        },
        given=dtype,
        mask=mask,
        written=("reduce_res",),
    )


def select_reduce(
    *,
    dst,
    predicate,
    on_true,
    on_false,
    reduce_res=None,
    reduce_cmd=reduce_cmd.idle,
    reduce_op=TOKENS["maximum"],
    reverse_pred=False,
    mask=None,
    dtype=None,
):
    """dst = on_true where predicate is not zero, on_false (a number or [P, 1] tile) elsewhere; with a
    reduction."""
    now()
    dst = tile(dst, "select_reduce", "dst")
    predicate, on_true = _bits(tile(predicate, "select_reduce", "predicate")), tile(
        on_true, "select_reduce", "on_true"
    )
    on_false = operand(on_false, "select_reduce", "on_false")
    for ranges in parts_of(mask, dst.shape, "select_reduce", whole_axes=range(1, dst.ndim)):
        part = {
            key: native(shrink(value, ranges, dst.shape))
            for key, value in {"predicate": predicate, "on_true": on_true, "on_false": on_false}.items()
        }
        if reduce_res is not None:
            part["reduce_res"] = shrink(
                tile(reduce_res, "select_reduce", "reduce_res"), ranges, dst.shape
            ).target()
        isa.select_reduce(
            dst=shrink(dst, ranges, dst.shape).target(),
            reduce_cmd=reduce_cmd,
            reduce_op=token(reduce_op),
            reverse_pred=reverse_pred,
            **part,
        )


def sequence_bounds(*, segment_ids, dtype=None):
    """First and last position of each element's segment: [1, N] -> [1, 2, N]."""
    ids = tile(segment_ids, "sequence_bounds", "segment_ids")

    def emit(dst, accumulate):
        isa.sequence_bounds(dst=dst.target(), segment_ids=ids.tensor)

    return defer(
        "sequence_bounds",
        emit,
        (ids.shape[0], 2, ids.size // ids.shape[0]),
        dtype_of(dtype) if dtype else ids.dtype,
        ("SBUF",),
        exact=True,
    )
