"""`torch_xla`: the XLA device is the CPU, and every operation runs when it is called."""

import contextlib

from trnsim.drivers import NO_COUNTERPART, needs, refuse_others

torch = needs("torch", "torch_xla")

from trnsim.drivers import torch_device  # noqa: E402

torch_device.install()

from trnsim.drivers.torch_xla import core, debug, distributed, runtime, utils  # noqa: E402

__version__ = "2.9.0"
__all__ = ["compile", "core", "debug", "device", "device_count", "devices", "distributed", "launch", "manual_seed",
           "real_devices", "runtime", "step", "sync", "utils"]


def device(index: int | None = None):
    """The device of this worker: the CPU."""
    return core.xla_model.xla_device(index)


def devices() -> list:
    return [device()]


def real_devices() -> list[str]:
    return ["NEURON:0"]


def device_count() -> int:
    return 1


def sync(wait: bool = False, reset_scope: bool = True) -> None:
    """Run closures that wait for the end of a step; nothing else is pending here."""
    core.xla_model.mark_step(wait)


@contextlib.contextmanager
def step():
    """A step: `sync` at its end."""
    yield
    sync()


def compile(f=None, full_graph=False, name=None, num_different_graphs_allowed=None):  # noqa: A001
    """`f` as it is, or a context manager: nothing is compiled, kernels are simulated when they are called."""
    return contextlib.nullcontext() if f is None else f


def manual_seed(seed, device=None) -> None:
    torch.manual_seed(seed)


def launch(fn, args=(), start_method="spawn", debug_single_process=False):
    """fn(0, *args): the only worker."""
    return distributed.xla_multiprocessing.spawn(fn, args)


__getattr__ = refuse_others("torch_xla", NO_COUNTERPART)
