"""DMA instructions on views whose rows are chosen when the kernel runs."""

from trnsim import _native, releases
from trnsim.lowering.tiles import refuse
from trnsim.nki.language.indirect import OutsideView, RowsView

_dma_copy = _native.isa.dma_copy
_dma_transpose = _native.isa.dma_transpose
_dma_compute = _native.isa.dma_compute
_AT_RUN_TIME = (RowsView, OutsideView)
_error = _native.choices.oob_mode["error"]
_skip = _native.choices.oob_mode["skip"]


def dma_copy(dst, src, *args, dst_rmw_op=None, unique_indices=True, **kwargs):
    """dst = src by DMA, converted to dst's dtype. Arguments: see nki.isa.dma_copy.__doc__ of the native
    instruction. dst_rmw_op and unique_indices are release 0.2's: dma_compute since then."""
    if dst_rmw_op is not None:
        options = {name: kwargs[name] for name in ("oob_mode", "name") if name in kwargs}
        return dma_compute(dst, [src, dst], dst_rmw_op, unique_indices=unique_indices, **options)
    if isinstance(dst, _AT_RUN_TIME) or isinstance(src, _AT_RUN_TIME):
        return _indirect(_dma_copy, dst, src, args, kwargs)
    return _dma_copy(dst, src, *args, **kwargs)


def dma_transpose(dst, src, *args, **kwargs):
    """dst = src with its first and last dimensions exchanged, by DMA."""
    if getattr(dst, "ndim", 0) < getattr(src, "ndim", 0) and releases.applies("dma_transpose pads rank"):
        for _ in range(src.ndim - dst.ndim):
            dst = dst.expand_dim(1)
    if isinstance(dst, _AT_RUN_TIME) or isinstance(src, _AT_RUN_TIME):
        return _indirect(_dma_transpose, dst, src, args, kwargs)
    if getattr(src, "is_dynamic", False) and _skips("dma_transpose", args, kwargs):
        # The address turned out to be inside, so that there is nothing to skip.
        args, kwargs = args[: _OOB_PLACE["dma_transpose"]], {**kwargs, "oob_mode": None}
    return _dma_transpose(dst, src, *args, **kwargs)


_OOB_PLACE = {"dma_copy": 1, "dma_transpose": 3}  # of oob_mode, after dst and src


def _skips(name, args, kwargs) -> bool:
    place = _OOB_PLACE[name]
    return (args[place] if len(args) > place else kwargs.get("oob_mode")) is _skip


def dma_compute(
    dst, srcs, reduce_op=None, scales=None, unique_indices=True, oob_mode=_error, name=None
):
    """dst = sum of srcs in float32, by DMA.

    With a vector_offset, a read-modify-write of rows in HBM: dst(HBM)[rows] += src(SBUF), where dst is among
    srcs too, or dst(SBUF) += src(HBM)[rows]. `scales`: None or all 1.0; release 0.2 passed them before reduce_op.
    """
    if isinstance(reduce_op, (list, tuple)):
        reduce_op, scales = scales, reduce_op
    if not isinstance(srcs, (list, tuple)):
        refuse("dma_compute.argument", f"dma_compute: srcs must be a list of tensors, got {srcs!r}")
    options = {"reduce_op": reduce_op, "scales": scales, "oob_mode": oob_mode, "name": name}
    options["unique_indices"] = unique_indices
    if _left_out("dma_compute", (dst, *srcs), oob_mode is _skip):
        return None
    rows = [source for source in srcs if isinstance(source, RowsView)]
    if isinstance(dst, RowsView):
        if len(rows) != 1 or not _same_rows(rows[0], dst):
            refuse(
                "dma_compute.read_modify_write",
                "dma_compute: dst is indexed by a tile; one of srcs must be dst at the same rows, and only one",
            )
        dst = dst.rows
    elif len(rows) > 1 or rows and getattr(dst, "space", None) == "HBM":
        refuse(
            "dma_compute.read_modify_write",
            "dma_compute: one source can be indexed by a tile, and then dst is in SBUF or at the same rows",
        )
    if not rows:
        return _dma_compute(dst, srcs, **options)
    others = [source for source in srcs if source is not rows[0]]
    return _dma_compute(dst, [rows[0].rows, *others], index=rows[0].column(), **options)


def _same_rows(view, other) -> bool:
    """Whether two indexed views name the same rows of the same tensor."""
    pairs = ((view.rows, other.rows), (view.index, other.index))
    return all(
        a.same_storage(b) and (a.offset, a.shape, a.strides) == (b.offset, b.shape, b.strides) for a, b in pairs
    )


def _left_out(name, sides, skip: bool) -> bool:
    """Whether oob_mode skip leaves the transfer out, because one of its sides does not exist."""
    for side in sides:
        if isinstance(side, OutsideView):
            if skip:
                return True
            side.fail(name)
    return False


def _indirect(instruction, dst, src, args, kwargs):
    name = instruction.__name__
    if _left_out(name, (dst, src), _skips(name, args, kwargs)):
        return None
    if isinstance(src, RowsView):
        kwargs["src_index"] = src.index if name == "dma_transpose" else src.column()
        src = src.rows
    if isinstance(dst, RowsView):
        kwargs["dst_index"] = dst.column()
        dst = dst.rows
    return instruction(dst, src, *args, **kwargs)


for _wrapper, _native_function in ((dma_copy, _dma_copy), (dma_transpose, _dma_transpose)):
    _wrapper.__doc__ = _native_function.__doc__
