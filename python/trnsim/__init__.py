"""trnsim runs AWS Trainium and Inferentia kernels without the chip: the bits, the time, and the reason for the time.

    import trnsim
    trnsim.install(chip="trn2")      # from here on `import nki` and `import neuronxcc.nki` mean the simulator
    ...                              # call kernels
    trnsim.last_profile().latency_us
"""

from trnsim._native import (
    ConfigError,
    Error,
    InternalError,
    MissingSpec,
    NonFiniteError,
    ProgramError,
    Unimplemented,
    Unsupported,
)
from trnsim.imports import install, uninstall
from trnsim.session import last_profile, profiles

__all__ = [
    "ConfigError", "Error", "InternalError", "MissingSpec", "NonFiniteError", "ProgramError", "Unimplemented",
    "Unsupported", "install", "last_profile", "profiles", "uninstall",
]

pytest_plugins = ("trnsim.pytest_plugin",)  # so that `pytest -p trnsim` finds it
