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
from trnsim.ranks import count as rank_count
from trnsim.ranks import rank
from trnsim.session import last_profile, profiles, run_ranks

__all__ = [
    "ConfigError", "Error", "InternalError", "MissingSpec", "NonFiniteError", "ProgramError", "Unimplemented",
    "Unsupported", "install", "last_profile", "profiles", "rank", "rank_count", "run_ranks", "uninstall",
]

pytest_plugins = ("trnsim.pytest_plugin",)  # so that `pytest -p trnsim` finds it
