"""`torch_neuronx`: kernels' decorators, and models that run on the CPU with their kernels simulated."""

from trnsim.drivers import NO_COUNTERPART, ONE_WORKER, needs, refuse, refuse_others

needs("torch", "torch_neuronx")

from trnsim import nki  # noqa: E402
from trnsim.beta1.kernel import trace as _old_style_kernel  # noqa: E402
from trnsim.drivers import torch_device  # noqa: E402

torch_device.install()

__all__ = ["DataParallel", "async_load", "lazy_load", "move_trace_to_device", "nki", "nki_jit", "nki_op", "trace"]


def nki_jit(func=None, **options):
    """Decorate a kernel whose outputs are parameters that it stores into; compiler options are unused."""
    return _old_style_kernel(func, **options)


def nki_op(name: str, mutates_args=(), **options):
    """Decorate a function that calls kernels; it is called as it is, without PyTorch's dispatcher."""
    return lambda function: function


def trace(func, example_inputs, *args, **options):
    """`func` as it is, called once with the example: nothing is compiled, its kernels are simulated at each call."""
    func(*example_inputs) if isinstance(example_inputs, (tuple, list)) else func(example_inputs)
    return func


def DataParallel(model, device_ids=None, dim=0, **options):  # noqa: N802
    """`model` as it is, on the one device. Raises Unsupported for more."""
    if device_ids is not None and len(device_ids) > 1:
        refuse(f"torch_neuronx.DataParallel over {len(device_ids)} devices", ONE_WORKER)
    return model


def async_load(trace, enable_async_load=True) -> None:
    """There is no device to load a model to."""


def lazy_load(trace, enable_lazy_load=True) -> None:
    """There is no device to load a model to."""


def move_trace_to_device(trace, device_id: int) -> None:
    """Raises Unsupported for a device other than 0."""
    if device_id:
        refuse(f"torch_neuronx device {device_id}", ONE_WORKER)


__getattr__ = refuse_others("torch_neuronx", NO_COUNTERPART)

from trnsim.drivers.torch_neuronx import experimental, utils, xla_impl  # noqa: E402, F401
