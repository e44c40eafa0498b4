"""What parameters and tiles are annotated with, which can stand for an array as well."""

import numpy as np

from trnsim import dtypes
from trnsim.beta1.issue import dtype_of
from trnsim.lowering.tiles import refuse


class Annotation:
    """tensor, or tensor[128, 512] with a shape; tensor[[128, 512], nl.float32], which has a dtype as well, stands for
    an array in the arguments of a benchmark."""

    def __init__(self, name, shape=None):
        self._name = name
        self._shape = shape

    def __getitem__(self, shape):
        return Annotation(self._name, shape)

    def __call__(self, *args, **kwargs):
        return self

    def zeros(self):
        """An array of this shape and dtype. Raises ProgramError where either is missing."""
        shape = self._shape
        if not isinstance(shape, tuple) or len(shape) != 2 or not isinstance(shape[0], (list, tuple)):
            refuse(
                "benchmark.argument",
                f"nt.{self!r} in the place of an array needs a shape and a dtype: nt.tensor[[128, 512], nl.float32]",
            )
        return np.zeros(tuple(shape[0]), dtypes.host_dtype(dtype_of(shape[1])))

    def __repr__(self):
        return self._name if self._shape is None else f"{self._name}[{self._shape}]"
