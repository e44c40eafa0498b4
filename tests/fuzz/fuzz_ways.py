"""Ways to break exactly one rule, whose id is known beforehand: see fuzz_illegal.py.

A way is a function of a Drawing that returns the rule's id and the broken step. What cannot be written as a step
(tiles that do not fit, addresses, unwritten bytes) is a function of the tensors instead.
"""

import numpy as np
from fuzz_legal import command, elementwise, engine, nl
from fuzz_legal_more import append
from fuzz_numbers import INTEGERS, UNARY
from fuzz_programs import Step, View
from fuzz_views import starts

WAYS = {}


def way(function):
    WAYS[function.__name__] = function
    return function


def drawn(d, *among, keep=lambda step: True):
    """A legal step of one of these instructions, taken out of the program again."""
    while True:
        step = append(d, d.random.choice(among))
        d.program.steps.pop()
        if keep(step):
            return step


ELEMENTWISE = (
    "tensor_tensor",
    "tensor_scalar",
    "scalar_tensor_tensor",
    "tensor_copy",
    "reciprocal",
    "activation",
    "tensor_tensor_scan",
    "tensor_scalar_reduce",
    "affine_select",
    "tensor_copy_predicated",
)
SOURCE = {
    "tensor_tensor": "data2",
    "tensor_scalar": "data",
    "scalar_tensor_tensor": "operand1",
    "tensor_copy": "src",
    "reciprocal": "data",
    "activation": "data",
    "tensor_tensor_scan": "data1",
    "tensor_scalar_reduce": "data",
    "affine_select": "on_true_tile",
    "tensor_copy_predicated": "predicate",
}
ON_CHIP = (
    *ELEMENTWISE,
    "memset",
    "iota",
    "max8",
    "nc_find_index8",
    "nc_match_replace8",
    "nc_n_gather",
    "bn_stats",
    "select_reduce",
    "tensor_reduce",
    "nc_transpose",
    "tensor_scalar_cumulative",
)


def changed(step, **arguments):
    return Step(step.instruction, step.arguments | arguments)


def tile_operands(step):
    return [name for name, value in step.arguments.items() if isinstance(value, View)]


@way
def wrong_start_partition(d):
    step = drawn(d, *ON_CHIP, keep=lambda s: s.arguments["dst"].shape[0] <= 100)
    name = d.random.choice(tile_operands(step))
    view = step.arguments[name]
    partitions = view.shape[0]
    start = d.random.choice([s for s in range(1, 129 - partitions) if s not in starts(partitions)])
    values = np.zeros((start + partitions, *view.shape[1:]), view.tile.values.dtype)
    tile = d.tile(values.shape, view.tile.dtype, view.tile.buffer, values)
    return f"{step.instruction}.start_partition", changed(
        step, **{name: View(tile, (("slice", (slice(start, start + partitions),)),))}
    )


def resized(d, view, partitions=0, columns=0):
    shape = (view.shape[0] + partitions, int(np.prod(view.shape[1:])) + columns)
    return View(d.tile(shape, view.tile.dtype, view.tile.buffer, np.ones(shape, view.tile.values.dtype)))


@way
def other_partition_count(d):
    step = drawn(d, *ELEMENTWISE, keep=lambda s: s.arguments["dst"].shape[0] < 128)
    name = SOURCE[step.instruction]
    return f"{step.instruction}.same_partitions", changed(
        step, **{name: resized(d, step.arguments[name], partitions=1)}
    )


@way
def one_element_too_many(d):
    step = drawn(d, *ELEMENTWISE)
    name = SOURCE[step.instruction]
    return f"{step.instruction}.same_free_size", changed(step, **{name: resized(d, step.arguments[name], columns=1)})


@way
def operand_in_hbm(d):
    step = drawn(d, *ON_CHIP)
    name = d.random.choice(tile_operands(step))
    view = step.arguments[name]
    return f"{step.instruction}.buffer", changed(
        step, **{name: View(d.tile(view.shape, view.tile.dtype, "private_hbm"))}
    )


@way
def psum_on_gpsimd(d):
    step = drawn(
        d, "iota", "affine_select", "nc_n_gather", "tensor_partition_reduce", "local_gather", "sequence_bounds"
    )
    name = d.random.choice(tile_operands(step))
    view = step.arguments[name]
    return f"{step.instruction}.buffer", changed(step, **{name: View(d.tile(view.shape, view.tile.dtype, "psum"))})


@way
def psum_in_dma(d):
    step = drawn(
        d,
        "dma_copy",
        keep=lambda s: (
            all(isinstance(s.arguments[n], View) for n in ("dst", "src")) and s.arguments["dst"].shape[0] > 1
        ),
    )
    name = d.random.choice(("dst", "src"))
    view = step.arguments[name]
    return "dma_copy.buffer", changed(step, **{name: View(d.tile(view.shape, view.tile.dtype, "psum"))})


@way
def both_in_psum(d):
    name, first, second = d.random.choice(
        (
            ("tensor_tensor", "data1", "data2"),
            ("tensor_tensor_scan", "data0", "data1"),
            ("scalar_tensor_tensor", "data", "operand1"),
        )
    )
    step = drawn(d, name)
    moved = {n: View(d.tile(step.arguments[n].shape, step.arguments[n].tile.dtype, "psum")) for n in (first, second)}
    if name == "tensor_tensor":
        moved["engine"] = engine("vector")
    return f"{name}.both_psum", changed(step, **moved)


@way
def missing_argument(d):
    step = drawn(d, *ON_CHIP)
    left = dict(step.arguments)
    del left[d.random.choice([n for n in tile_operands(step) if n in ("dst", "data", "src", "data1", "vals")])]
    return f"{step.instruction}.argument", Step(step.instruction, left)


@way
def unknown_argument(d):
    step = drawn(d, *ON_CHIP)
    return f"{step.instruction}.argument", changed(step, **{d.random.choice(("dts", "maskk", "Data", "x" * 300)): 1})


@way
def argument_of_another_kind(d):
    step = drawn(d, *ON_CHIP)
    junk = d.random.choice(("text", 3, None, (1, 2), object, float("nan"), nl("add"), {}))
    return f"{step.instruction}.argument", changed(step, dst=junk)


@way
def no_operator(d):
    step = drawn(d, "tensor_tensor", "tensor_reduce", "activation")
    return f"{step.instruction}.argument", changed(
        step, op=d.random.choice((1, "add", nl("float32"), engine("vector")))
    )


@way
def unary_operator(d):
    dst, a, b = elementwise(d, 2, ["float32"] * 3)
    return "tensor_tensor.op", Step(
        "tensor_tensor", {"dst": dst, "data1": a, "data2": b, "op": nl(d.random.choice(UNARY))}
    )


@way
def bits_of_floats(d):
    dst, a, b = elementwise(d, 2, ["int32", "int32", d.dtype(("float32", "bfloat16"))])
    return "tensor_tensor.integer_bits", Step(
        "tensor_tensor", {"dst": dst, "data1": a, "data2": b, "op": nl("bitwise_xor")}
    )


@way
def bitwise_and_arithmetic_mixed(d):
    dst, data = elementwise(d, 1, ["int32", "int32"])
    return "tensor_scalar.op_mix", Step(
        "tensor_scalar",
        {"dst": dst, "data": data, "op0": nl("bitwise_and"), "operand0": 1, "op1": nl("add"), "operand1": 1.0},
    )


@way
def bitwise_scan(d):
    step = drawn(d, "tensor_tensor_scan", "scalar_tensor_tensor")
    return f"{step.instruction}.bitvec", changed(step, **{d.random.choice(("op0", "op1")): nl("bitwise_or")})


@way
def wrong_engine(d):
    step = drawn(d, "tensor_tensor", "tensor_copy", "memset", "tensor_scalar")
    return f"{step.instruction}.engine", changed(step, engine=engine("tensor"))


@way
def later_generation(d):
    if d.program.chip == "trn3":  # nothing is too new for it
        d.program.steps.clear()
        d.program.chip, d.reference.generation = "trn2", 3
    if d.program.chip == "trn1":
        dst, src = elementwise(d, 1, psum=False)
        return "tensor_copy.generation", Step("tensor_copy", {"dst": dst, "src": src, "engine": engine("scalar")})
    dst, src = elementwise(d, 1, ["float32", "float32"])
    if d.chance(0.5):
        return "exponential.generation", Step("exponential", {"dst": dst, "src": src})
    return "tensor_scalar.generation", Step("tensor_scalar", {"dst": dst, "data": src, "op0": nl("square")})


@way
def column_with_two_elements(d):
    step = drawn(d, "scalar_tensor_tensor", "tensor_scalar_reduce")
    return f"{step.instruction}.per_partition", changed(
        step, operand0=View(d.tile((step.arguments["dst"].shape[0], 2), "float32"))
    )


@way
def predicate_of_floats(d):
    step = drawn(d, "tensor_copy_predicated", "select_reduce")
    view = step.arguments["predicate"]
    return f"{step.instruction}.predicate_dtype", changed(step, predicate=View(d.tile(view.shape, "float32")))


@way
def partition_axis_reduced(d):
    step = drawn(d, "tensor_reduce")
    return "tensor_reduce.axis_partition", changed(step, axis=[0, *step.arguments["axis"]])


@way
def reduced_to_another_size(d):
    step = drawn(d, "tensor_reduce")
    return "tensor_reduce.dst_size", changed(step, dst=resized(d, step.arguments["dst"], columns=1))


@way
def comparison_as_reduction(d):
    step = drawn(d, "tensor_reduce", keep=lambda s: s.arguments["op"].name.split(".")[1][:3] != "bit")
    return "tensor_reduce.op", changed(step, op=nl("less"))


@way
def idle_accumulator(d):
    step = drawn(d, "select_reduce", keep=lambda s: "reduce_res" in s.arguments)
    return "select_reduce.reduce_idle", changed(step, reduce_cmd=command("idle"))


@way
def value_that_does_not_fit(d):
    name = d.dtype(INTEGERS)
    dst = View(d.tile((4, 4), name))
    limit = np.iinfo(dst.tile.values.dtype).max
    return "memset.value", Step("memset", {"dst": dst, "value": d.random.choice((0.5, int(limit) + 1, float("nan")))})


@way
def pattern_of_another_size(d):
    step = drawn(d, "iota", "affine_select")
    return f"{step.instruction}.pattern", changed(
        step, pattern=[[1, int(np.prod(step.arguments["dst"].shape[1:])) + 1]]
    )


@way
def too_few_to_search(d):
    tiles = [View(d.tile((8, n), "float32")) for n in (8, d.random.randint(1, 7))]
    return "max8.free_size", Step("max8", {"dst": tiles[0], "src": tiles[1]})


@way
def seven_slots(d):
    step = drawn(d, "nc_find_index8", "nc_match_replace8")
    return f"{step.instruction}.slots", changed(
        step, vals=View(d.tile((step.arguments["dst"].shape[0], 7), "float32"))
    )


@way
def shuffle_mask(d):
    step = drawn(d, "nc_stream_shuffle")
    if d.chance(0.5):
        return "nc_stream_shuffle.mask_size", changed(step, shuffle_mask=[0] * 31)
    return "nc_stream_shuffle.mask_value", changed(
        step, shuffle_mask=[0] * 31 + [d.random.choice((-1, 32, 254, 256))]
    )


@way
def gather_beyond_the_end(d):
    step = drawn(d, "nc_n_gather", "local_gather")
    name = "indices" if step.instruction == "nc_n_gather" else "index"
    index = d.reference.read(step.arguments[name])
    index[0, 0] = {"nc_n_gather": 2**31, "local_gather": 60000}[step.instruction]
    wrong = View(d.tile(index.shape, step.arguments[name].tile.dtype, values=index))
    return f"{step.instruction}.index", changed(step, **{name: wrong})


@way
def index_of_another_dtype(d):
    step = drawn(d, "nc_n_gather", "local_gather")
    name = "indices" if step.instruction == "nc_n_gather" else "index"
    wrong = View(d.tile(step.arguments[name].shape, "int32"))
    return f"{step.instruction}.index_dtype", changed(step, **{name: wrong})


@way
def transpose_of_another_shape(d):
    step = drawn(d, "nc_transpose")
    return "nc_transpose.dst_shape", changed(step, dst=resized(d, step.arguments["dst"], columns=1))


@way
def transpose_of_bytes(d):
    tiles = [View(d.tile(shape, "int8")) for shape in ((6, 4), (4, 6))]
    return "dma_transpose.dtype", Step("dma_transpose", {"dst": tiles[1], "src": tiles[0]})


@way
def dma_of_other_sizes(d):
    step = drawn(d, "dma_copy", keep=lambda s: all(isinstance(s.arguments[n], View) for n in ("dst", "src")))
    name = d.random.choice(("dst", "src"))
    return "dma_copy.elements", changed(step, **{name: resized(d, step.arguments[name], columns=1)})


@way
def dma_that_multiplies(d):
    return "dma_compute.reduce_op", changed(drawn(d, "dma_compute"), reduce_op=nl("multiply"))
