"""Tensors of `nki`: creation, and the limits that kernels ask for."""

from trnsim import _native, lowering, session
from trnsim.nki.language import buffers, views  # noqa: F401  (views adds the methods)

NkiTensor = _native.Tensor


def ndarray(shape, dtype, buffer=buffers.sbuf, name="", address=None, **_) -> NkiTensor:
    """A new tensor of `buffer`; its contents are not initialised.

    On chip, dimension 0 is the partition. `address=(partition, byte offset)` places it by hand; tensors at
    overlapping addresses share their bytes. Raises ProgramError when it does not fit.
    """
    return session.current().launch.tensor(buffers.space_of(buffer), shape, dtype, name or "", address)


def zeros(shape, dtype, buffer=buffers.sbuf, name="") -> NkiTensor:
    """A new tensor of zeros."""
    return lowering.zeros(shape, dtype, buffers.space_of(buffer), name)


class NKIObject:
    """Base of the data classes that kernels define: keyword arguments become attributes."""

    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)


class _TileSize:
    """Limits of the chip, as kernels ask for them."""

    pmax = 128
    gemm_stationary_fmax = 128
    gemm_moving_fmax = 512
    bn_stats_fmax = 512
    psum_min_align = 4
    sbuf_min_align = 1

    @property
    def psum_bank_fmax_bytes(self) -> int:
        """Bytes of one PSUM bank in one partition."""
        return session.current().launch.psum_bank_bytes

    @property
    def psum_bank_fmax(self) -> int:
        """float32 elements of one PSUM bank in one partition."""
        return self.psum_bank_fmax_bytes // 4

    psum_fmax = psum_bank_fmax

    @property
    def psum_num_banks(self) -> int:
        """PSUM banks."""
        return session.current().launch.psum_bytes // self.psum_bank_fmax_bytes

    @property
    def sbuf_fmax_bytes(self) -> int:
        """Bytes of SBUF in one partition."""
        return session.current().launch.sbuf_bytes

    @property
    def sbuf_fmax(self) -> int:
        """float32 elements of SBUF in one partition."""
        return self.sbuf_fmax_bytes // 4

    @property
    def sbuf_size_bytes(self) -> int:
        """Bytes of SBUF in all partitions."""
        return self.sbuf_fmax_bytes * self.pmax

    total_available_sbuf_size = sbuf_fmax_bytes  # per partition, despite its name


tile_size = _TileSize()
