"""DMA between and within HBM and SBUF."""

from trnsim.beta1.deferred import defer
from trnsim.beta1.enums import dge_mode, oob_mode
from trnsim.beta1.indirect import Indirect
from trnsim.beta1.instructions.elementwise import tensor_copy
from trnsim.beta1.issue import dtype_of, is_tile, isa, native, no_mask, now, parts_of, shrink
from trnsim.lowering.tiles import refuse
from trnsim.lowering.tokens import TOKENS, token

_SKIP = oob_mode.skip


def dma_copy(*, dst, src, mask=None, dst_rmw_op=None, oob_mode=oob_mode.error, dge_mode=dge_mode.unknown):
    """Copy between HBM and SBUF by DMA; rows of one side may be chosen by an index tile. dst_rmw_op=np.add
    adds to dst."""
    now()
    for name, value in (("dst", dst), ("src", src)):
        if not is_tile(value):
            refuse("dma_copy.argument", f"dma_copy: {name} must be a tensor, got {type(value).__name__}")
    indexed = isinstance(dst, Indirect) or isinstance(src, Indirect)
    options = {"oob_mode": oob_mode, "dge_mode": dge_mode} if indexed else {"dge_mode": dge_mode}
    if dst_rmw_op is not None:
        if token(dst_rmw_op).name not in ("add", "sum"):
            refuse("dma_copy.rmw", f"dma_copy: dst_rmw_op is {token(dst_rmw_op).name}; only np.add is known")
        if oob_mode is _SKIP:
            refuse("dma_copy.rmw", "dma_copy: dst_rmw_op goes with oob_mode.error only")
    for ranges in parts_of(mask, dst.shape, "dma_copy", rows=True):
        part, source = shrink(dst, ranges, dst.shape), shrink(src, ranges, dst.shape)
        if dst_rmw_op is None:
            move(part, source, options)
        else:
            _add(part, source)


def move(dst, src, options) -> None:
    """One dma_copy; one side may have its rows chosen by an index tile. src: a tile or a native tensor."""
    if isinstance(dst, Indirect) and isinstance(src, Indirect):
        refuse("dma_copy.both_indexed", "dma_copy: only one of dst and src can be indexed by a tile")
    if isinstance(src, Indirect):
        isa.dma_copy(dst=dst.target(), src=src.rows.tensor, src_index=src.index.tensor, **options)
    elif isinstance(dst, Indirect):
        isa.dma_copy(dst=dst.rows.target(), src=native(src), dst_index=dst.index.tensor, **options)
    else:
        isa.dma_copy(dst=dst.target(), src=native(src), **options)


def _add(dst, src) -> None:
    """dst += src, read, added and written back by the DMA engine."""
    if isinstance(src, Indirect):
        refuse("dma_copy.rmw", "dma_copy: with dst_rmw_op only dst can be indexed by a tile")
    if isinstance(dst, Indirect):
        rows, options = dst.rows.target(), {"index": dst.index.tensor}
    else:
        rows, options = dst.target(), {}
    isa.dma_compute(dst=rows, srcs=[rows, src.tensor], reduce_op=TOKENS["add"], **options)


def dma_transpose(src, *, axes=None, mask=None, dtype=None, dge_mode=dge_mode.unknown):
    """A tile in SBUF with the outer and inner axes of `src` exchanged, by DMA; from HBM or SBUF."""
    no_mask(mask, "dma_transpose")
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
    return (
        transposed if dtype is None or dtype_of(dtype) == src.dtype else tensor_copy(transposed, dtype=dtype)
    )
