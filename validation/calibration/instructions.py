"""Single instructions: how long one takes from start to result, and how soon the next may start."""

import re

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
import trnsim

from calibration.rows import Row

_DTYPES = {"fp32": nl.float32, "bfloat16": nl.bfloat16, "bf16": nl.bfloat16, "fp16": nl.float16}
_BUFFERS = {"SBUF": nl.sbuf, "PSUM": nl.psum}
_WARM_MATMULS = 64  # of 128 x 512: far beyond the time until the array's clock is at its full rate


def predict(row: Row) -> float | None:
    """Nanoseconds for an instruction row; None where the row speaks of something that is no instruction of NKI."""
    for pattern, build in _FORMS:
        match = re.fullmatch(pattern, row.name)
        if match:
            return build(row, *match.groups())
    return None


def _profiled(body) -> list[dict]:
    """The instructions of a kernel whose body is given, clocked without values."""

    @nki.jit
    def kernel(x):
        body()
        return x

    kernel(np.zeros((1, 1), np.float32))
    return trnsim.last_profile().instructions


def _tile(buffer: str, dtype: str, partitions: int, free: int):
    return nl.ndarray((partitions, free), dtype=_DTYPES[dtype], buffer=_BUFFERS[buffer])


def _duration(row: Row, issue, opcode: str, dst_free: int | None = None) -> float:
    """Start to result of the second of two equal instructions, so that nothing is loaded before it."""
    p = row.params

    def body():
        for _ in range(2):
            src = _tile(p["src"], p["src_dtype"], p["channels"], p["free"])
            dst = _tile(p["dst"], p["dst_dtype"], p["channels"], dst_free or p["free"])
            _fill(src)
            issue(dst, src)

    return _span([i for i in _profiled(body) if i["opcode"] == opcode][-1])


def _fill(tile):
    nisa.memset(tile, 0.0, engine=nisa.vector_engine)


def _span(instruction: dict) -> float:
    return instruction["end_ns"] - instruction["start_ns"]


def _activation(row, function):
    op = getattr(nl, function.lower())
    return _duration(row, lambda dst, src: nisa.activation(dst=dst, op=op, data=src), "activation")


def _copy(row, engine, _):
    unit = {"Scalar": nisa.scalar_engine, "Vector": nisa.vector_engine}[engine]
    return _duration(row, lambda dst, src: nisa.tensor_copy(dst=dst, src=src, engine=unit), "tensor_copy")


def _reduce(row, function):
    op = {"ADD": nl.add, "MAX": nl.maximum}[function]
    return _duration(row, lambda dst, src: nisa.tensor_reduce(dst=dst, op=op, data=src, axis=1), "tensor_reduce", 1)


def _reciprocal(row):
    return _duration(row, lambda dst, src: nisa.reciprocal(dst=dst, data=src), "reciprocal")


def _tensor_scalar(row):
    # The profiled kernels scale each row by a value of its own (softmax), hence a tile and not a number.
    def issue(dst, src):
        factors = _tile("SBUF", "fp32", row.params["channels"], 1)
        _fill(factors)
        nisa.tensor_scalar(dst=dst, data=src, op0=nl.multiply, operand0=factors)

    return _duration(row, issue, "tensor_scalar")


def _matmuls(row: Row, kind: str, free: int, count: int, warm: bool) -> list[dict]:
    """`count` independent matmuls (or transposes) of the row's size, after many others where it is to be warm."""
    transpose = kind == "transpose"

    def body():
        dtype = row.params.get("src_dtype", "bfloat16")
        stationary, moving = _tile("SBUF", dtype, 128, 128), _tile("SBUF", dtype, 128, 512)
        _fill(stationary)
        _fill(moving)
        for size, times in ((512, _WARM_MATMULS if warm else 0), (free, count)):
            for _ in range(times):
                # A true transpose leaves the data's own type; sums are fp32.
                out = dtype if transpose and size == free else "fp32"
                dst = _tile("PSUM", out, 128, size)
                nisa.nc_matmul(dst=dst, stationary=stationary, moving=moving[:, 0:size],
                               is_transpose=transpose and size == free)

    return [i for i in _profiled(body) if i["opcode"] == "nc_matmul"][-count:]


def _passes(row: Row, kind: str) -> int:
    """A profile counts the hardware's passes: an fp32 nc_matmul makes two, its true transpose one."""
    return 2 if row.params.get("src_dtype") == "fp32" and kind == "regular" else 1


def _matmul_interval(row, kind, free: int | None = None):
    warm = row.params.get("pe_rate", "full") == "full"
    first, second = _matmuls(row, kind, free or row.params["moving_free"], 2, warm)
    return (second["start_ns"] - first["start_ns"]) / _passes(row, kind)


def _matmul_duration(row, kind):
    free = row.params["free"]
    first = _matmuls(row, kind, free, 1, row.params.get("pe_rate", "full") == "full")[0]
    return _span(first) - (_passes(row, kind) - 1) * _matmul_interval(row, kind, free)


_FORMS = (
    (r"Scalar ACTIVATE (\w+)", _activation),
    (r"(Scalar|Vector) (CAST|COPY)", _copy),
    (r"Vector TENSOR_REDUCE (ADD|MAX)", _reduce),
    (r"Vector RECIPROCAL", _reciprocal),
    (r"Vector TENSOR_SCALAR MULTIPLY,BYPASS", _tensor_scalar),
    (r"PE MATMUL 128x128 (regular|transpose)", _matmul_duration),
    (r"PE MATMUL back-to-back initiation interval (regular|transpose)", _matmul_interval),
)
