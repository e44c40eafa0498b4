"""The devices "xla" and "neuron" of PyTorch: names of the CPU here.

A function mode in front of PyTorch replaces them wherever a device is given, so that `tensor.to("xla")` and
`torch.zeros(4, device="xla")` give CPU tensors.
"""

import torch
from torch.overrides import TorchFunctionMode

CPU = torch.device("cpu")
_NAMES = ("xla", "neuron", "privateuseone")


def is_neuron(device) -> bool:
    """Whether `device` is a string or torch.device that names a Neuron device."""
    if isinstance(device, str):
        return device.partition(":")[0] in _NAMES
    return isinstance(device, torch.device) and device.type in _NAMES


class _OnTheCpu(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if is_neuron(kwargs.get("device")):
            kwargs = {**kwargs, "device": CPU}
        if any(is_neuron(argument) for argument in args[1:]):
            args = args[:1] + tuple(CPU if is_neuron(argument) else argument for argument in args[1:])
        return function(*args, **kwargs)


_mode = None


def install():
    """Replace Neuron devices by the CPU from here on, in this thread."""
    global _mode
    if _mode is None:
        if torch._C._get_privateuse1_backend_name() == "privateuseone":
            torch.utils.rename_privateuse1_backend("neuron")  # so that torch.device("neuron") is a name
        _mode = _OnTheCpu()
        _mode.__enter__()


