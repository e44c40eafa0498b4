"""`torch_neuronx.xla_impl.ops`"""

from trnsim.drivers import refuse_others
from trnsim.drivers.torch_neuronx import nki_jit  # noqa: F401

__getattr__ = refuse_others("torch_neuronx.xla_impl.ops", "the compiler's own operators are not NKI kernels")
