"""NeuronCore element types as Python objects: numpy dtypes where numpy or ml_dtypes has one, plain names otherwise."""

import ml_dtypes
import numpy as np

from trnsim import _native


class NamedDtype:
    """A type that numpy has not: a name with an item size, equal to its name as text.

    Its arrays come back to the user as the type in `carrier`. Where numpy wants a dtype, as in np.zeros(shape, dtype),
    it stands for a structure of one carrier that bears its name, and such arrays are of this type in kernels.
    """

    def __init__(self, name: str, carrier: str):
        self.name = name
        self.carrier = np.dtype(carrier)
        self.dtype = np.dtype([(name, self.carrier)])  # what numpy takes

    @property
    def itemsize(self) -> int:
        return self.carrier.itemsize

    def __eq__(self, other):
        return self.name == other if isinstance(other, str) else NotImplemented

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return self.name


float32 = np.dtype(np.float32)
tfloat32 = NamedDtype("tfloat32", "float32")
bfloat16 = np.dtype(ml_dtypes.bfloat16)
float16 = np.dtype(np.float16)
float8_e3m4 = np.dtype(ml_dtypes.float8_e3m4)
float8_e4m3 = np.dtype(ml_dtypes.float8_e4m3)
float8_e4m3fn = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e5m2 = np.dtype(ml_dtypes.float8_e5m2)
float8_e8m0fnu = np.dtype(ml_dtypes.float8_e8m0fnu)
int8, int16, int32 = np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.int32)
uint8, uint16, uint32 = np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32)
bool_ = np.dtype(np.bool_)
float8_e4m3fn_x4 = NamedDtype("float8_e4m3fn_x4", "uint32")
float8_e5m2_x4 = NamedDtype("float8_e5m2_x4", "uint32")
float4_e2m1fn_x4 = NamedDtype("float4_e2m1fn_x4", "uint16")

NAMES = (
    "float32", "tfloat32", "bfloat16", "float16", "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e5m2",
    "float8_e8m0fnu", "int8", "int16", "int32", "uint8", "uint16", "uint32", "bool_", "float8_e4m3fn_x4",
    "float8_e5m2_x4", "float4_e2m1fn_x4",
)

for _name in NAMES:
    _native.register_dtype(_name, globals()[_name])


def host_dtype(dtype) -> np.dtype:
    """The numpy dtype in which arrays of `dtype` come back to the user."""
    return dtype.carrier if isinstance(dtype, NamedDtype) else np.dtype(dtype)
