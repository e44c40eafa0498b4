"""Who takes part in a collective, and what its tensors may be."""

import numbers

from trnsim import _native, ranks, session
from trnsim.lowering.tiles import is_tensor, refuse
from trnsim.nki.language.objects import NKIObject

_PRIORITIES = range(4)
_PRIORITY_SINCE = 4  # NeuronCore generation


class ReplicaGroup(NKIObject):
    """Lists of ranks, each a group of its own: ReplicaGroup([[0, 1], [2, 3]])."""

    def __init__(self, replica_groups):
        lists = [list(ranks) for ranks in replica_groups]
        ranks = [rank for group in lists for rank in group]
        if not lists or not all(lists):
            refuse("collectives.group", f"ReplicaGroup: {replica_groups!r} has an empty list of ranks")
        if not all(isinstance(rank, numbers.Integral) and rank >= 0 for rank in ranks):
            refuse("collectives.group", f"ReplicaGroup: ranks are integers from 0 on, got {replica_groups!r}")
        if len(set(ranks)) != len(ranks):
            refuse("collectives.group", f"ReplicaGroup: a rank is twice in {replica_groups!r}; groups do not overlap")
        super().__init__(replica_groups=lists)

    def __repr__(self):
        return f"ReplicaGroup({self.replica_groups})"


def own_group(function: str, group) -> list[int]:
    """The ranks that this one exchanges data with, itself included. Raises ProgramError for no group."""
    if not isinstance(group, ReplicaGroup):
        refuse("collectives.group", f"{function}: replica_group must be a ReplicaGroup, got {group!r}")
    mine = ranks.rank()
    own = next((listed for listed in group.replica_groups if mine in listed), None)
    if own is None:
        refuse("collectives.group", f"{function}: rank {mine}, which runs, is in no list of {group!r}")
    return own


def require_world(function: str, group) -> None:
    """Raise Unsupported where there is one rank and no fabric, ProgramError for ranks that do not exist."""
    world = ranks.world()
    if world is None:
        raise _native.Unsupported(
            f"{function} of {len(group)} ranks, because this process simulates one; `trnsim run --ranks N --on "
            "trn2.48xlarge script.py` runs the script on several"
        )
    beyond = [rank for rank in group if rank >= world.size]
    if beyond:
        refuse("collectives.group",
               f"{function}: there is no rank {beyond[0]}; the run has ranks 0 to {world.size - 1}")


def require_switch_or_nodes(function: str, group, has_rdispls) -> None:
    """all_to_all_v: whole devices through NeuronSwitch, or ranks of one index on several nodes."""
    topology = ranks.world().topology
    if topology.switched:
        chips = {rank // topology.ranks_per_chip for rank in group}
        if len(chips) < 2 or len(group) != len(chips) * topology.ranks_per_chip:
            refuse("collectives.group",
                   f"{function}: a list of ranks has all ranks of at least two devices; got {group}")
        return
    if has_rdispls:
        refuse("collectives.displacements", f"{function}: has_rdispls=True needs chips joined by NeuronSwitch")
    nodes = [rank // topology.ranks_per_instance for rank in group]
    if len(set(nodes)) != len(nodes) or len({rank % topology.ranks_per_instance for rank in group}) > 1:
        refuse("collectives.group",
               f"{function}: without NeuronSwitch a list has ranks of one index on several nodes; got {group}")


def check_priority(function: str, priority) -> None:
    """Refuse a DMA priority that the chip does not have."""
    if priority is None:
        return
    generation = session.current().launch.generation
    if generation < _PRIORITY_SINCE:
        refuse("collectives.priority", f"{function}: priority needs NeuronCore-v4; this is NeuronCore-v{generation}")
    if priority not in _PRIORITIES:
        refuse("collectives.priority", f"{function}: priority is {priority!r}; it must be 0 (first) to 3")


def check_tensors(function: str, spaces: tuple[str, ...], **lists) -> None:
    """Lists of tensors, equally long, all in one memory of `spaces`; several at a time in HBM only."""
    counts = set()
    for argument, tensors in lists.items():
        if not isinstance(tensors, (list, tuple)) or not tensors or not all(is_tensor(t) for t in tensors):
            refuse("collectives.tensors", f"{function}: {argument} must be a list of tensors, got {tensors!r}")
        counts.add(len(tensors))
    if len(counts) > 1:
        refuse("collectives.tensors", f"{function}: {' and '.join(lists)} must be equally long")
    found = {tensor.space for tensors in lists.values() for tensor in tensors}
    if len(found) > 1:
        refuse("collectives.memory", f"{function}: tensors are in {' and '.join(sorted(found))}; one memory is needed")
    if not found <= set(spaces):
        refuse("collectives.memory", f"{function}: tensors must be in {' or '.join(spaces)}, not in {found.pop()}")
    if found == {"SBUF"} and counts != {1}:
        refuse("collectives.coalesced", f"{function}: several tensors at a time must be in HBM")


def check_one(function: str, **lists) -> None:
    """Refuse more than one tensor at a time."""
    for argument, tensors in lists.items():
        if len(tensors) != 1:
            refuse("collectives.coalesced", f"{function}: {argument} takes one tensor, got {len(tensors)}")


def check_equal(function: str, src, dst) -> None:
    """In a group of one, source and destination are equally large; the fabric does not convert."""
    if src.size != dst.size:
        refuse(
            "collectives.shape",
            f"{function}: src has shape {src.shape} and dst {dst.shape}; in a group of one rank they are equally large",
        )
    if src.dtype_name != dst.dtype_name:
        refuse("collectives.dtype", f"{function}: src is {src.dtype_name} and dst {dst.dtype_name}; they must be equal")


def check_forms(function: str, srcs, dsts, size: int, *, grows=1, shrinks=1, dim=0) -> None:
    """Shapes of a collective among `size` ranks: dst is `size` times longer along dim (grows None), or as many times
    shorter (shrinks None), or as large as src."""
    for src, dst in zip(srcs, dsts):
        if src.dtype_name != dst.dtype_name:
            refuse("collectives.dtype",
                   f"{function}: src is {src.dtype_name} and dst {dst.dtype_name}; they must be equal")
        expected = list(src.shape)
        if grows is None:
            expected[dim] *= size
        if shrinks is None:
            if expected[dim] % size:
                refuse("collectives.shape", f"{function}: shape {src.shape} cannot be split among {size} ranks")
            expected[dim] //= size
        if grows == shrinks == 1 and dst.size == src.size:
            continue
        if tuple(expected) != tuple(dst.shape):
            refuse("collectives.shape",
                   f"{function}: src has shape {src.shape} and dst {dst.shape}; among {size} ranks dst must have "
                   f"shape {tuple(expected)}")
