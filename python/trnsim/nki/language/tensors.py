"""Tensors of `nki`: creation, and the views that NkiTensor offers (each free of instructions)."""

import math

from trnsim import _native, arrays, session
from trnsim.nki.language import buffers

NkiTensor = _native.Tensor
_BUFFER = {"SBUF": buffers.sbuf, "PSUM": buffers.psum, "HBM": buffers.shared_hbm}


def ndarray(shape, dtype, buffer=buffers.sbuf, name="", address=None, **_) -> NkiTensor:
    """A new tensor of `buffer`; its contents are not initialised.

    On chip, dimension 0 is the partition. `address=(partition, byte offset)` places it by hand; tensors at
    overlapping addresses share their bytes. Raises ProgramError when it does not fit.
    """
    space = buffer.space if isinstance(buffer, buffers.Buffer) else str(buffer).upper()
    return session.current().launch.tensor(space, shape, dtype, name or "", address)


def zeros(shape, dtype, buffer=buffers.sbuf, name="") -> NkiTensor:
    """A new tensor of zeros."""
    tensor = ndarray(shape, dtype, buffer, name)
    _native.isa.memset(tensor, 0)
    return tensor


class _TileSize:
    """Limits of the chip, as kernels ask for them."""

    pmax = 128
    gemm_stationary_fmax = 128
    gemm_moving_fmax = 512
    bn_stats_fmax = 512
    psum_min_align = 4
    sbuf_min_align = 1

    @property
    def psum_fmax(self) -> int:
        return session.current().launch.psum_bank_bytes // 4

    psum_bank_fmax = psum_fmax

    @property
    def psum_bank_fmax_bytes(self) -> int:
        return session.current().launch.psum_bank_bytes

    @property
    def psum_num_banks(self) -> int:
        launch = session.current().launch
        return launch.psum_bytes // launch.psum_bank_bytes

    @property
    def sbuf_fmax_bytes(self) -> int:
        return session.current().launch.sbuf_bytes

    total_available_sbuf_size = sbuf_size_bytes = sbuf_fmax_bytes


tile_size = _TileSize()


def _ap(self, pattern, offset=None, scalar_offset=None, vector_offset=None, indirect_dim=0, dtype=None):
    """The pattern [[step, count], ...] over the tensor's storage, in elements, outermost first."""
    if scalar_offset is not None or vector_offset is not None:
        raise _native.Unimplemented("NkiTensor.ap with scalar_offset or vector_offset is not there yet")
    base = self if dtype is None else self.reinterpret(dtype)
    return base.pattern([list(pair) for pair in pattern], base.offset + (offset or 0))


def _reshape_dim(self, dim, shape):
    dim %= self.ndim
    shape = tuple(shape)
    if -1 in shape:
        known = -math.prod(shape)
        shape = tuple(self.shape[dim] // known if size == -1 else size for size in shape)
    return self.reshape(self.shape[:dim] + shape + self.shape[dim + 1:])


def _flatten_dims(self, start_dim, end_dim):
    start, end = start_dim % self.ndim, end_dim % self.ndim
    merged = math.prod(self.shape[start:end + 1])
    return self.reshape(self.shape[:start] + (merged,) + self.shape[end + 1:])


def _slice(self, dim, start, end, step=1):
    return self[(slice(None),) * (dim % self.ndim) + (slice(start, end, step),)]


def _select(self, dim, index):
    return self[(slice(None),) * (dim % self.ndim) + (index,)]


def _repr(self):
    try:
        return f"NkiTensor({self.name!r}, {self.space}, {self.dtype_name}, {arrays.from_tensor(self)})"
    except _native.Error:
        return f"NkiTensor({self.name!r}, {self.space}, {self.dtype_name}, shape={self.shape})"


def _is_contiguous(self):
    expected = 1
    for size, stride in reversed(list(zip(self.shape, self.strides))[0 if self.space == "HBM" else 1:]):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


# NkiTensor is the native tensor class itself, so that an instruction call costs no wrapper.
NkiTensor.__getitem__ = lambda self, key: self.subscript(key)
NkiTensor.__repr__ = _repr
NkiTensor.buffer = property(lambda self: _BUFFER[self.space])
NkiTensor.ap = _ap
NkiTensor.reshape_dim = _reshape_dim
NkiTensor.flatten_dims = _flatten_dims
NkiTensor.slice = _slice
NkiTensor.select = _select
NkiTensor.view = lambda self, dtype: self.reinterpret(dtype)
NkiTensor.is_contiguous = _is_contiguous
NkiTensor.is_indirect = lambda self: False
NkiTensor.get_pattern = lambda self: [[stride, size] for stride, size in zip(self.strides, self.shape)]
NkiTensor.numpy = lambda self: arrays.from_tensor(self)
