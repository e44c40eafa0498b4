"""Drawing legal steps of what searches, gathers, shuffles and moves; the table of all; and whole programs."""

import fuzz_legal as first
import fuzz_legal_newer as newer
import numpy as np
from fuzz_legal import elementwise
from fuzz_numbers import DTYPES, sample
from fuzz_programs import LOOP, Rows, Step, Token, View
from fuzz_views import Drawing

SOURCES = ("float32", "float16", "bfloat16", "int16", "uint8", "int32")


def searched(d):
    """Data of eight elements or more, and eight values of which most are in it."""
    partitions, n, name = d.partitions(), d.random.randint(8, 30), d.dtype(SOURCES)
    data = d.source(partitions, (n,), name, d.on_chip())
    rows = d.reference.rows(data)
    picked = np.stack([[row[d.random.randrange(row.size)] for _ in range(8)] for row in rows])
    return data, View(d.tile((partitions, 8), name, values=picked))


def max8(d):
    partitions, name = d.partitions(), d.dtype(SOURCES)
    values = np.nan_to_num(sample(d.random, (partitions, d.random.randint(8, 30)), name, special=0))
    return {
        "dst": d.destination(partitions, (8,), d.dtype(), d.on_chip()),
        "src": View(d.tile(values.shape, name, values=values)),
    }


def nc_find_index8(d):
    data, vals = searched(d)
    dst = d.destination(data.shape[0], (8,), d.dtype(("uint32", "uint16")))
    return {"dst": dst, "data": data, "vals": vals}


def nc_match_replace8(d):
    data, vals = searched(d)
    dst = d.destination(data.shape[0], data.shape[1:], data.tile.dtype)
    arguments = {"dst": dst, "data": data, "vals": vals, "imm": float(d.random.randint(-3, 3))}
    if d.chance(0.6):
        arguments["dst_idx"] = d.fresh(data.shape[0], (8,), d.dtype(("uint32", "uint16")), "sbuf", False)
    return arguments


def local_gather(d):
    partitions, run = d.random.choice((16, 32, 128)), d.random.choice((1, 2, 4, 8))
    name, columns, n = d.dtype(), d.random.randint(1, 3), d.random.randint(8, 40)
    src = d.source(partitions, (n,), name)
    index = np.array([[d.random.randint(0, n - run) for _ in range(columns)] for _ in range(partitions)], np.uint16)
    arguments, count = {}, 16 * columns
    if d.chance(0.4):
        count = arguments["num_valid_indices"] = d.random.randint(1, count)
    return arguments | {
        "dst": d.destination(partitions, (count * run,), name),
        "src_buffer": src,
        "num_elem_per_idx": run,
        "index": View(d.tile(index.shape, "uint16", values=index)),
    }


def nc_n_gather(d):
    partitions, name, n, m = d.partitions(), d.dtype(), d.random.randint(1, 40), d.random.randint(1, 20)
    index = np.array([[d.random.randrange(n) for _ in range(m)] for _ in range(partitions)], np.uint32)
    return {
        "dst": d.destination(partitions, (m,), name),
        "data": d.source(partitions, (n,), name),
        "indices": View(d.tile(index.shape, "uint32", values=index)),
    }


def nonzero_with_count(d):
    partitions, n = d.partitions(), d.random.randint(1, 20)
    name = d.dtype(("float32", "int32"))
    values = np.array([[d.random.choice((0, 0, 1, -3)) for _ in range(n)] for _ in range(partitions)])
    src = View(d.tile(values.shape, name, values=values.astype(name)))
    return {
        "dst": View(d.tile((partitions, n + 1), "int32")),
        "src": src,
        "index_offset": d.random.randint(-5, 5),
        "padding_val": d.random.randint(-9, 0),
    }


def sequence_bounds(d):
    name, n = d.dtype(("float32", "int32")), d.random.randint(1, 30)
    values = np.sort([[d.random.randint(0, 4) for _ in range(n)]], axis=1)
    values = (values if d.chance(0.5) else values[:, ::-1]).astype(name)
    return {"dst": View(d.tile((1, 2, n), name)), "segment_ids": View(d.tile((1, n), name, values=values))}


def nc_stream_shuffle(d):
    partitions, name, free = d.random.choice((32, 64, 128)), d.dtype(), d.shape()
    mask = [255 if d.chance(0.1) else d.random.randrange(32) for _ in range(32)]
    return {
        "dst": d.destination(partitions, free, name, d.on_chip()),
        "src": d.source(partitions, free, name, d.on_chip()),
        "shuffle_mask": mask,
    }


def place(d):
    return d.random.choice(("sbuf", "private_hbm"))


def indices(d, count, rows, beyond=False):
    """A column that names some rows, each once; `beyond`: some of them do not exist."""
    places = np.array(d.random.sample(range(rows), count), np.int32)[:, None]
    if beyond:
        gone = [d.chance(0.2) for _ in places]
        places[gone] = rows + d.random.randint(0, 99)
    return View(d.tile(places.shape, "int32", values=places))


def dma_copy(d):
    kind, partitions, free = d.random.random(), d.partitions(), d.shape()
    source, target = d.dtype(), d.dtype()
    if kind < 0.25:  # rows of HBM by an index, each once
        n = int(np.prod(free))
        rows = partitions + d.random.randint(0, 3)
        skip = {"oob_mode": Token("nisa.oob_mode.skip")} if d.chance(0.3) else {}
        index = indices(d, partitions, rows, beyond=bool(skip))
        if kind < 0.12:
            return skip | {
                "dst": Rows(d.tile((rows, n), target, "private_hbm"), index),
                "src": d.source(partitions, (n,), source),
            }
        return skip | {
            "dst": d.destination(partitions, (n,), target),
            "src": Rows(d.tile((rows, n), source, "private_hbm"), index),
        }
    if kind < 0.4:  # the same elements in another shape
        whole = (partitions * int(np.prod(free)),)
        return {
            "dst": d.fresh(partitions, free, target, "sbuf", False),
            "src": View(d.tile((1, *whole), source, "private_hbm")),
        }
    return {
        "dst": d.destination(partitions, free, target, place(d)),
        "src": d.source(partitions, free, source, place(d)),
    }


def dma_transpose(d):
    name = d.dtype(("float32", "bfloat16", "float16", "int32", "uint16"))
    rank = d.random.choice((2, 2, 3, 4))
    shape = tuple(d.random.randint(1, 6) for _ in range(rank - 2)) + (d.random.randint(1, 12),)
    rows = d.partitions(64)
    src = View(d.tile((rows, *shape), name, place(d)))
    turned = tuple((rows, *shape)[i] for i in {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}[rank])
    return {"dst": View(d.tile(turned, name)), "src": src}


def dma_compute(d):
    partitions, free = d.partitions(), d.shape()
    if d.chance(0.3):  # onto or with rows of HBM that an index names
        n, name = int(np.prod(free)), d.dtype()
        table = d.tile((partitions + d.random.randint(0, 3), n), name, "private_hbm")
        rows = Rows(table, indices(d, partitions, table.shape[0]))
        srcs = [rows, View(d.tile((partitions, n), name))]
        dst = d.random.choice(srcs)
        d.random.shuffle(srcs)
        return {"dst": dst, "srcs": srcs, "reduce_op": first.nl("add")}
    srcs = [d.source(partitions, free, d.dtype(), place(d)) for _ in range(d.random.randint(1, 4))]
    return {"dst": d.fresh(partitions, free, d.dtype(), place(d), False), "srcs": srcs, "reduce_op": first.nl("add")}


def exponential(d):
    sources = tuple(n for n in DTYPES if n not in ("tfloat32", "float8_e4m3fn", "float8_e8m0fnu", "bool_"))
    dst, src = elementwise(d, 1, [d.dtype(tuple(n for n in sources if n != "uint32")), d.dtype(sources)])
    return {"dst": dst, "src": src} | ({"max_value": d.scalar(src.shape[0])} if d.chance(0.6) else {})


FROM_V2 = (
    first.tensor_tensor,
    first.tensor_scalar,
    first.scalar_tensor_tensor,
    first.tensor_copy,
    first.tensor_copy_predicated,
    first.reciprocal,
    first.memset,
    first.activation,
    first.activation_reduce,
    first.iota,
    first.affine_select,
    first.select_reduce,
    first.tensor_reduce,
    first.tensor_partition_reduce,
    first.tensor_scalar_reduce,
    first.tensor_scalar_cumulative,
    first.tensor_tensor_scan,
    first.bn_stats,
    first.nc_transpose,
    max8,
    nc_find_index8,
    nc_match_replace8,
    local_gather,
    nc_n_gather,
    sequence_bounds,
    nc_stream_shuffle,
    dma_copy,
    dma_transpose,
    dma_compute,
)
GPSIMD = ("iota", "affine_select", "tensor_partition_reduce", "local_gather", "nc_n_gather", "sequence_bounds")
LATER = {first.range_select: 3, nonzero_with_count: 3, exponential: 4} | newer.SINCE
DRAW = {function.__name__: function for function in (*FROM_V2, *LATER)}
SINCE = {name: LATER.get(function, 2 if name in GPSIMD else 1) for name, function in DRAW.items()}


def legal(seed, chip=None):
    """A program, and its reference that has run it. The same seed draws the same program."""
    drawing = Drawing(seed, chip)
    for _ in range(drawing.random.randint(2, 7)):
        append(drawing)
    return drawing


def append(drawing, instruction=None):
    """One more step; returns it."""
    names = sorted(name for name, since in SINCE.items() if drawing.generation >= since)
    chosen = instruction or drawing.random.choice(names)
    arguments = DRAW[chosen](drawing)
    if not instruction and drawing.generation >= newer.INDIRECT_SINCE and drawing.chance(0.3):
        newer.indirect(drawing, chosen, arguments)
    step = Step(chosen, arguments)
    if not instruction and drawing.chance(0.05):
        step = in_a_loop(drawing)
    drawing.program.steps.append(step)
    drawing.reference.run(step)
    return step


def in_a_loop(d):
    """One slot after the other, in a loop of the hardware."""
    partitions, slots, width, name = d.partitions(), d.random.randint(1, 6), d.random.randint(1, 9), d.dtype()
    tiles = [d.tile((partitions, slots, width), name) for _ in range(2)]
    row = slots * width
    dst, src = (View(t, (("dynamic", ((row, partitions), (1, width)), 0, LOOP, 1, None),)) for t in tiles)
    loop = (d.random.randrange(slots), slots, d.random.randint(1, 2))
    kind = d.random.choice(("tensor_copy", "dma_copy", "activation"))
    if kind == "activation":
        return Step(kind, {"dst": dst, "op": first.nl("square"), "data": src, "scale": d.number()}, loop)
    return Step(kind, {"dst": dst, "src": src}, loop)
