"""Values of enumerated arguments: nisa.vector_engine, nisa.reduce_cmd.reset_reduce, ..."""

import enum

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
unknown_engine = engine.unknown


class nc_version(enum.IntEnum):  # noqa: N801
    """Generations of the NeuronCore."""

    gen1 = 1
    gen2 = 2
    gen3 = 3
    gen4 = 4
