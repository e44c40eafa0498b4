"""`torch_neuronx.xla_impl`"""

from trnsim.drivers.torch_neuronx.xla_impl import ops  # noqa: F401
