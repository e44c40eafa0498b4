"""nki.isa: the instructions. Their signatures come from the instructions' own descriptions (trnsim._native.isa)."""

import enum

from trnsim import session
from trnsim._native.isa import *  # noqa: F403
from trnsim.nki.choices import choice_group

engine = choice_group("engine")
reduce_cmd = choice_group("reduce_cmd")
dge_mode = choice_group("dge_mode")
oob_mode = choice_group("oob_mode")
matmul_perf_mode = choice_group("matmul_perf_mode")

tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
dma_engine = engine.dma
sync_engine = engine.sync
unknown_engine = engine.unknown


class nc_version(enum.IntEnum):
    gen1 = 1
    gen2 = 2
    gen3 = 3
    gen4 = 4


def get_nc_version() -> nc_version:
    """The NeuronCore generation that the kernel runs on."""
    return nc_version(session.current().launch.generation)
