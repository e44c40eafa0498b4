"""How many physical cores run a launch: what the kernel asks for, and what the chip is configured to."""

import os
import warnings

from trnsim import _native, releases

VARIABLE = "NEURON_LOGICAL_NC_CONFIG"


def size(chip) -> int:
    """Physical cores of a logical one: as the environment says, otherwise the chip's default.

    Raises ConfigError where the chip has no logical cores of the size asked for.
    """
    default = chip.logical_core_size
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return default
    if text not in [str(count) for count in range(1, default + 1)]:
        raise _native.ConfigError(f"{VARIABLE} is '{text}'; a logical core of {chip.name} has "
                                  f"{'1 core' if default == 1 else f'1 to {default} cores'}")
    return int(text)


def cores_of_launch(kernel: str, degree: int, chip) -> int:
    """Physical cores for a launch that is written for `degree` of them. A chip without logical cores that large runs
    it on one; so does every chip where `degree` is 1.

    Raises ProgramError where the environment names another size than the kernel.
    """
    available = size(chip)
    if degree == 1:
        if os.environ.get(VARIABLE) and available > 1 and not releases.applies("LNC degrees may differ"):
            given = f": it is launched on one core, {VARIABLE} is {available}"
            releases.refuse("launch.lnc", f"kernel '{kernel}'", "LNC degrees may differ", given)
        if os.environ.get(VARIABLE) and available > 1:
            warnings.warn(f"kernel '{kernel}' is launched on one core, but {VARIABLE} is {available}: on the device "
                          f"the launch degree must equal it ({kernel}[{available}](...))", stacklevel=2)
        return 1
    if degree > 2:
        return 1
    if degree > available and available < chip.logical_core_size:
        error = _native.ProgramError(f"kernel '{kernel}' is launched on {degree} cores, but {VARIABLE} is {available}; "
                                     f"set it to {degree}, or launch the kernel on {available}")
        error.rule = "launch.lnc"
        raise error
    return degree if degree <= available else 1
