"""DMA instructions on views whose rows are chosen when the kernel runs."""

from trnsim import _native
from trnsim.nki.language.indirect import OutsideView, RowsView

_dma_copy = _native.isa.dma_copy
_dma_transpose = _native.isa.dma_transpose
_AT_RUN_TIME = (RowsView, OutsideView)
_skip = _native.choices.oob_mode["skip"]


def dma_copy(dst, src, *args, **kwargs):
    """dst = src by DMA, converted to dst's dtype. Arguments: see nki.isa.dma_copy.__doc__ of the native
    instruction."""
    if isinstance(dst, _AT_RUN_TIME) or isinstance(src, _AT_RUN_TIME):
        return _indirect(_dma_copy, dst, src, args, kwargs)
    return _dma_copy(dst, src, *args, **kwargs)


def dma_transpose(dst, src, *args, **kwargs):
    """dst = src with its first and last dimensions exchanged, by DMA."""
    if isinstance(dst, _AT_RUN_TIME) or isinstance(src, _AT_RUN_TIME):
        return _indirect(_dma_transpose, dst, src, args, kwargs)
    return _dma_transpose(dst, src, *args, **kwargs)


def _indirect(instruction, dst, src, args, kwargs):
    name = instruction.__name__
    for side in (dst, src):
        if isinstance(side, OutsideView):
            if kwargs.get("oob_mode") is _skip:
                return None
            side.fail(name)
    if isinstance(src, RowsView):
        kwargs["src_index"] = src.index if name == "dma_transpose" else src.column()
        src = src.rows
    if isinstance(dst, RowsView):
        kwargs["dst_index"] = dst.column()
        dst = dst.rows
    return instruction(dst, src, *args, **kwargs)


for _wrapper, _native_function in ((dma_copy, _dma_copy), (dma_transpose, _dma_transpose)):
    _wrapper.__doc__ = _native_function.__doc__
