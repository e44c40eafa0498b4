"""`torch_neuronx.xla_impl`"""

from trnsim.drivers.torch_neuronx.xla_impl import custom_op, ops  # noqa: F401
