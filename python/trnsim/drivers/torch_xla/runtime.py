"""`torch_xla.runtime`: one process, one device."""

from trnsim.drivers import NO_COUNTERPART, ONE_WORKER, refuse, refuse_others
from trnsim.drivers.torch_xla.core import xla_model


def device_type() -> str:
    return "NEURON"


def set_device_type(pjrt_device: str) -> None:
    if pjrt_device not in ("NEURON", "CPU"):
        refuse(f"torch_xla.runtime.set_device_type('{pjrt_device}')", "the simulated device is NEURON")


def _one() -> int:
    return 1


def _zero() -> int:
    return 0


world_size = process_count = local_process_count = _one
global_device_count = local_device_count = addressable_device_count = global_runtime_device_count = _one
global_ordinal = local_ordinal = process_index = _zero


def xla_device(n=None, devkind=None):
    return xla_model.xla_device(n)


def is_spmd() -> bool:
    return False


def using_pjrt() -> bool:
    return True


def initialize_cache(path, readonly=False) -> None:
    """Nothing is compiled, so nothing is cached."""


__getattr__ = refuse_others("torch_xla.runtime", NO_COUNTERPART)
