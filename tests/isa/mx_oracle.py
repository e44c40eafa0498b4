"""What the tests of the MX instructions share: packed arrays, and numpy's answers to quantising and dequantising.

An x4 array is [P, F] units of four elements: uint32 for fp8 (element q is byte q), uint16 for fp4 (element q is the
q-th nibble from below). One scale byte s stands for 2**(s - 127) and serves 8 partitions x 1 unit.
"""

import ml_dtypes
import numpy as np
from vector_oracle import new, nisa, nl

ELEMENTS = {
    "float8_e4m3fn_x4": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2_x4": np.dtype(ml_dtypes.float8_e5m2),
    "float4_e2m1fn_x4": np.dtype(ml_dtypes.float4_e2m1fn),
}
# Exponent and value of the largest finite element.
LARGEST = {"float8_e4m3fn_x4": (8, 448.0), "float8_e5m2_x4": (15, 57344.0)}


def packed(values, name):
    """[P, 4 F] numbers as [P, F] units."""
    elements = np.asarray(values, np.float32).astype(ELEMENTS[name])
    if elements.dtype != ml_dtypes.float4_e2m1fn:
        return np.ascontiguousarray(elements).view(np.uint32)
    nibbles = elements.view(np.uint8).astype(np.uint16).reshape(len(elements), -1, 4) & 15
    return (nibbles << np.array([0, 4, 8, 12], np.uint16)).sum(2, dtype=np.uint16)


def unpacked(units, name):
    """[P, F] units as [P, F, 4] fp32."""
    if name != "float4_e2m1fn_x4":
        elements = np.ascontiguousarray(units).view(np.uint8).view(ELEMENTS[name])
    else:
        nibbles = units[..., None] >> np.array([0, 4, 8, 12], np.uint16) & 15
        elements = nibbles.astype(np.uint8).view(ELEMENTS[name])
    return elements.reshape(*units.shape, 4).astype(np.float32)


def scale_factors(scales):
    with np.errstate(over="ignore"):
        factors = np.exp2(scales.astype(np.float64) - 127).astype(np.float32)
    return np.where(scales == 255, np.float32(np.nan), factors)


def dequantized(units, scales, name):
    """[4 P, F] fp32: the four elements of a unit become consecutive rows."""
    with np.errstate(all="ignore"):
        values = unpacked(units, name) * np.repeat(scale_factors(scales), 8, axis=0)[:, :, None]
    return values.transpose(0, 2, 1).reshape(-1, units.shape[1])


def quantized(values, name, ocp=False):
    """Units and scales [P / 8, F] of [P, 4 F] numbers; with `ocp` by the older, saturating rule."""
    values = np.asarray(values).astype(np.float64)
    exponent, limit = LARGEST[name]
    groups = np.abs(values).reshape(len(values) // 8, 8, -1, 4).max((1, 3))
    powers = np.where(groups == 0, -1000, np.frexp(groups)[1] - 1) - exponent + (0 if ocp else 1)
    powers = np.clip(powers, -127, 127)
    quotients = values / np.exp2(np.repeat(np.repeat(powers, 8, 0), 4, 1).astype(np.float64))
    if ocp:
        quotients = np.clip(quotients, -limit, limit)
    return packed(quotients, name), (powers + 127).astype(np.uint8)


def spread(scales, offset=0, filler=255):
    """Scales [P / 8, F] as they lie in SBUF, from the first quadrant's row `offset` on; `filler` between them."""
    quadrants = len(scales) // 4
    tile = np.full((32 * quadrants, scales.shape[1]), filler, np.uint8)
    for q in range(quadrants):
        tile[32 * q + offset : 32 * q + offset + 4] = scales[4 * q : 4 * q + 4]
    return tile[offset:]


def load_x4(tensor, name):
    """In a kernel: an SBUF tile of units, from an array of integers."""
    tile = new(tensor.shape, name)
    nisa.dma_copy(dst=tile, src=tensor.view(getattr(nl, name)))
    return tile
