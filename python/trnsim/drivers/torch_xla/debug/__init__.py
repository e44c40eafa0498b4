"""`torch_xla.debug`"""

from trnsim.drivers.torch_xla.debug import metrics, profiler  # noqa: F401
