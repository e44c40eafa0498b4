"""More ways to break a rule, see fuzz_ways.py: of the Tensor Engine, and of what no step says."""

import numpy as np
from fuzz_programs import Step, View, nisa
from fuzz_programs import nl as language
from fuzz_ways import WAYS, changed, way

__all__ = ["WAYS"]


def product(d, k=8, m=8, n=8, types=("bfloat16", "bfloat16", "float32"), place="psum", **shapes):
    tiles = [
        d.tile((k, m), types[0]),
        d.tile((shapes.get("moving_k", k), n), types[1]),
        d.tile((m, shapes.get("dst_n", n)), types[2], place),
    ]
    return Step(
        "nc_matmul",
        {"stationary": View(tiles[0]), "moving": View(tiles[1]), "dst": View(tiles[2]), "accumulate": False},
    )


MATMULS = {
    "dtype_mix": {"types": ("float32", "bfloat16", "float32")},
    "dtype": {"types": ("int8", "bfloat16", "float32")},
    "dst_dtype": {"types": ("bfloat16", "bfloat16", "float16")},
    "same_partitions": {"moving_k": 9},
    "dst_shape": {"dst_n": 9},
    "buffer": {"place": "sbuf"},
}


@way
def matmul(d):
    rule = d.random.choice(sorted(MATMULS))
    return f"nc_matmul.{rule}", product(d, **MATMULS[rule])


@way
def matmul_limits(d):
    k = d.random.randint(1, 128)
    if d.chance(0.5):
        step = product(d, k=k, m=4)
        return "nc_matmul.stationary_free", changed(step, stationary=View(d.tile((k, 129), "bfloat16")))
    columns = 513 if d.generation < 4 else 4097
    step = product(d, k=k, m=4)
    return "nc_matmul.moving_free", changed(
        step,
        moving=View(
            d.tile(
                (k, columns), "bfloat16", values=np.zeros((k, columns), step.arguments["moving"].tile.values.dtype)
            )
        ),
    )


# -- what no step says ----------------------------------------------------------------------------------------------


@way
def accumulation_onto_nothing(d):
    step = product(d)
    if d.generation > 3:  # NeuronCore-v4 may
        return "nc_matmul.dtype_mix", product(d, **MATMULS["dtype_mix"])
    operands = [step.arguments[name].tile.name for name in ("stationary", "moving")]

    def body(tensors):
        psum = language.ndarray((8, 8), dtype=language.float32, buffer=language.psum)
        nisa.nc_matmul(psum, *(tensors[name] for name in operands), accumulate=True)

    return "nc_matmul.accumulate", body


@way
def never_written(d):
    n = d.random.randint(1, 40)
    buffer = d.random.choice(("sbuf", "private_hbm"))

    def body(_):
        source, dst = (
            language.ndarray((8, n), dtype=language.float32, buffer=b)
            for b in (getattr(language, buffer), language.sbuf)
        )
        nisa.memset(source[:, : n - 1], 0.0) if buffer == "sbuf" and n > 1 else None
        nisa.dma_copy(dst=dst, src=source)

    return "memory.never_written", body


@way
def one_element_past_the_end(d):
    n = d.random.randint(1, 60)

    def body(_):
        tile = language.ndarray((8, n), dtype=language.float32, buffer=language.sbuf)
        nisa.memset(tile.ap([[n, 8], [1, n]], 1), 0.0)

    return "tensor.out_of_bounds", body


@way
def partition_steps(d):
    step = d.random.randint(2, 4)

    def body(_):
        tile = language.ndarray((32, 8), dtype=language.float32, buffer=language.sbuf)
        nisa.memset(tile.ap([[8 * step, 4], [1, 8]]), 0.0)

    return "tensor.partition_step", body


@way
def too_many_partitions(d):
    count = d.random.randint(129, 1000)
    return "tensor.partitions", lambda _: language.ndarray((count, 1), dtype=language.int8, buffer=language.sbuf)


@way
def more_than_a_partition(d):
    buffer, most = d.random.choice(((language.sbuf, 256 * 1024), (language.psum, 16 * 1024)))

    def body(_):
        nisa.memset(language.ndarray((1, most + 1), dtype=language.int8, buffer=buffer), 0)

    return "memory.capacity", body


@way
def address_outside(d):
    address = d.random.choice(((120, 0), (0, 300_000), (0, -32)))
    return "memory.address", lambda _: language.ndarray(
        (16, 8), dtype=language.float32, buffer=language.sbuf, address=address
    )


@way
def instruction_with_a_bad_index(d):
    at = d.random.randint(8, 99)

    def body(_):
        tile = language.ndarray((8, 8), dtype=language.float32, buffer=language.sbuf)
        nisa.memset(tile[:, at], 0.0)

    return "tensor.out_of_bounds", body
