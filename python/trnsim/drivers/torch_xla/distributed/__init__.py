"""`torch_xla.distributed`"""

from trnsim.drivers.torch_xla.distributed import parallel_loader, xla_multiprocessing  # noqa: F401
