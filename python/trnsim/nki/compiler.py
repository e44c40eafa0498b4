"""nki.compiler of release 0.7: what a kernel asks of the vendor's compiler. Nothing here changes a simulation."""

from dataclasses import dataclass
from enum import Enum

from trnsim.lowering.tiles import refuse


class AddressRotation(Enum):
    """Whether the compiler may move tensors to other addresses."""

    AUTO = "auto"
    ENABLE = "enable"
    DISABLE = "disable"


@dataclass
class CompileConfig:
    """@nki.jit(compile_config=...): options of compilation. Those whose default the vendor does not say are None."""

    address_rotation: AddressRotation = AddressRotation.AUTO
    non_ssa_legalization: bool | None = None
    dead_code_elim: bool | None = None
    barrier_check: bool | None = None
    prefetch_auto: bool = False
    nki_alloc_fallback: bool = True


@dataclass
class SpecializationConfig:
    """@nki.jit(specialization_config=...): options of the tracing of the kernel."""

    allow_nested_config_override: bool | None = None


_OPTIONS = {"compile_config": CompileConfig, "specialization_config": SpecializationConfig}


def check_options(options) -> None:
    """Refuse configurations of nki.jit that are of another type."""
    for name, kind in _OPTIONS.items():
        if options.get(name) is not None and not isinstance(options[name], kind):
            refuse("launch.config", f"nki.jit: {name} must be a nki.compiler.{kind.__name__}, got {options[name]!r}")
