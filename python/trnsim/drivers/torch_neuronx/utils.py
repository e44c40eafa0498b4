"""`torch_neuronx.utils`"""

from trnsim import session
from trnsim.drivers import NO_COUNTERPART, refuse_others


def get_platform_target() -> str:
    """The simulated chip, such as "trn2"."""
    return session.settings.chip


__getattr__ = refuse_others("torch_neuronx.utils", NO_COUNTERPART)
