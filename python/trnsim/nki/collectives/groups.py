"""Who takes part in a collective, and what its tensors may be."""

import numbers

from trnsim import _native, session
from trnsim.lowering.tiles import is_tensor, refuse
from trnsim.nki.language.objects import NKIObject

OWN_RANK = 0  # a process simulates one rank
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
    own = next((ranks for ranks in group.replica_groups if OWN_RANK in ranks), None)
    if own is None:
        refuse("collectives.group", f"{function}: rank {OWN_RANK}, which runs, is in no list of {group!r}")
    return own


def require_alone(function: str, group) -> None:
    """Raise Unsupported where other ranks take part."""
    ranks = own_group(function, group)
    if len(ranks) > 1:
        needs_fabric(function, f"a group of {len(ranks)} ranks")


def needs_fabric(function: str, what: str):
    """Raise Unsupported: there is one rank and no fabric."""
    raise _native.Unsupported(
        f"{function} with {what}, because it needs the fabric between ranks and a process simulates one rank; a "
        f"group of one, ReplicaGroup([[{OWN_RANK}]]), runs"
    )


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
