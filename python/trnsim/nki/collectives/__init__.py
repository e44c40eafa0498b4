"""nki.collectives: operations among the ranks of a run (trnsim.ranks).

In a group of one each operation is what the fabric would leave: a copy by DMA, or for the reducing permute one
operation. Without `trnsim run --ranks` or trnsim.run_ranks a process is rank 0 alone, and larger groups raise
Unsupported.
"""

from trnsim.nki.collectives.groups import ReplicaGroup
from trnsim.nki.collectives.operations import (
    all_gather,
    all_gather_v,
    all_gather_v_prepare,
    all_gather_v_trigger,
    all_reduce,
    all_to_all,
    all_to_all_v,
    all_to_all_v_prepare,
    all_to_all_v_trigger,
    collective_permute,
    collective_permute_implicit,
    collective_permute_implicit_current_processing_rank_id,
    collective_permute_implicit_reduce,
    rank_id,
    reduce_scatter,
)

__all__ = [
    "ReplicaGroup",
    "all_gather",
    "all_gather_v",
    "all_gather_v_prepare",
    "all_gather_v_trigger",
    "all_reduce",
    "all_to_all",
    "all_to_all_v",
    "all_to_all_v_prepare",
    "all_to_all_v_trigger",
    "collective_permute",
    "collective_permute_implicit",
    "collective_permute_implicit_current_processing_rank_id",
    "collective_permute_implicit_reduce",
    "rank_id",
    "reduce_scatter",
]
