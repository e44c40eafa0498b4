"""The sizes of tiles that the chip takes, as kernels ask for them: nl.tile_size of both dialects.

Every number comes from the catalogue: of the chip that the kernel runs on, or, outside kernels, of the one that is
installed.
"""

import functools

from trnsim import environment, session

_FP32_BYTES = 4
_PE_TRANSPOSE_SINCE = 3  # NeuronCore generation


def chip():
    """The chip of the kernel being run, else the one that kernels would run on."""
    return session.current().launch.spec if session.inside_kernel() else session.load_chip(session.settings.chip)


@functools.lru_cache(maxsize=None)
def _number(of, path: str) -> int:
    return int(of.number(path))


def number(path: str) -> int:
    """A figure of the core by its path in hardware/cores, such as "psum.banks"."""
    return _number(chip(), path)


def partitions() -> int:
    """Partitions of SBUF and PSUM."""
    return number("sbuf.partitions")


class TileSize:
    """nl.tile_size: limits of the chip's tiles."""

    @property
    def pmax(self) -> int:
        """Partitions of a tile."""
        return partitions()

    @property
    def psum_bank_fmax_bytes(self) -> int:
        """Bytes of one PSUM bank in one partition."""
        return number("psum.bank_bytes")

    @property
    def psum_bank_fmax(self) -> int:
        """float32 elements of one PSUM bank in one partition."""
        return self.psum_bank_fmax_bytes // _FP32_BYTES

    psum_fmax = psum_bank_fmax  # its name before release 0.4

    @property
    def psum_num_banks(self) -> int:
        """PSUM banks that kernels may use: one less where dma_transpose runs on the Tensor engine (Trn2 and later)."""
        taken = environment.transposes_on_tensor_engine() and chip().generation >= _PE_TRANSPOSE_SINCE
        return number("psum.banks") - taken

    @property
    def gemm_stationary_fmax(self) -> int:
        """Columns of a matmul's stationary tile."""
        return number("tensor.stationary_free_max")

    @property
    def gemm_moving_fmax(self) -> int:
        """Columns of a matmul's moving tile whose float32 result fills one PSUM bank. The array takes more on
        NeuronCore-v4, but published kernels for it, the MX tutorial's first, lay out tiles of 512 by this number."""
        return min(number("tensor.moving_free_max"), self.psum_bank_fmax)

    @property
    def bn_stats_fmax(self) -> int:
        """Elements per partition that bn_stats takes: one PSUM bank of float32."""
        return self.psum_bank_fmax

    @property
    def psum_min_align(self) -> int:
        """Bytes between addresses within a partition of PSUM."""
        return number("psum.min_align")

    @property
    def sbuf_min_align(self) -> int:
        """Bytes between addresses within a partition of SBUF."""
        return number("sbuf.min_align")

    @property
    def sbuf_fmax_bytes(self) -> int:
        """Bytes of SBUF in one partition, as far as kernels may use them."""
        return number("sbuf.usable_bytes_per_partition")

    total_available_sbuf_size = sbuf_fmax_bytes  # per partition, despite its name

    @property
    def sbuf_fmax(self) -> int:
        """float32 elements of SBUF in one partition."""
        return self.sbuf_fmax_bytes // _FP32_BYTES

    @property
    def sbuf_size_bytes(self) -> int:
        """Bytes of SBUF in all partitions."""
        return self.sbuf_fmax_bytes * self.pmax


tile_size = TileSize()
