"""`jax_neuronx`: calling kernels of the old style from JAX."""

from trnsim.drivers import NO_COUNTERPART, needs, refuse_others

jax = needs("jax", "jax_neuronx")

from trnsim.drivers import jax_call  # noqa: E402

__all__ = ["nki_call"]


def nki_call(func, *args, grid=(), out_shape=None, **kwargs):
    """Run an old-style kernel, whose last parameters are its outputs, on JAX arrays.

    out_shape: jax.ShapeDtypeStruct of each output, one or a tree of them. Returns arrays in the same tree. Works
    inside jax.jit.
    """
    return jax_call.old_style(func, args, kwargs, grid, out_shape)


__getattr__ = refuse_others("jax_neuronx", NO_COUNTERPART)
