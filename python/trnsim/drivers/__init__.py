"""Stand-ins for the packages that drive a Neuron device: torch_xla, torch_neuronx, jax_neuronx.

A script written for a Neuron instance finds them under `trnsim run`. The device is the CPU: what PyTorch or JAX
computes is computed there and takes no simulated time; NKI kernels are simulated. One process is one worker, alone in
its world. What has no counterpart here is refused by name when it is asked for.
"""

from trnsim import _native


class UnsupportedName(_native.Unsupported, AttributeError):
    """A name that a stand-in does not have; hasattr() still answers."""


class UnsupportedModule(_native.Unsupported, ImportError):
    """A package that has no stand-in; `except ImportError` still works."""


def refuse_others(module: str, because: str):
    """The __getattr__ of a stand-in: refuse every name that it does not have."""

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        raise UnsupportedName(f"{module}.{name}, because {because}")

    return __getattr__


def refuse(what: str, because: str):
    raise _native.Unsupported(f"{what}, because {because}")


def needs(package: str, stand_in: str):
    """Import `package`, on which a stand-in rests, or say which one is missing."""
    try:
        return __import__(package)
    except ImportError:
        raise UnsupportedModule(f"{stand_in} without {package}, because the simulator runs it with {package} on the "
                                f"CPU; pip install {package}") from None


ONE_WORKER = "the simulator runs one worker in one process"
NO_COUNTERPART = "it has no counterpart in the simulator, which has what drivers of kernels commonly use"
