"""nki.dtype: the element types, and `dtype` as their annotation."""

import numpy as np

from trnsim.dtypes import *  # noqa: F403

DType = np.dtype
