"""`torch_neuronx`, as far as NKI kernels import it: the decorator of Beta 1's first releases."""

from trnsim.beta1.kernel import trace


def nki_jit(func=None, **options):
    """Decorate a kernel whose outputs are parameters that it stores into; compiler options are unused."""
    return trace(func, **options)
