"""`neuronxcc.nki.isa`."""

from trnsim.beta1.isa import *  # noqa: F403
from trnsim.beta1.isa import __getattr__  # noqa: F401
from trnsim.beta1.neuronxcc.nki.isa import constants  # noqa: F401
