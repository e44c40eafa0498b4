"""Drawing legal steps of random numbers, MX, registers, the array's modes and columns by an index."""

import numpy as np
from fuzz_legal import ARRAY, command, elementwise, engine, nl
from fuzz_newer import mx_oracle
from fuzz_numbers import FLOATS, INTEGERS, convert, host
from fuzz_programs import Columns, Register, Token, View
from fuzz_reference import FUNCTIONS, INT32

INDIRECT_SINCE = 4


# -- the Vector and Scalar Engines ----------------------------------------------------------------------------------


def activate2(d):
    dst, data = elementwise(d, 1)
    partitions = data.shape[0]
    pair = d.random.choice(
        (
            ("multiply", "add"),
            ("multiply", "subtract"),
            ("multiply", None),
            ("add", None),
            ("subtract", None),
            (None, None),
        )
    )
    arguments = {"dst": dst, "op": nl(d.random.choice([*sorted(FUNCTIONS), "prelu", "prelu"])), "data": data}
    for i, op in enumerate(pair):
        if op:
            arguments |= {f"op{i}": nl(op), f"imm{i}": d.scalar(partitions), f"reverse{i}": d.chance(0.4)}
    if d.chance(0.5):
        arguments["relu_param"] = d.scalar(partitions)
    if d.chance(0.5):
        arguments |= {
            "reduce_op": nl(d.random.choice(("add", "maximum", "minimum", "abs_max", "abs_min"))),
            "reduce_cmd": command(d.random.choice(("idle", "reset", "reduce", "reset_reduce"))),
            "reduce_res": d.destination(partitions, (1,), d.dtype(FLOATS)),
        }
    return arguments


def bn_aggr(d):
    partitions, name = d.partitions(), d.dtype(FLOATS)
    triples = [[[d.random.randint(0, 9), d.number(), abs(d.number())] for _ in range(d.random.randint(1, 8))]]
    values = np.array(triples * partitions, np.float32)
    values[..., 1] += np.arange(partitions, dtype=np.float32)[:, None]
    values = convert(values.reshape(partitions, -1), name)
    data = View(d.tile(values.shape, name, d.on_chip(), values))
    return {"dst": d.destination(partitions, (2,), d.dtype(FLOATS), d.on_chip()), "data": data}


def topk(d):
    groups, columns = d.random.choice((1, 2, 8)), d.random.randint(1, 4)
    n = d.random.randint(8, 16 * columns)
    k = d.random.randint(1, n)
    src = View(d.tile((16 * groups, columns), "bfloat16"))
    return {
        "val_dst": View(d.tile((16 * groups, k), "bfloat16")),
        "idx_dst": View(d.tile((16 * groups, k), "uint32")),
        "src": src,
        "n": n,
    }


# -- random numbers -------------------------------------------------------------------------------------------------


def rng(d):
    dst = d.destination(d.partitions(), d.shape(24), d.dtype(INTEGERS))
    return {"dst": dst} | ({"engine": engine("gpsimd")} if d.generation >= 3 and d.chance(0.4) else {})


def set_rng_seed(d):
    return {"src_seeds": View(d.tile((1, 1), d.dtype(("int32", "uint32"))))}


def of_state(d):
    vector = d.generation >= 4 and d.chance(0.5)
    return d.partitions(), 24 if vector else 6, {"engine": engine("vector")} if vector else {}


def rand_set_state(d):
    partitions, words, arguments = of_state(d)
    values = [[d.random.randrange(1, 2**32) for _ in range(words)] for _ in range(partitions)]
    return {"src_seeds": View(d.tile((partitions, words), "uint32", values=np.array(values, np.uint32)))} | arguments


def rand_get_state(d):
    partitions, words, arguments = of_state(d)
    return {"dst": d.destination(partitions, (words,), "uint32")} | arguments


def rand2(d):
    types = ("float32", "bfloat16", "float16", "float8_e4m3", "float8_e5m2", "tfloat32", *INTEGERS)
    dst = d.destination(d.partitions(), d.shape(24), d.dtype(types), d.on_chip())
    low = d.number()
    if d.chance(0.3):
        first = np.array([[d.random.randint(-4, 4)] for _ in range(dst.shape[0])], np.float32)
        return {"dst": dst, "min": d.column(dst.shape[0], values=first), "max": 4.5}
    return {"dst": dst, "min": low, "max": low + d.random.randint(1, 300)}


def dropout(d):
    name = d.dtype([*FLOATS, *INTEGERS])
    dst, data = elementwise(d, 1, [name, name])
    if d.chance(0.3):
        values = np.array([[d.random.random()] for _ in range(data.shape[0])], np.float32)
        return {"dst": dst, "data": data, "prob": d.column(data.shape[0], values=values)}
    return {"dst": dst, "data": data, "prob": d.random.choice((0.0, 0.25, 0.5, 1.0))}


# -- registers ------------------------------------------------------------------------------------------------------


def some_register(d):
    if not d.program.registers or (len(d.program.registers) < 4 and d.chance(0.5)):
        d.program.registers.append(Register(f"r{len(d.program.registers)}"))
        return d.program.registers[-1]
    return d.register()


def register_move(d):
    source = d.random.choice((d.random.randint(0, 4), d.random.randint(-(2**31), 2**31 - 1), d.register() or 3))
    return {"dst": some_register(d), "src": source}


def register_load(d):
    name = d.dtype(("int32", "uint32", "int16", "uint8"))
    limits, near = np.iinfo(name), d.chance(0.6)
    value = d.random.randint(0, 4) if near else d.random.randint(limits.min, min(limits.max, 2**31 - 1))
    tile = d.tile((1, 1), name, d.random.choice(("sbuf", "private_hbm")), np.full((1, 1), value, name))
    return {"dst": some_register(d), "src": View(tile)}


def register_store(d):
    dst = View(d.tile((1, 1), d.dtype([*FLOATS, *INTEGERS]), d.random.choice(("sbuf", "private_hbm"))))
    return {"dst": dst, "src": d.register() or d.random.randint(-99, 99)}


# -- the array ------------------------------------------------------------------------------------------------------


def fp8(d):
    return ("float8_e4m3", "float8_e5m2")


def accumulation(d, dst):
    wrote = d.reference.matmul_wrote(dst)
    return d.random.choice([False] + [True, None] * bool(wrote.all()) + [None] * (not wrote.any()))


def array_tile(d, k, m):
    """tile_position and tile_size that hold k rows and m columns."""
    if d.generation < 2:
        return {"tile_size": (128, 64), "tile_position": (0, 0)}
    sizes = (128, 64) if d.generation == 2 else (128, 64, 32)
    size = tuple(d.random.choice([s for s in sizes if s >= n]) for n in (k, m))
    return {"tile_size": size, "tile_position": tuple(d.random.randrange(0, 128, s) for s in size)}


def nc_matmul(d):
    kind = d.random.random()
    if kind < 0.2:
        return transposed_matmul(d)
    if kind < 0.35 and d.generation >= 3:
        return double_row(d)
    k, m, n = d.partitions(), d.random.randint(1, 20), d.random.randint(1, 24)
    if d.chance(0.05):
        m, n = 64 if d.generation < 2 else d.random.randint(21, 128), d.random.randint(200, 512)
    types = ("float32", "tfloat32") if d.chance(0.3) else ARRAY[:4]
    result = "bfloat16" if d.generation >= 4 and d.chance(0.2) else "float32"
    dst = d.fresh(m, (n,), result, "psum", False) if d.chance(0.7) else d.destination(m, (n,), result, "psum")
    arguments = {
        "dst": dst,
        "stationary": View(d.tile((k, m), d.dtype(types))),
        "moving": View(d.tile((k, n), d.dtype(types))),
        "accumulate": accumulation(d, dst),
    }
    if d.chance(0.3):
        arguments |= array_tile(d, k, m)
    return arguments


def double_row(d):
    k, m, n = d.partitions(), d.random.randint(1, 20), d.random.randint(1, 24)
    dst = d.fresh(m, (n,), "float32", "psum", False)
    return {
        "dst": dst,
        "stationary": View(d.tile((k, 2, m), d.dtype(fp8(d)))),
        "moving": View(d.tile((k, 2, n), d.dtype(fp8(d)))),
        "accumulate": accumulation(d, dst),
        "perf_mode": Token("nisa.matmul_perf_mode.double_row"),
    }


def transposed_matmul(d):
    """is_transpose: the stationary tile comes out as it is, its rows in the order of a permutation."""
    k, m = d.partitions(), d.random.randint(1, 24)
    name = d.dtype(("bfloat16", "float16", "float32"))
    order = list(range(k))
    d.random.shuffle(order)
    ones = np.zeros((k, k), host(name))
    ones[order, np.arange(k)] = 1
    values = None
    if d.generation < 3:  # a product there, which infinities and NaN spoil
        values = np.array([[d.random.randint(-9, 9) for _ in range(m)] for _ in range(k)]).astype(host(name))
    return {
        "dst": d.fresh(m, (k,), name if d.generation >= 3 else "float32", "psum", False),
        "stationary": View(d.tile((k, m), name, values=values)),
        "moving": View(d.tile((k, k), name, values=ones)),
        "is_transpose": True,
        "accumulate": False,
    }


# -- MX -------------------------------------------------------------------------------------------------------------


def mx_operand(d, partitions, columns):
    """Packed units, and scales in every quadrant, from one of its rows 0, 4, 8 and 12."""
    name = d.random.choice(sorted(mx_oracle.ELEMENTS))
    values = np.array([[d.random.uniform(-6, 6) for _ in range(4 * columns)] for _ in range(partitions)])
    units = mx_oracle.packed(values, name)
    row, kind = d.random.choice((0, 4, 8, 12)), d.random.choice(("uint8", "float8_e8m0fnu"))
    scales = np.array([[d.random.randint(120, 134) for _ in range(columns)] for _ in range(partitions)], np.uint8)
    scale = d.tile((partitions, columns), kind, values=scales.view(host(kind)))
    return View(d.tile(units.shape, name, values=units)), View(scale, (("slice", (slice(row, None),)),))


def nc_matmul_mx(d):
    partitions, m, n = d.random.choice((32, 64, 128)), 2 * d.random.randint(1, 8), d.random.randint(1, 16)
    stationary, stationary_scale = mx_operand(d, partitions, m)
    moving, moving_scale = mx_operand(d, partitions, n)
    dst = d.fresh(m, (n,), d.random.choice(("float32", "bfloat16")), "psum", False)
    return {
        "dst": dst,
        "stationary": stationary,
        "moving": moving,
        "stationary_scale": stationary_scale,
        "moving_scale": moving_scale,
        "accumulate": accumulation(d, dst),
    }


def quantize_mx(d):
    partitions, columns = d.random.choice((32, 64, 128)), d.random.randint(1, 8)
    name, number = d.dtype(("bfloat16", "float16")), lambda: d.random.uniform(-4, 4) * 2.0 ** d.random.randint(-8, 8)
    values = [[number() for _ in range(4 * columns)] for _ in range(partitions)]
    row = d.random.choice((0, 4, 8, 12))
    scale = d.tile((partitions, columns), d.random.choice(("uint8", "float8_e8m0fnu")))
    packed_name = d.random.choice(("float8_e4m3fn_x4", "float8_e5m2_x4"))
    return {
        "dst": View(d.tile((partitions, columns), packed_name, values=np.zeros((partitions, columns), np.uint32))),
        "src": View(d.tile((partitions, 4 * columns), name, values=np.array(values).astype(host(name)))),
        "dst_scale": View(scale, (("slice", (slice(row, None),)),)),
    }


# -- columns by an index --------------------------------------------------------------------------------------------

# The operands that may be indirect: the source that the others follow, and the destination.
INDIRECT = {
    "activate2": "data",
    "activation": "data",
    "activation_reduce": "data",
    "exponential": "src",
    "tensor_copy": "src",
    "tensor_copy_predicated": "predicate",
    "tensor_scalar": "data",
    "tensor_scalar_cumulative": "src",
    "tensor_scalar_reduce": "data",
    "tensor_tensor": "data1",
    "nc_matmul": "stationary",
}


def indirect(d, name, arguments):
    """Some operands of a drawn step become columns that an index names."""
    source = INDIRECT.get(name)
    views = [value for value in arguments.values() if isinstance(value, View)]
    if not source or "engine" in arguments or any(view.tile.dtype in INT32 for view in views):
        return  # integers of 32 bits may be addresses, which are not computed with indirect tiles
    if name == "nc_matmul" and (
        len(arguments["stationary"].shape) != 2
        or arguments["stationary"].tile.dtype not in ARRAY[:4]
        or {"is_transpose", "tile_position"} & set(arguments)
    ):
        return
    if d.chance(0.7):
        gathered = d.columns(arguments[source], group=32 if name == "nc_matmul" else 16)
        if gathered:
            arguments[source] = gathered
    dst = arguments["dst"]
    if d.chance(0.5) and name != "nc_matmul" and dst.tile.buffer == "sbuf":
        start = d.reference.first(arguments[source])
        if isinstance(arguments[source], Columns) or arguments[source].tile.buffer == "sbuf":
            arguments["dst"] = d.columns(dst, start=start, once=True) or dst


SINCE = {
    activate2: 4,
    bn_aggr: 1,
    topk: 2,
    rng: 1,
    set_rng_seed: 1,
    rand_set_state: 3,
    rand_get_state: 3,
    rand2: 4,
    dropout: 1,
    register_move: 1,
    register_load: 1,
    register_store: 1,
    nc_matmul: 1,
    nc_matmul_mx: 4,
    quantize_mx: 4,
}
