"""`neuronxcc`, as far as NKI kernels import it."""

import logging

from trnsim.beta1.neuronxcc import nki  # noqa: F401

__version__ = "2.20.0+trnsim"

# The vendor's package adds a level above CRITICAL to Python's logging, and kernels use it:
# logging.disable(logging.OFF).
if not hasattr(logging, "OFF"):
    logging.OFF = logging.CRITICAL + 10
