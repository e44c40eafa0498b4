"""Arrays of the user's framework in and out of simulated HBM: numpy always, PyTorch and JAX where they are in use.

Frameworks are recognised by their modules being loaded already; nothing is imported for the sake of asking.
"""

import sys

import numpy as np

from trnsim import _native, dtypes


def _is(array, module: str, name: str) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(array, getattr(loaded, name))


def is_array(value) -> bool:
    return isinstance(value, np.ndarray) or _is(value, "torch", "Tensor") or _is(value, "jax", "Array")


def any_traced(value) -> bool:
    """Whether there is an array of jax.jit, without values yet, in tuples, lists and dicts."""
    if sys.modules.get("jax") is None:
        return False
    if isinstance(value, (tuple, list)):
        return any(any_traced(entry) for entry in value)
    if isinstance(value, dict):
        return any_traced(list(value.values()))
    return isinstance(value, sys.modules["jax"].core.Tracer)


def to_numpy(array) -> np.ndarray:
    """A numpy array with the values of `array`; may share its memory."""
    if isinstance(array, np.ndarray):
        return array
    if _is(array, "torch", "Tensor"):
        import torch

        array = array.detach().cpu().contiguous()
        carriers = {torch.bfloat16: (torch.int16, dtypes.bfloat16)}
        for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"):
            if hasattr(torch, name):
                carriers[getattr(torch, name)] = (torch.uint8, getattr(dtypes, name))
        if array.dtype in carriers:
            carrier, dtype = carriers[array.dtype]
            return array.view(carrier).numpy().view(dtype)
        return array.numpy()
    return np.asarray(array)


def update(array, values: np.ndarray, name: str) -> None:
    """Change the user's array in place. Raises ProgramError where it cannot change, as JAX's cannot."""
    if _is(array, "torch", "Tensor"):
        array.detach().copy_(like(values, array))
    elif isinstance(array, np.ndarray) and array.flags.writeable:
        array[...] = values.astype(array.dtype)
    else:
        error = _native.ProgramError(
            f"the kernel stores into its argument '{name}', but the array that was given for it cannot change "
            f"({type(array).__module__}.{type(array).__name__}). Return an nl.ndarray(..., buffer=nl.shared_hbm), or "
            "give a numpy array that may be written; from JAX call old-style kernels by jax_neuronx.nki_call."
        )
        error.rule = "launch.frozen_array"
        raise error


def like(array: np.ndarray, example):
    """`array` as the kind of array that `example` is. Raises Unsupported for a dtype that PyTorch does not have."""
    if _is(example, "torch", "Tensor"):
        import torch

        if not hasattr(torch, array.dtype.name):
            raise _native.Unsupported(f"a result of dtype {array.dtype.name} as a PyTorch tensor, because PyTorch has "
                                      "no such dtype; give numpy arrays, or store it as another dtype")
        if array.dtype == dtypes.bfloat16:
            return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
        if array.dtype in (dtypes.float8_e4m3fn, dtypes.float8_e5m2, dtypes.float8_e8m0fnu):
            return torch.from_numpy(array.view(np.uint8).copy()).view(getattr(torch, array.dtype.name))
        return torch.from_numpy(array)
    if _is(example, "jax", "Array"):
        import jax.numpy as jnp

        return jnp.asarray(array)
    return array


# 64-bit host types have no counterpart on the chip; frameworks narrow them on the way to the device.
_NARROWED = {np.dtype(np.float64): dtypes.float32, np.dtype(np.int64): dtypes.int32, np.dtype(np.uint64): dtypes.uint32}


def narrowed(host: np.ndarray) -> np.ndarray:
    """The array with elements of the type that they have on the chip."""
    return host.astype(_NARROWED.get(host.dtype, host.dtype), copy=False)


_ACCESS_DIMENSIONS = 5  # of an access pattern


def whole(tensor):
    """All elements of an HBM tensor, as a view that has an access pattern however many dimensions it has."""
    return tensor if len(tensor.shape) <= _ACCESS_DIMENSIONS else tensor.reshape((tensor.size,))


def to_hbm(launch, array, name: str, dtype=None, shared=False):
    """A new HBM tensor that holds `array`; 64-bit types are narrowed to 32 bits. shared: all cores reach it.

    An array of a packed type, which numpy lacks, is a structure of one integer that bears the type's name, as in
    np.dtype([("float8_e4m3fn_x4", np.uint32)]).
    """
    host = to_numpy(array)
    packed = getattr(dtypes, host.dtype.names[0], None) if host.dtype.names else None
    if isinstance(packed, dtypes.NamedDtype):
        host, dtype = host.view(packed.carrier), dtype or packed
    host = narrowed(host)
    tensor = launch.tensor("HBM", host.shape, dtype or host.dtype, name, shared=shared)
    if launch.values:
        if host.size:
            whole(tensor).write_from(np.ascontiguousarray(host).reshape(-1).view(np.uint8))
    else:
        whole(tensor).mark_written()
    return tensor


def from_tensor(tensor) -> np.ndarray:
    """The tensor's values, row-major, in a new numpy array."""
    out = np.empty(tensor.shape, dtype=dtypes.host_dtype(tensor.dtype))
    if out.size:
        whole(tensor).read_into(out.reshape(-1).view(np.uint8))
    return out


def map_nested(function, value):
    """Apply `function` to the leaves of tuples, lists and dicts."""
    if isinstance(value, (tuple, list)):
        mapped = [map_nested(function, entry) for entry in value]
        return type(value)(*mapped) if hasattr(value, "_fields") else type(value)(mapped)
    if isinstance(value, dict):
        return {key: map_nested(function, entry) for key, entry in value.items()}
    return function(value)


