"""Functions on tiles that no instruction takes as an operator."""

from trnsim import lowering, printing
from trnsim.dtypes import uint8
from trnsim.lowering.tiles import is_tensor, refuse
from trnsim.nki.language import buffers


def load(src, dtype=None):
    """A tile in SBUF with the values of `src`, which is in HBM."""
    return lowering.load(src, dtype)


def store(dst, value):
    """Write a tile of SBUF into HBM."""
    lowering.store(dst, value)


def load_transpose2d(src, dtype=None):
    """A tile in SBUF with the transpose of a two-dimensional tensor in HBM."""
    return lowering.load_transpose2d(src, dtype)


def gather_flattened(data, indices, axis=0, dtype=None):
    """result[p, j] = data[p, indices[p, j]], the free dimensions of `data` flattened."""
    del axis  # of the flattened free dimensions there is one only
    return lowering.gather_flattened(data, indices, dtype)


def cos(x, dtype=None):
    """Cosine, for any x."""
    return lowering.unary("cos", x, dtype)


def tan(x, dtype=None):
    """Tangent, as sine over cosine."""
    return lowering.unary("tan", x, dtype)


def ceil(x, dtype=None):
    """The smallest integer that is not below x."""
    return lowering.unary("ceil", x, dtype)


def floor(x, dtype=None):
    """The largest integer that is not above x."""
    return lowering.unary("floor", x, dtype)


def trunc(x, dtype=None):
    """x without its fraction."""
    return lowering.unary("trunc", x, dtype)


def negative(x, dtype=None):
    """-x."""
    return lowering.unary("negative", x, dtype)


def mean(x, axis, dtype=None, keepdims=False):
    """The mean over the last free dimensions, summed in float32."""
    return lowering.mean(x, axis, dtype, keepdims)


def var(x, axis, dtype=None, keepdims=False):
    """The population variance over the last free dimensions, which stay with size 1."""
    return lowering.var(x, axis, dtype, keepdims)


def softmax(x, axis=-1, dtype=None):
    """exp(x - max) / sum of it, over the last free dimensions."""
    return lowering.softmax(x, axis, dtype)


def rms_norm(x, w, axis, n, epsilon=1e-06, dtype=None, compute_dtype=None):
    """x / sqrt(sum of squares / n + epsilon) * w, over the free dimensions."""
    return lowering.rms_norm(x, w, axis, n, epsilon, dtype, compute_dtype)


def where(condition, x, y, dtype=None):
    """x where the condition is not zero, y elsewhere."""
    return lowering.where(condition, x, y, dtype)


def dropout(x, rate, dtype=None):
    """x with elements replaced by zero, each with probability `rate`."""
    return lowering.dropout(x, rate, dtype)


def matmul(x, y, transpose_x=False):
    """x @ y, or x.T @ y with `transpose_x`, in PSUM."""
    return lowering.matmul(x, y, transpose_x)


def transpose(x, dtype=None):
    """Partition and free dimension exchanged, in PSUM."""
    return lowering.transpose(x, dtype)


def broadcast_to(x, shape, dtype=None):
    """x with each dimension of size 1 repeated to that of `shape`."""
    return lowering.broadcast_to(x, shape, dtype)


def expand_dims(x, axis):
    """The view of x with a dimension of size 1 at each place in `axis`."""
    for place in sorted(axis) if isinstance(axis, (tuple, list)) else (axis,):
        x = x.expand_dim(place)
    return x


def zeros_like(x, dtype=None, buffer=None, name=""):
    """A new tensor of zeros with the shape of `x`, where `x` is unless `buffer` says otherwise."""
    return lowering.zeros_like(x, dtype, buffer and buffers.space_of(buffer), name)


def empty_like(x, dtype=None, buffer=None, name=""):
    """A new tensor with the shape of `x`, not initialised."""
    return lowering.empty_like(x, dtype, buffer and buffers.space_of(buffer), name)


def rand(shape, dtype, buffer=buffers.sbuf, name=""):
    """A new tensor of random numbers in [0, 1)."""
    return lowering.rand(shape, dtype, buffers.space_of(buffer), name)


def random_seed(seed):
    """Seed the random numbers from a [1, 1] tile."""
    lowering.random_seed(seed)


def shared_constant(constant):
    """A tensor in HBM with data that is part of the program: an array, or the path of a .npy file."""
    return lowering.shared_constant(constant)


def shared_identity_matrix(n, dtype=uint8, dst=None):
    """The n x n identity in SBUF."""
    return lowering.shared_identity_matrix(n, dtype, dst)


def device_print(print_prefix, tensor):
    """Print a tensor of SBUF, PSUM or HBM at once, with the program's id where there is a grid."""
    if not isinstance(print_prefix, str):
        refuse("device_print.prefix", f"nl.device_print: print_prefix must be a string, got {print_prefix!r}")
    if not is_tensor(tensor):
        refuse("device_print.tensor", f"nl.device_print: tensor must be a tensor, got {type(tensor).__name__}")
    printing.device_print(print_prefix, tensor)
