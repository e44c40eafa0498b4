"""Ways to break a rule of MX, random numbers, registers and addresses known at run time: see fuzz_ways.py."""

import numpy as np
from fuzz_legal import command, nl
from fuzz_newer import mx_oracle
from fuzz_programs import Columns, Register, Rows, Step, Token, View, nisa
from fuzz_programs import nl as language
from fuzz_ways import WAYS, changed, drawn, way
from fuzz_ways_more import product

__all__ = ["WAYS"]


def on(d, chip, generation):
    """The program goes to a chip that has what the way breaks; what was drawn for another is left out."""
    if d.generation != generation:
        d.program.steps.clear()
        d.program.chip, d.reference.generation = chip, generation


def plain(d, shape, dtype="float32", buffer="sbuf"):
    return View(d.tile(shape, dtype, buffer))


# -- NeuronCore-v4 --------------------------------------------------------------------------------------------------


@way
def operators_before_the_function(d):
    on(d, "trn3", 4)
    step = drawn(d, "activate2")
    kept = {name: step.arguments[name] for name in ("dst", "op", "data")}
    one = {"imm0": 1.0, "imm1": 2.0}
    broken = {
        "op_pair": one | {"op0": nl("add"), "op1": nl(d.random.choice(("add", "multiply")))},
        "reverse": {"reverse0": True},
        "reduce_cmd": {"reduce_cmd": command("load_reduce"), "reduce_op": nl("add")},
        "reduce_op": {"reduce_cmd": command("reduce"), "reduce_op": nl("multiply")},
    }
    rule = d.random.choice(sorted(broken))
    return f"activate2.{rule}", Step("activate2", kept | broken[rule])


@way
def mx_operands(d):
    on(d, "trn3", 4)
    step = drawn(d, "nc_matmul_mx")
    data = step.arguments["stationary"]
    partitions, m = data.shape
    units = d.random.choice(sorted(mx_oracle.ELEMENTS))
    scale = step.arguments["stationary_scale"].tile
    from_row = lambda row: View(scale, (("slice", (slice(row, None),)),))  # noqa: E731
    broken = {
        "quadrants": {"stationary": plain_units(d, (partitions - 1, m), units)},
        "stationary_even": {
            "stationary": plain_units(d, (partitions, m + 1), units),
            "stationary_scale": scales(d, m + 1),
        },
        "dtype": {"stationary": View(d.tile((partitions, m), "float8_e4m3fn"))},
        "scale_offset": {"stationary_scale": from_row(d.random.choice((1, 2, 5, 16, 31)))},
        "scale_dtype": {"stationary_scale": View(d.tile((partitions, m), "int8"))},
        "scale_free": {"stationary_scale": scales(d, m + 2)},
        "dst_dtype": {"dst": View(d.tile((m, step.arguments["moving"].shape[1]), "float16", "psum"))},
        "buffer": {"dst": View(d.tile((m, step.arguments["moving"].shape[1]), "float32", "sbuf"))},
    }
    rule = d.random.choice(sorted(broken))
    return f"nc_matmul_mx.{rule}", changed(step, **broken[rule])


def plain_units(d, shape, name):
    return View(d.tile(shape, name, values=np.zeros(shape, np.uint16 if "float4" in name else np.uint32)))


def scales(d, columns):
    return View(d.tile((128, columns), "uint8"))


@way
def quantising(d):
    on(d, "trn3", 4)
    step = drawn(d, "quantize_mx")
    partitions, columns = step.arguments["dst"].shape
    broken = {
        "src_dtype": {"src": plain(d, (partitions, 4 * columns))},
        "dst_dtype": {"dst": plain_units(d, (partitions, columns), "float4_e2m1fn_x4")},
        "free_size": {"src": plain(d, (partitions, 4 * columns + 4), "bfloat16")},
        "quadrants": {"src": plain(d, (partitions - 8, 4 * columns), "bfloat16")},
    }
    rule = d.random.choice(sorted(broken))
    return f"quantize_mx.{rule}", changed(step, **broken[rule])


@way
def column_that_does_not_exist(d):
    on(d, "trn3", 4)
    columns = d.columns(plain(d, (32, d.random.randint(1, 20))))
    values = np.array(columns.index.tile.values)
    values[columns.index.changes[0][1][0].start, 0] = np.iinfo(values.dtype).max
    wrong = View(d.tile(values.shape, columns.index.tile.dtype, values=values), columns.index.changes)
    src = Columns(columns.view, wrong, columns.offsets)
    return "tensor_copy.indirect_bounds", Step("tensor_copy", {"dst": plain(d, src.shape), "src": src})


@way
def columns_before_v4(d):
    on(d, *d.random.choice((("trn1", 2), ("trn2", 3))))
    src = d.columns(plain(d, (32, d.random.randint(1, 20))))
    return "tensor_copy.generation", Step("tensor_copy", {"dst": plain(d, src.shape), "src": src})


@way
def columns_of_an_instruction_without(d):
    on(d, "trn3", 4)
    src = d.columns(plain(d, (32, 8)))
    return "reciprocal.indirect", Step("reciprocal", {"dst": plain(d, src.shape), "data": src})


@way
def columns_by_floats(d):
    on(d, "trn3", 4)
    src = d.columns(plain(d, (32, d.random.randint(1, 20))))
    where = src.view.changes[0][1][0]
    tile = d.tile((where.stop, src.index.shape[1]), "float32")
    wrong = Columns(src.view, View(tile, src.index.changes), src.offsets)
    return "tensor.indirect", Step("tensor_copy", {"dst": plain(d, src.shape), "src": wrong})


# -- random numbers -------------------------------------------------------------------------------------------------


@way
def random_bits_as_floats(d):
    return "rng.dtype", Step("rng", {"dst": plain(d, (4, 4), d.dtype(("float32", "bfloat16", "bool_")))})


@way
def probability(d):
    step = drawn(d, "dropout")
    if d.chance(0.5):
        return "dropout.prob", changed(step, prob=d.random.choice((-0.25, 1.5, float("nan"))))
    data = step.arguments["data"]
    other = "float32" if data.tile.dtype != "float32" else "bfloat16"
    return "dropout.same_dtype", changed(step, dst=plain(d, data.shape, other))


@way
def seeds(d):
    wrong = (((1, 2), "uint32", "shape"), ((2, 1), "int32", "shape"), ((1, 1), "uint16", "dtype"))
    shape, dtype, rule = d.random.choice(wrong)
    return f"set_rng_seed.{rule}", Step("set_rng_seed", {"src_seeds": plain(d, shape, dtype)})


@way
def state_of_another_size(d):
    if d.generation < 3:
        return "rand_set_state.generation", Step("rand_set_state", {"src_seeds": plain(d, (4, 6), "uint32")})
    words, dtype, rule = d.random.choice(((5, "uint32", "shape"), (24, "uint32", "shape"), (6, "int32", "dtype")))
    return f"rand_set_state.{rule}", Step("rand_set_state", {"src_seeds": plain(d, (4, words), dtype)})


@way
def empty_range(d):
    on(d, "trn3", 4)
    step = drawn(d, "rand2")
    low = d.random.randint(-9, 9)
    return "rand2.range", changed(step, min=float(low), max=float(low - d.random.randint(0, 3)))


# -- registers and addresses ----------------------------------------------------------------------------------------


@way
def register_of_many(d):
    tile = plain(d, (1, d.random.randint(2, 9)), "int32")
    d.program.registers.append(Register("many"))
    return "register_load.elements", Step("register_load", {"dst": Register("many"), "src": tile})


@way
def register_that_overflows(d):
    d.program.registers.append(Register("large"))
    value = d.random.choice((2**32, -(2**31) - 1, 2**60))
    return "register_move.range", Step("register_move", {"dst": Register("large"), "src": value})


@way
def number_as_a_register(d):
    return "register_move.argument", Step("register_move", {"dst": d.random.choice((3, nl("add"))), "src": 1})


@way
def address_beyond_the_end(d):
    n, at = d.random.randint(4, 30), d.random.randint(1, 60)
    by = View(d.tile((1, 1), "int32", values=np.array([[at]], np.int32)))
    tile = d.tile((8, n), "float32")
    beyond = View(tile, (("dynamic", ((n, 8), (1, n)), 0, by, 1, 0),))
    return "tensor.out_of_bounds", Step("tensor_copy", {"dst": plain(d, (8, n)), "src": beyond})


@way
def address_of_floats(d):
    by = View(d.tile((1, 1), "float32", values=np.zeros((1, 1), np.float32)))
    beyond = View(d.tile((8, 8), "float32"), (("dynamic", ((8, 8), (1, 4)), 0, by, 1, 0),))
    return "tensor.indirect", Step("tensor_copy", {"dst": plain(d, (8, 4)), "src": beyond})


@way
def loop_that_does_not_step(d):
    step = d.random.choice((0, -1, 1.5, None))

    def body(_):
        for _ in language.dynamic_range(0, 4, step):
            pass

    return "loop.step", body


@way
def loop_index_that_decides(d):
    def body(_):
        for i in language.dynamic_range(0, 4):
            if i == 2:
                break

    return "loop.index_in_python", body


@way
def row_that_does_not_exist(d):
    n, rows = d.random.randint(1, 9), d.random.randint(1, 30)
    table = d.tile((rows, n), "float32", "private_hbm")
    values = np.array([[0], [d.random.choice((rows, rows + 99, 2**30))]], np.int32)
    index = View(d.tile((2, 1), "int32", values=values))
    return "dma_copy.out_of_bounds", Step("dma_copy", {"dst": plain(d, (2, n)), "src": Rows(table, index)})


@way
def rows_on_chip(d):
    index = View(d.tile((4, 1), "int32", values=np.zeros((4, 1), np.int32)))
    table = d.tile((8, 8), "float32")
    return "tensor.indirect", Step("dma_copy", {"dst": plain(d, (4, 8)), "src": Rows(table, index)})


# -- the array ------------------------------------------------------------------------------------------------------


@way
def rows_in_pairs(d):
    mode = {"perf_mode": Token("nisa.matmul_perf_mode.double_row")}
    if d.generation < 3:
        return "nc_matmul.generation", changed(product(d), **mode)
    return "nc_matmul.double_row", changed(product(d), **mode)


@way
def tile_of_the_array(d):
    size, position = d.random.choice((((128, 96), (0, 0)), ((64, 64), (32, 0)), ((64, 64), (0, 128)), ((64,), (0,))))
    return "nc_matmul.array_tile", changed(product(d), tile_size=size, tile_position=position)


@way
def more_results_than_elements(d):
    on(d, *d.random.choice((("trn1", 2), ("trn2", 3), ("trn3", 4))))
    step = drawn(d, "topk")
    n, columns = step.arguments["n"], step.arguments["src"].shape[1]
    broken = {
        "n": {"n": d.random.choice((7, 0, -1, 65536))},
        "src_size": {"n": 16 * columns + 1},
        "groups": {name: plain(d, (15, step.arguments[name].shape[1]), step.arguments[name].tile.dtype)
                   for name in ("src", "val_dst", "idx_dst")},
        "k": {name: plain(d, (step.arguments[name].shape[0], n + 1), step.arguments[name].tile.dtype)
              for name in ("val_dst", "idx_dst")},
        "dtype": {"src": plain(d, step.arguments["src"].shape, "float32")},
    }
    rule = d.random.choice(sorted(broken))
    return f"topk.{rule}", changed(step, **broken[rule])


@way
def statistics_of_another_size(d):
    if d.chance(0.5):
        return "bn_aggr.triples", changed(drawn(d, "bn_aggr"), data=plain(d, (4, 7)), dst=plain(d, (4, 2)))
    step = drawn(d, "bn_aggr", "bn_stats")
    return f"{step.instruction}.dst_size", changed(step, dst=plain(d, (step.arguments["dst"].shape[0], 5)))


# -- meetings that cannot take place -----------------------------------------------------------------------------------


@way
def several_cores(d):
    if d.generation < 3:
        on(d, "trn2", 3)

    def body(_):
        nisa.core_barrier(language.ndarray((4, 4), dtype=language.float32, buffer=language.shared_hbm), cores=(0, 1))

    return "core_barrier.cores", body
