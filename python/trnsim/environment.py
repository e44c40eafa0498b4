"""The vendor's environment variables that the simulator heeds, read when a kernel is launched.

What the user says in trnsim.install() or on the command line counts more. NKI_SIMULATOR asks the vendor's package for
its simulator; here every kernel is simulated, so it changes nothing.
"""

import os

from trnsim import _native

_TARGETS = {
    "trn1": "trn1", "inf2": "inf2", "gen2": "trn1", "trn2": "trn2", "gen3": "trn2", "trn3": "trn3", "gen4": "trn3",
}
_SWITCH = {"1": True, "true": True, "0": False, "false": False}


def _switch(variable: str) -> bool:
    text = os.environ.get(variable, "0")
    if text.lower() not in _SWITCH:
        raise _native.ConfigError(f"{variable} is '{text}'; it must be 1, 0, true or false")
    return _SWITCH[text.lower()]


def chip_of_target(target: str, where: str) -> str:
    """The chip of the catalogue that a platform target means. Raises ConfigError for an unknown one."""
    if target not in _TARGETS:
        raise _native.ConfigError(f"{where} is '{target}'; it must be one of {', '.join(_TARGETS)}")
    return _TARGETS[target]


def chip() -> str | None:
    """NEURON_PLATFORM_TARGET_OVERRIDE, as a chip; None where it is not set."""
    target = os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE")
    return chip_of_target(target, "NEURON_PLATFORM_TARGET_OVERRIDE") if target else None


def stochastic_rounding() -> bool:
    """NEURON_RT_STOCHASTIC_ROUNDING_EN."""
    return _switch("NEURON_RT_STOCHASTIC_ROUNDING_EN")


def stochastic_rounding_seed() -> int:
    """NEURON_RT_STOCHASTIC_ROUNDING_SEED, 0 where it is not set."""
    text = os.environ.get("NEURON_RT_STOCHASTIC_ROUNDING_SEED", "0")
    if not text.isdigit():
        raise _native.ConfigError(f"NEURON_RT_STOCHASTIC_ROUNDING_SEED is '{text}'; it must be an integer from 0 on")
    return int(text)


def require_precise_floats() -> None:
    """NKI_PRECISE_FP, which is on where it is not set; raises Unsupported where it is off."""
    if "NKI_PRECISE_FP" in os.environ and not _switch("NKI_PRECISE_FP"):
        refuse_fp32_storage()


def refuse_fp32_storage() -> None:
    """Raises Unsupported: what NKI_PRECISE_FP=0 asks for."""
    raise _native.Unsupported(
        "NKI_PRECISE_FP=0, fp32 in place of every narrower float type, because tiles keep their true bytes here: views "
        "as another dtype and tiles at overlapping addresses would read halves of fp32 numbers. "
        "Ask for nl.float32 where the kernel creates its tensors instead."
    )


def older_frontend() -> bool:
    """NKI_COMPILER_FRONTEND=custom: release 0.7 specialises kernels as 0.6 did, and takes its loops."""
    text = os.environ.get("NKI_COMPILER_FRONTEND", "tracer")
    if text not in ("custom", "tracer"):
        raise _native.ConfigError(f"NKI_COMPILER_FRONTEND is '{text}'; it must be custom or tracer")
    return text == "custom"


def transposes_on_tensor_engine() -> bool:
    """NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE: dma_transpose runs on the Tensor engine and keeps a PSUM bank for itself."""
    return _switch("NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE")
