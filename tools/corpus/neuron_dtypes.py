"""Stands in for the vendor's package of this name in the tests of nki-library: numpy types and casts between them.

The packed types of four elements, which numpy lacks, are structures of one integer that bears the type's name.
"""

import ml_dtypes
import numpy as np

bfloat16 = np.dtype(ml_dtypes.bfloat16)
float8_e4m3 = np.dtype(ml_dtypes.float8_e4m3)
float8_e4m3fn = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e5m2 = np.dtype(ml_dtypes.float8_e5m2)
float8_e4m3fn_x4 = np.dtype([("float8_e4m3fn_x4", "<u4")])
float8_e5m2_x4 = np.dtype([("float8_e5m2_x4", "<u4")])
float4_e2m1fn_x4 = np.dtype([("float4_e2m1fn_x4", "<u2")])

_PACKED = {
    "float8_e4m3fn_x4": (float8_e4m3fn_x4, ml_dtypes.float8_e4m3fn),
    "float8_e5m2_x4": (float8_e5m2_x4, ml_dtypes.float8_e5m2),
    "float4_e2m1fn_x4": (float4_e2m1fn_x4, ml_dtypes.float4_e2m1fn),
}


def _packed_name(dtype):
    name = dtype.names[0] if isinstance(dtype, np.dtype) and dtype.names else str(dtype)
    return name if name in _PACKED else None


def _pack(array, name):
    packed, element = _PACKED[name]
    codes = np.asarray(array, np.float32).astype(element).view(np.uint8)
    codes = codes.reshape(*codes.shape[:-1], -1, 4)
    bits = 4 if packed.itemsize == 2 else 8
    carrier = np.dtype(f"<u{packed.itemsize}")
    word = sum(codes[..., i].astype(np.uint32) << (bits * i) for i in range(4))
    return word.astype(carrier).view(packed)


def _unpack(array):
    packed, element = _PACKED[array.dtype.names[0]]
    bits = 4 if packed.itemsize == 2 else 8
    words = np.ascontiguousarray(array).view(f"<u{packed.itemsize}").astype(np.uint32)
    codes = np.stack([(words >> (bits * i)) & ((1 << bits) - 1) for i in range(4)], axis=-1).astype(np.uint8)
    values = codes.view(element).astype(np.float32)
    return values.reshape(*values.shape[:-2], -1)


def static_cast(array, dtype):
    array, name = np.asarray(array), _packed_name(dtype)
    if _packed_name(array.dtype):
        if name == _packed_name(array.dtype):
            return array
        array = _unpack(array)
    if name:
        return _pack(array, name)
    with np.errstate(all="ignore"):
        return array.astype(getattr(dtype, "carrier", dtype))


def sizeinbytes(dtype):
    name = _packed_name(dtype)
    return (_PACKED[name][0] if name else np.dtype(dtype)).itemsize


def is_float_type(dtype):
    return _packed_name(dtype) is not None or np.dtype(dtype).kind in "fV"


def finfo(dtype):
    return ml_dtypes.finfo(dtype)
