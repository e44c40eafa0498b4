"""Rules of single instructions that a named release has and today's does not, on the arguments of a call.

Each changes the arguments or raises ProgramError. What holds without a named release as well is with the functions
themselves.
"""

import numbers

import numpy as np

from trnsim import _native, releases


def _integer_dtype(tensor) -> bool:
    return tensor.dtype_name.startswith(("int", "uint"))


def _memset(arguments) -> None:
    dst, value = arguments.get("dst"), arguments.get("value")
    if releases.applies("memset converts") or not isinstance(dst, _native.Tensor):
        return
    if _integer_dtype(dst) and isinstance(value, (float, np.floating)):
        given = f": dst is {dst.dtype_name}, value is {value!r}"
        releases.refuse("memset.value_dtype", "memset", "memset converts", given)


def _tensor_reduce(arguments) -> None:
    axis, data = arguments.get("axis"), arguments.get("data")
    if not releases.applies("tensor_reduce last axis") or not isinstance(data, _native.Tensor):
        return
    if data.ndim > 2 and (axis == 1 if isinstance(axis, numbers.Integral) else tuple(axis or ()) == (1,)):
        arguments["axis"] = data.ndim - 1


def _range_select(arguments) -> None:
    if releases.applies("range_select fixed"):
        arguments["on_false_value"] = float(np.finfo(np.float32).min)
        arguments["reduce_cmd"] = _native.choices.reduce_cmd["reset_reduce"]


def _dma_copy(arguments) -> None:
    dst, src = arguments.get("dst"), arguments.get("src")
    if not (isinstance(dst, _native.Tensor) and isinstance(src, _native.Tensor)):
        return
    hardware = arguments.get("dge_mode") is _native.choices.dge_mode["hwdge"]
    if hardware and dst.dtype_name != src.dtype_name and not releases.applies("hwdge converts"):
        given = f": src is {src.dtype_name}, dst is {dst.dtype_name}; view one as the other"
        releases.refuse("dma_copy.hwdge_dtype", "dma_copy", "hwdge converts", given)
    if src.space == "PSUM" and releases.applies("DMA reads PSUM"):
        copied = _tile_like(src)
        _native.isa.tensor_copy(copied, src)
        arguments["src"] = copied


def _tile_like(tensor):
    from trnsim.lowering.tiles import new

    return new(tensor.shape, tensor.dtype, "dma_copy.psum")


RULES = {
    "nki.isa.dma_copy": _dma_copy,
    "nki.isa.memset": _memset,
    "nki.isa.range_select": _range_select,
    "nki.isa.tensor_reduce": _tensor_reduce,
}
