"""`torch_xla.utils`"""

from trnsim.drivers.torch_xla.utils import checkpoint, utils  # noqa: F401
