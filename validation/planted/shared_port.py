"""On NeuronCore-v2 Vector and GpSimd exclude each other from SBUF; the Scalar Engine would be free."""

import nki
import nki.isa as nisa
import nki.language as nl

from planted.parts import loaded, sbuf, stored, zeros

CHIP, OBSTACLE = "trn1", "separate-ports"
COLUMNS, TIMES = 2048, 12


def arguments():
    return (zeros(128, COLUMNS),)


def kernel(x, double_on_another):
    tile, first, second = loaded(x), sbuf(COLUMNS), sbuf(COLUMNS)
    for _ in range(TIMES):
        nisa.tensor_scalar(dst=first, data=tile, op0=nl.multiply, operand0=2.0, engine=nisa.vector_engine)
        double_on_another(second, tile)
    return stored(first), stored(second)


@nki.jit
def bad(x):
    return kernel(x, lambda dst, src: nisa.tensor_tensor(dst=dst, data1=src, data2=src, op=nl.add,
                                                         engine=nisa.gpsimd_engine))


@nki.jit
def good(x):
    return kernel(x, lambda dst, src: nisa.activation(dst=dst, op=nl.copy, data=src, scale=2.0))
