"""`torch_xla.core`"""

from trnsim.drivers.torch_xla.core import xla_model  # noqa: F401
