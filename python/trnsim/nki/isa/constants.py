"""The values of the instructions' enumerated arguments."""

import enum

from trnsim.nki.choices import choice_group

engine = choice_group("engine")
reduce_cmd = choice_group("reduce_cmd")
dge_mode = choice_group("dge_mode")
oob_mode = choice_group("oob_mode")
matmul_perf_mode = choice_group("matmul_perf_mode")
dma_engine = choice_group("dma_engine")


class nc_version(enum.IntEnum):
    """Generations of NeuronCores."""

    gen1 = 1
    gen2 = 2
    gen3 = 3
    gen4 = 4
