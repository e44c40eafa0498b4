"""`torch_neuronx.experimental`"""

from trnsim.drivers import NO_COUNTERPART, refuse_others
from trnsim.drivers.torch_neuronx.experimental import profiler  # noqa: F401

__getattr__ = refuse_others("torch_neuronx.experimental", NO_COUNTERPART)
