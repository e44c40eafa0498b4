"""`neuronxcc`, as far as NKI kernels import it."""

from trnsim.beta1.neuronxcc import nki  # noqa: F401

__version__ = "2.20.0+trnsim"
