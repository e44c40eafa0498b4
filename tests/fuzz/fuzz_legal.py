"""Drawing legal steps: for each instruction the arguments that the public documents allow; see fuzz_legal_more.py."""

import numpy as np
from fuzz_numbers import ARITHMETIC, BITWISE, COMPARISONS, FLOATS, INTEGERS, SHIFTS, UNARY, host, sample
from fuzz_programs import Token, View
from fuzz_reference import FUNCTIONS

BINARY = [op for op in ARITHMETIC if op not in UNARY and not op.startswith("abs_")]
NO_TF32 = tuple(name for name in FLOATS if name != "tfloat32") + INTEGERS
ARRAY = ("bfloat16", "float16", "float8_e4m3", "float8_e5m2", "float32")


def nl(name):
    return Token(f"nl.{name}")


def command(name):
    return Token(f"nisa.reduce_cmd.{name}")


def engine(name):
    return Token(f"nisa.{name}_engine")


def elementwise(d, count, dtypes=None, psum=True):
    """Views of one size: the destination, and `count` sources of which at most one is in PSUM."""
    partitions, free = d.partitions(), d.shape()
    dtypes = dtypes or [d.dtype() for _ in range(count + 1)]
    places = ["sbuf"] * (count + 1)
    if psum:
        places = [d.on_chip(), *(["sbuf"] * count)]
        places[d.random.randint(1, count)] = d.on_chip()
    sources = [d.source(partitions, free, dtypes[i + 1], places[i + 1]) for i in range(count)]
    return d.destination(partitions, free, dtypes[0], places[0]), *sources


def operator(d, unary=False):
    ops = list(BINARY) + (["abs_max", "abs_min"] if d.generation >= 4 else [])
    return d.random.choice(ops + (["abs"] + (["square", "relu"] if d.generation >= 4 else [])) * unary)


def tensor_tensor(d):
    if d.chance(0.25):
        name = d.dtype(INTEGERS)
        dst, a, b = elementwise(d, 2, [name] * 3)
        return {"dst": dst, "data1": a, "data2": b, "op": nl(d.random.choice([*BITWISE, *SHIFTS]))}
    if d.chance(0.2):
        dst, a, b = elementwise(d, 2, [d.dtype(("int32", "uint32"))] * 3, psum=d.chance(0.3))
        op = d.random.choice([op for op in BINARY if not op.startswith("logical")])
    else:
        dst, a, b = elementwise(d, 2)
        op = operator(d)
    arguments = {"dst": dst, "data1": a, "data2": b, "op": nl(op)}
    if d.chance(0.3):
        arguments["engine"] = engine("vector")
    return arguments


def tensor_scalar(d):
    if d.chance(0.3):
        name = d.dtype(INTEGERS)
        dst, data = elementwise(d, 1, [name] * 2)
        arguments = {"dst": dst, "data": data}
        for i in range(d.random.choice((1, 2))):
            arguments |= {f"op{i}": nl(d.random.choice([*BITWISE, *SHIFTS])), f"reverse{i}": d.chance(0.3)}
            column = d.chance(0.3)
            limits = np.iinfo(host(name))
            number = d.random.choice((0, 1, 3, limits.max, d.random.randint(limits.min, limits.max)))
            arguments[f"operand{i}"] = d.column(data.shape[0], name) if column else number
        return arguments
    dst, data = elementwise(d, 1)
    if d.generation >= 3 and d.chance(0.2):
        arguments = {"dst": dst, "data": data, "engine": engine("scalar"), "operand0": d.scalar(data.shape[0])}
        if d.chance(0.5):
            return arguments | {"op0": nl("multiply"), "op1": nl("add"), "operand1": d.scalar(data.shape[0])}
        return arguments | {"op0": nl(d.random.choice(("add", "multiply")))}
    arguments = {"dst": dst, "data": data}
    for i in range(d.random.choice((1, 2))):
        op = operator(d, unary=i == 0)
        operand = None if op in UNARY else d.scalar(data.shape[0])
        arguments |= {f"op{i}": nl(op), f"operand{i}": operand, f"reverse{i}": op not in UNARY and d.chance(0.4)}
    return arguments


def scalar_tensor_tensor(d):
    dst, data, other = elementwise(d, 2)
    return {
        "dst": dst,
        "data": data,
        "op0": nl(operator(d)),
        "operand0": d.scalar(data.shape[0]),
        "op1": nl(operator(d)),
        "operand1": other,
        "reverse0": d.chance(0.4),
        "reverse1": d.chance(0.4),
    }


def tensor_copy(d):
    dst, src = elementwise(d, 1)
    arguments = {"dst": dst, "src": src}
    on_sbuf = dst.tile.buffer == src.tile.buffer == "sbuf"
    choices = ["vector"] + ["scalar"] * (d.generation >= 3) + ["gpsimd"] * on_sbuf
    return arguments | ({"engine": engine(d.random.choice(choices))} if d.chance(0.5) else {})


def tensor_copy_predicated(d):
    name, test = d.dtype(), d.dtype(("uint8", "uint16", "uint32"))
    dst, src, predicate = elementwise(d, 2, [name, name, test])
    number = d.random.randint(0, 3) if name in INTEGERS else d.number()
    return {
        "dst": dst,
        "src": number if d.chance(0.3) else src,
        "predicate": predicate,
        "reverse_pred": d.chance(0.4),
    }


def reciprocal(d):
    dst, data = elementwise(d, 1)
    return {"dst": dst, "data": data}


def memset(d):
    name = d.dtype()
    dst = d.destination(d.partitions(), d.shape(), name, d.on_chip())
    if name in INTEGERS:
        limits = np.iinfo(host(name))
        return {"dst": dst, "value": d.random.choice((0, 1, limits.min, limits.max))}
    return {"dst": dst, "value": d.number()}


def activation(d):
    dst, data = elementwise(d, 1)
    partitions = data.shape[0]
    arguments = {"dst": dst, "op": nl(d.random.choice(sorted(FUNCTIONS))), "data": data}
    if d.chance(0.5):
        arguments["scale"] = d.scalar(partitions)
    if d.chance(0.5) and not (d.generation <= 2 and arguments["op"] == nl("reciprocal")):
        arguments["bias"] = d.scalar(partitions) if d.generation >= 3 else d.column(partitions)
    if d.chance(0.4):
        arguments |= {
            "reduce_op": nl("add"),
            "reduce_cmd": command(d.random.choice(("reset", "reduce", "reset_reduce"))),
        }
        arguments["reduce_res"] = d.destination(partitions, (1,), d.dtype(FLOATS))
    return arguments


def activation_reduce(d):
    arguments = {name: value for name, value in activation(d).items() if not name.startswith("reduce")}
    result = d.destination(arguments["data"].shape[0], (1,), d.dtype(FLOATS))
    return arguments | {"reduce_op": nl("add"), "reduce_res": result}


def affine_of(d, shape):
    return {
        "pattern": [[d.random.randint(-9, 9), count] for count in shape[1:]],
        "channel_multiplier": d.random.randint(-4, 4),
        "offset": d.random.randint(-40, 40),
    }


def iota(d):
    dst = d.destination(d.partitions(), d.shape(), d.dtype())
    return {"dst": dst} | affine_of(d, dst.shape)


def affine_select(d):
    dst, data = elementwise(d, 1, psum=False)
    arguments = {"dst": dst, "on_true_tile": data, "on_false_value": d.number()} | affine_of(d, dst.shape)
    return arguments | {"cmp_op": nl(d.random.choice(COMPARISONS))}


def range_select(d):
    dst, data = elementwise(d, 1, [d.dtype(FLOATS), d.dtype(FLOATS)])
    partitions, n = data.shape[0], int(np.prod(data.shape[1:]))
    bounds = [np.array([[d.random.randint(-1, n + 1)] for _ in range(partitions)], np.float32) for _ in range(2)]
    ops = [nl(d.random.choice(("equal", "less", "less_equal", "greater", "greater_equal"))) for _ in range(2)]
    return {
        "dst": dst,
        "on_true_tile": data,
        "comp_op0": ops[0],
        "comp_op1": ops[1],
        "bound0": d.column(partitions, values=bounds[0]),
        "bound1": d.column(partitions, values=bounds[1]),
        "reduce_cmd": command(d.random.choice(("reset_reduce", "reduce"))),
        "reduce_op": nl("maximum"),
        "reduce_res": d.destination(partitions, (1,), d.dtype(FLOATS)),
        "range_start": d.random.randint(0, 5),
    }


def select_reduce(d):
    value = d.dtype(tuple(n for n in NO_TF32 if n not in ("int32", "uint32")))
    test = d.dtype(("int8", "uint8", "int16", "uint16"))
    dst, on_true, predicate = elementwise(d, 2, [d.dtype(), value, test])
    arguments = {
        "dst": dst,
        "predicate": predicate,
        "on_true": on_true,
        "on_false": d.scalar(on_true.shape[0]),
        "reverse_pred": d.chance(0.4),
    }
    if d.chance(0.5):
        result = d.destination(on_true.shape[0], (1,), d.dtype(FLOATS))
        arguments |= {"reduce_cmd": command("reset_reduce"), "reduce_res": result, "reduce_op": nl("maximum")}
    return arguments


def tensor_reduce(d):
    partitions, free = d.partitions(), d.shape()
    axes = d.random.randint(1, len(free))
    kept = free[: len(free) - axes] or (1,)
    bits = d.chance(0.2)
    name = d.dtype(INTEGERS) if bits else d.dtype()
    data = d.fresh(partitions, free, name, d.on_chip(), True)
    dst = d.destination(partitions, kept, name if bits else d.dtype(), d.on_chip())
    ops = (
        list(BITWISE)
        if bits
        else ["add", "subtract", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logical_xor"]
    )
    axis = list(range(len(free) + 1 - axes, len(free) + 1))
    return {
        "dst": dst,
        "op": nl(d.random.choice(ops)),
        "data": data,
        "axis": axis,
        "negate": not bits and d.chance(0.3),
    }


def tensor_partition_reduce(d):
    free, bits = d.shape(), d.chance(0.2)
    name = d.dtype(INTEGERS) if bits else d.dtype()
    data = d.source(d.partitions(), free, name)
    dst = d.destination(1, free, name if bits else d.dtype())
    ops = ("bitwise_or", "bitwise_and") if bits else ("add", "average", "maximum")
    return {"dst": dst, "op": nl(d.random.choice(ops)), "data": data}


def tensor_scalar_reduce(d):
    dst, data = elementwise(d, 1)
    partitions = data.shape[0]
    arguments = {
        "dst": dst,
        "data": data,
        "op0": nl(operator(d)),
        "operand0": d.scalar(partitions),
        "reduce_op": nl(d.random.choice(("add", "multiply", "maximum", "minimum"))),
    }
    if d.chance(0.7):
        arguments |= {
            "reduce_res": d.destination(partitions, (1,), d.dtype(FLOATS)),
            "reduce_res_negate": d.chance(0.3),
        }
    cmd = d.random.choice(("reset_reduce", "load_reduce"))
    return arguments | {"reduce_cmd": command(cmd)} | ({"reduce_init": d.scalar(partitions)} if cmd[0] == "l" else {})


def tensor_scalar_cumulative(d):
    legal_types = tuple(n for n in NO_TF32 if n not in ("int32", "uint32"))
    dst, src = elementwise(d, 1, [d.dtype(legal_types), d.dtype(legal_types)])
    cmd = d.random.choice(("reset_reduce", "load_reduce"))
    arguments = {
        "dst": dst,
        "src": src,
        "op0": nl(operator(d)),
        "imm0": d.scalar(src.shape[0]),
        "op1": nl(d.random.choice(("add", "subtract", "multiply", "maximum", "minimum"))),
    }
    return arguments | {"reduce_cmd": command(cmd)} | ({"imm1": d.scalar(src.shape[0])} if cmd[0] == "l" else {})


def tensor_tensor_scan(d):
    dst, a, b = elementwise(d, 2)
    return {
        "dst": dst,
        "data0": a,
        "data1": b,
        "initial": d.scalar(a.shape[0]),
        "op0": nl(operator(d)),
        "op1": nl(operator(d)),
        "reverse0": d.chance(0.4),
        "reverse1": d.chance(0.4),
    }


def bn_stats(d):
    partitions = d.partitions()
    free = d.shape()
    if np.prod(free) > 512:
        free = (512,)
    data = d.source(partitions, free, d.dtype(FLOATS), d.on_chip())
    return {"dst": d.destination(partitions, (6,), d.dtype(FLOATS), d.on_chip()), "data": data}


def nc_transpose(d):
    if d.chance(0.5):
        partitions, n, name = d.random.randint(1, 32), d.random.randint(1, 32), d.dtype()
        data = d.source(partitions, (n,), name, d.on_chip())
        return {"dst": d.destination(n, (partitions,), name, d.on_chip()), "data": data, "engine": engine("vector")}
    partitions, n = d.partitions(128 if d.generation > 1 else 64), d.random.randint(1, 40)
    name = d.dtype(("bfloat16", "float16", "float32") + ("int16", "uint32") * (d.generation >= 3))
    values = None
    if d.generation < 3:
        values = np.asarray(sample(d.random, (partitions, n), name, special=0))
    data = View(d.tile((partitions, n), name, values=values))
    return {"dst": d.fresh(n, (partitions,), name, "psum", False), "data": data, "engine": engine("tensor")}
