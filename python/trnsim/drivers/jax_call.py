"""Kernels called on JAX arrays: old-style ones, whose outputs are parameters, and any inside jax.jit.

Under jax.jit a kernel becomes a callback on the host. The shapes of its results are found by running it once on the
shapes alone.
"""

import dataclasses

import jax
import numpy as np

from trnsim import session
from trnsim.drivers import refuse


def old_style(function, args, kwargs, grid, out_shape):
    """The outputs of a kernel whose last parameters they are, shaped as `out_shape`."""
    from trnsim.beta1.kernel import trace

    if out_shape is None:
        refuse("nki_call without out_shape", "an old-style kernel does not tell the shapes of its outputs")
    kernel = trace(function)
    if grid not in ((), None):
        kernel = kernel[grid]
    shapes, tree = jax.tree_util.tree_flatten(out_shape)

    def run(*inputs):
        outputs = [np.zeros(shape.shape, shape.dtype) for shape in shapes]
        kernel(*[np.asarray(value) if isinstance(value, jax.Array) else value for value in inputs], *outputs, **kwargs)
        return outputs

    return jax.tree_util.tree_unflatten(tree, _call(run, shapes, args))


def traced(launch, args, kwargs):
    """launch(args, kwargs) inside jax.jit: with the arrays when the compiled function runs."""
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs), is_leaf=lambda leaf: leaf is None)
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, (jax.Array, np.ndarray))]
    found = {}

    def run(*inputs):
        filled = list(leaves)
        for place, value in zip(places, inputs, strict=True):
            filled[place] = np.asarray(value)
        results, found["tree"] = jax.tree_util.tree_flatten(launch(*jax.tree_util.tree_unflatten(tree, filled)))
        return results

    arrays = [leaves[place] for place in places]
    shapes = _shapes_of_results(run, arrays)
    return jax.tree_util.tree_unflatten(found["tree"], _call(run, shapes, arrays))


def _shapes_of_results(run, arrays):
    """Run on zeros without values; leaves no profile."""
    settings, count = session.settings, len(session.profiles())
    session.settings = dataclasses.replace(settings, timing_only=True)
    try:
        results = run(*[np.zeros(array.shape, array.dtype) for array in arrays])
    finally:
        session.settings = settings
        session.forget_profiles(after=count)
    return [jax.ShapeDtypeStruct(np.shape(result), np.asarray(result).dtype) for result in results]


def _call(run, shapes, inputs):
    if any(isinstance(value, jax.core.Tracer) for value in inputs):
        return jax.pure_callback(lambda *values: run(*values), shapes, *inputs, vmap_method="sequential")
    return [jax.numpy.asarray(output) for output in run(*inputs)]
