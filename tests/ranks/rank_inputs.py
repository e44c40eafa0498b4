"""Inputs that differ from rank to rank."""

import ml_dtypes
import numpy as np


def sample(shape, dtype, seed):
    """Values whose sums are no round numbers; small enough for every dtype."""
    host = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    values = np.random.default_rng(seed).uniform(-3, 3, shape)
    if host.kind in "iu":
        values = np.rint(values * 10).clip(np.iinfo(host).min, np.iinfo(host).max)
    return values.astype(host)
