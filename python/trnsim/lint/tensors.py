"""Tensors in the wrong place or of a shape that the hardware does not take, where the text settles it."""

import ast
from math import prod

from trnsim.lint.rule import BLOCKS, ISA, TO_0_2, TO_0_3, TO_0_5, Rule
from trnsim.lint.values import Tensor, argument

RULES = (
    Rule("tensor.block_dimension", "error", "0.2", "", "the first dimension of an on-chip tensor is its partitions",
         "make a list of tensors, or put the other dimensions behind", BLOCKS),
    Rule("tensor.partitions", "error", "beta1", "", "an on-chip tensor has at most 128 partitions",
         "tile the first dimension by nl.tile_size.pmax", ISA),
    Rule("tensor.bounds", "error", "beta1", "", "an index reaches beyond the tensor",
         "end the slice at the size, such as with min()", ISA),
    Rule("tensor.start_partition", "error", "beta1", "", "engines start at partition 0, 32, 64 or 96, at 0 for more "
         "than 64 partitions, at 0 or 64 for more than 32", "move the tile with nisa.dma_copy first", ISA),
    Rule("tensor.matmul_dst", "error", "beta1", "", "nc_matmul writes into PSUM", "allocate dst with buffer=nl.psum",
         ISA),
    Rule("tensor.matmul_operand", "error", "0.2", "", "nc_matmul reads from SBUF",
         "copy the tile with nisa.tensor_copy first", ISA),
    Rule("tensor.psum_dma", "error", "0.3", "", "dma_copy cannot read PSUM", "copy it to SBUF with nisa.tensor_copy "
         "first", TO_0_3),
    Rule("tensor.output", "error", "0.3", "", "a kernel returns tensors in nl.shared_hbm",
         "allocate it with buffer=nl.shared_hbm", TO_0_3),
    Rule("tensor.output_on_chip", "warning", "0.3", "", "a kernel that Python launches returns tensors in "
         "nl.shared_hbm", "copy it there with nisa.dma_copy", TO_0_3),
    Rule("tensor.memset_value", "error", "0.3", "", "the value of memset is of dst's dtype", "write an integer",
         TO_0_3),
    Rule("tensor.memset_x4", "error", "0.3", "", "packed x4 tensors can be set to 0 only",
         "load the values with nisa.dma_copy", TO_0_3),
    Rule("tensor.reshape", "error", "0.5", "", "reshape keeps the number of elements", "give the same number", TO_0_5),
    Rule("tensor.nested_index", "error", "0.2", "0.2", "a slice cannot be sliced again", "combine both in one index",
         TO_0_2),
    Rule("tensor.hwdge_dtype", "error", "0.3", "", "hardware DGE moves between equal dtypes only",
         "use .view() on one side, or dge_mode.swdge", TO_0_3),
    Rule("tensor.dma_transpose_rank", "error", "0.4", "", "dst of dma_transpose has the rank of src",
         "give both the same rank", "NKI migration guide, 0.3 to 0.4"),
)  # fmt: skip

_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
_ON_CHIP = ("sbuf", "psum")
_DMA = ("dma_copy", "dma_transpose", "dma_compute", "sendrecv", "register_load", "register_store")


def check(item):
    """Yields (rule, node, what exactly)."""
    if isinstance(item.node, ast.ClassDef):
        return
    for tensor in item.values.tensors.values():
        yield from _allocation(item, tensor)
    for node in item.nodes():
        if isinstance(node, ast.Subscript):
            yield from _subscript(item, node)
        elif isinstance(node, ast.Return) and item.launched:
            yield from _returned(item, node)
        elif isinstance(node, ast.AugAssign) and item.old:
            yield from _old_product(item, node)
        elif isinstance(node, ast.Call):
            name = item.name_of(node.func)
            if name.startswith("nki.isa.") and not item.old:
                yield from _instruction(item, node, name.removeprefix("nki.isa."))
            elif isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
                yield from _reshape(item, node)


def _allocation(item, tensor: Tensor):
    shape = argument(tensor.node, "shape", 0)
    elements = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else []
    if not item.old:
        for element in elements[1:]:
            if isinstance(element, ast.Call) and item.values.language(element.func) == "par_dim":
                yield "tensor.block_dimension", element, f"not '{ast.unparse(element)}'"
                return
    if tensor.buffer in _ON_CHIP and tensor.shape and tensor.shape[0] is not None and not _has_blocks(item, elements):
        if tensor.shape[0] > 128:
            yield "tensor.partitions", elements[0], f"not {tensor.shape[0]}"


def _has_blocks(item, elements):
    return item.old and (len(elements) > 2 or any(isinstance(e, ast.Call) for e in elements))


def _indices(node):
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _range(item, index, size):
    """(start, stop) of an index where the text settles both; None where it does not."""
    if isinstance(index, ast.Slice):
        start = 0 if index.lower is None else item.values.number(index.lower)
        stop = size if index.upper is None else item.values.number(index.upper)
        return (start, stop) if start is not None and stop is not None and index.step is None else None
    start = item.values.number(index)
    return None if start is None else (start, start + 1)


def _plain(item, node):
    """The tensor and (start, stop) per index of a subscript of a whole tensor."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return None, ()
    tensor = item.values.tensor(node.value)
    indices = _indices(node)
    if tensor is None or tensor.shape is None or len(indices) > len(tensor.shape):
        return None, ()
    if any(isinstance(i, ast.Constant) and i.value in (None, ...) or isinstance(i, ast.Starred) for i in indices):
        return None, ()
    return tensor, [_range(item, index, size) for index, size in zip(indices, tensor.shape)]


def _subscript(item, node):
    if not item.old and isinstance(node.value, ast.Subscript) and item.values.tensor(node) is not None:
        yield "tensor.nested_index", node, f"'{ast.unparse(node)}'"
    tensor, ranges = _plain(item, node)
    for reached, size in zip(ranges, tensor.shape if tensor else ()):
        if reached and size is not None and reached[0] >= 0 and (reached[1] > size or reached[0] >= size):
            yield "tensor.bounds", node, f"'{ast.unparse(node)}' ends at {reached[1]} of {size}"
            return


def _returned(item, node):
    values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    for value in values:
        tensor = item.values.tensor(value) if isinstance(value, ast.Name) else None
        if tensor is not None and tensor.buffer in ("hbm", "private_hbm", *_ON_CHIP) and not item.old:
            rule = "tensor.output_on_chip" if tensor.buffer in _ON_CHIP else "tensor.output"
            yield rule, value, f"'{value.id}' is in nl.{tensor.buffer}"


def _old_product(item, node):
    product = isinstance(node.value, ast.Call) and item.name_of(node.value.func) == "nki.isa.nc_matmul"
    tensor = item.values.tensor(node.target)
    if product and tensor is not None and tensor.buffer == "sbuf":
        yield "tensor.matmul_dst", node, f"'{ast.unparse(node.target)}' is in nl.sbuf"


def _instruction(item, node, name):
    values = item.values
    dst = argument(node, "dst", 0)
    into = values.tensor(dst) if dst is not None else None
    if name in ("nc_matmul", "nc_matmul_mx"):
        if into is not None and into.buffer and into.buffer != "psum":
            yield "tensor.matmul_dst", dst, f"'{ast.unparse(dst)}' is in nl.{into.buffer}"
        for operand, place in (("stationary", 1), ("moving", 2)):
            given = argument(node, operand, place)
            tensor = values.tensor(given) if given is not None else None
            if tensor is not None and tensor.buffer and tensor.buffer != "sbuf":
                yield "tensor.matmul_operand", given, f"{operand} '{ast.unparse(given)}' is in nl.{tensor.buffer}"
    elif name == "dma_copy":
        yield from _dma(values, node, into)
    elif name == "memset" and into is not None:
        yield from _memset(node, into)
    elif name == "dma_transpose":
        src = argument(node, "src", 1)
        source = values.tensor(src) if isinstance(src, ast.Name) and isinstance(dst, ast.Name) else None
        if source and into and source.shape and into.shape and len(source.shape) != len(into.shape):
            yield "tensor.dma_transpose_rank", dst, f"{len(into.shape)} dimensions against {len(source.shape)}"
    if name not in _DMA:
        for operand in [*node.args, *[k.value for k in node.keywords]]:
            yield from _start(item, operand)


def _dma(values, node, into):
    src = argument(node, "src", 1)
    source = values.tensor(src) if src is not None else None
    if source is not None and source.buffer == "psum":
        yield "tensor.psum_dma", src, f"'{ast.unparse(src)}'"
    mode = argument(node, "dge_mode", 99)
    if mode is not None and ast.unparse(mode).endswith("hwdge") and source and into and source.dtype and into.dtype:
        if source.dtype != into.dtype:
            yield "tensor.hwdge_dtype", mode, f"not from {source.dtype} to {into.dtype}"


def _memset(node, into):
    value = argument(node, "value", 1)
    if not isinstance(value, ast.Constant):
        return
    if into.dtype in _INTEGERS and isinstance(value.value, float):
        yield "tensor.memset_value", value, f"{value.value!r} for {into.dtype}"
    elif into.dtype.endswith("_x4") and value.value:
        yield "tensor.memset_x4", value, f"not {value.value!r}"


def _start(item, operand):
    tensor, ranges = _plain(item, operand)
    if tensor is None or tensor.buffer not in _ON_CHIP or not ranges or ranges[0] is None:
        return
    start, stop = ranges[0]
    step = 128 if stop - start > 64 else 64 if stop - start > 32 else 32
    if stop > start and start % step:
        yield "tensor.start_partition", operand, f"'{ast.unparse(operand)}' starts at {start}"


def _reshape(item, node):
    tensor = item.values.tensor(node.func.value) if isinstance(node.func.value, ast.Name) else None
    shape = node.args[0] if len(node.args) == 1 else None
    if tensor is None or not tensor.shape or None in tensor.shape or not isinstance(shape, (ast.Tuple, ast.List)):
        return
    sizes = [item.values.number(e) for e in shape.elts]
    if None not in sizes and -1 not in sizes and prod(sizes) != prod(tensor.shape):
        yield "tensor.reshape", shape, f"{prod(sizes)} elements from {prod(tensor.shape)}"
