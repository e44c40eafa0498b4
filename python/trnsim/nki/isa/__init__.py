"""nki.isa: the instructions. Their signatures come from the instructions' own descriptions
(trnsim._native.isa)."""

from trnsim import _native, limits
from trnsim._native.isa import *  # noqa: F403
from trnsim.nki.isa import constants  # noqa: F401
from trnsim.nki.isa.constants import (  # noqa: F401
    dge_mode,
    dma_engine,
    engine,
    matmul_perf_mode,
    nc_version,
    oob_mode,
    reduce_cmd,
)
from trnsim.nki.isa.dma import dma_compute, dma_copy, dma_transpose  # noqa: F401
from trnsim.nki.isa.dynamic_copies import (  # noqa: F401
    tensor_copy_dynamic_dst,
    tensor_copy_dynamic_src,
)
from trnsim.nki.isa.mx import quantize_mx  # noqa: F401
from trnsim.nki.isa.older import affine_select  # noqa: F401
from trnsim.nki.isa.registers import (  # noqa: F401
    VirtualRegister,
    register_alloc,
    register_load,
    register_move,
    register_store,
)
from trnsim.nki.isa.scalars import NkiScalar, scalar_load, scalar_store  # noqa: F401
from trnsim.releases import calls  # noqa: F401  (instructions ask it about keywords of other releases)

tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
sync_engine = engine.sync
unknown_engine = engine.unknown

NkiInstruction = _native.NkiInstruction
NkiValidationError = _native.ProgramError


del collective  # noqa: F821  (the instruction behind nki.collectives)


def get_nc_version() -> nc_version:
    """The NeuronCore generation that the kernel runs on; outside a kernel, that of the chip chosen."""
    return nc_version(limits.chip().generation)


def get_nc_sub_version() -> int:
    """The revision within the generation; the simulated chips are first revisions."""
    return 0


del custom_op  # noqa: F821  (its time only; operators are called from the host)

_OURS = ("calls", "limits", "session")
__all__ = [name for name in dir() if not name.startswith("_") and name not in _OURS]  # noqa: PLE0604
