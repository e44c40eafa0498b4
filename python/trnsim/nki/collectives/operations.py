"""The operations of nki.collectives. Sources: nki.collectives of NKI 0.6 and 0.7."""

from trnsim import limits
from trnsim.lowering.tiles import isa, new, refuse
from trnsim.lowering.tokens import name_of, token
from trnsim.nki.collectives.groups import (
    OWN_RANK,
    check_equal,
    check_one,
    check_priority,
    check_tensors,
    needs_fabric,
    own_group,
    require_alone,
)
from trnsim.nki.isa.registers import LoopRegister

_OPERATORS = ("add", "minimum", "maximum")
_CHANNELS = 4  # of a group of all devices of a node
_ALL_GATHER_V_RANKS = 4
_CHUNK_COLUMNS = 2048  # of the tiles in which HBM tensors are reduced
_ANY, _HBM = ("HBM", "SBUF"), ("HBM",)


class RankRegister(LoopRegister):
    """A rank's number, known at run time."""

    what = "the number of a rank"


def _copy(function, srcs, dsts, name):
    for src, dst in zip(srcs, dsts):
        check_equal(function, src, dst)
        isa.dma_copy(dst, src, name=name)


def _operator(function, op):
    known = name_of(op)
    if known not in _OPERATORS:
        refuse("collectives.op", f"{function}: op is {known}; it must be {', '.join(_OPERATORS)}")
    return token(op)


def _dimension(function, srcs, dim, on_sbuf):
    """Check collective_dim: 0 in HBM; in SBUF one of `on_sbuf`, of tensors with two dimensions."""
    in_sbuf = srcs[0].space == "SBUF"
    legal = on_sbuf if in_sbuf else (0,)
    if dim not in legal:
        refuse(
            "collectives.dim",
            f"{function}: collective_dim is {dim!r}; in {srcs[0].space} it must be {' or '.join(map(str, legal))}",
        )
    if in_sbuf and srcs[0].ndim != 2:
        refuse("collectives.dim", f"{function}: tensors in SBUF have two dimensions, got shape {srcs[0].shape}")


def all_reduce(srcs, dsts, replica_group, op, priority=None, name=None):
    """Each rank gets op over all ranks' sources."""
    check_tensors("all_reduce", _ANY, srcs=srcs, dsts=dsts)
    check_priority("all_reduce", priority)
    _operator("all_reduce", op)
    require_alone("all_reduce", replica_group)
    _copy("all_reduce", srcs, dsts, name)


def all_gather(srcs, dsts, replica_group, collective_dim, priority=None, name=None):
    """Each rank gets all ranks' sources, one after the other along collective_dim."""
    check_tensors("all_gather", _ANY, srcs=srcs, dsts=dsts)
    check_priority("all_gather", priority)
    _dimension("all_gather", srcs, collective_dim, on_sbuf=(0, 1))
    require_alone("all_gather", replica_group)
    _copy("all_gather", srcs, dsts, name)


def reduce_scatter(srcs, dsts, replica_group, collective_dim, op, priority=None, name=None):
    """Each rank gets its part, along collective_dim, of op over all ranks' sources."""
    check_tensors("reduce_scatter", _ANY, srcs=srcs, dsts=dsts)
    check_priority("reduce_scatter", priority)
    _operator("reduce_scatter", op)
    _dimension("reduce_scatter", srcs, collective_dim, on_sbuf=(0,))
    require_alone("reduce_scatter", replica_group)
    _copy("reduce_scatter", srcs, dsts, name)


def all_to_all(srcs, dsts, replica_group, collective_dim, priority=None, name=None):
    """Each rank's r-th part along collective_dim goes to rank r."""
    check_tensors("all_to_all", _HBM, srcs=srcs, dsts=dsts)
    check_priority("all_to_all", priority)
    _dimension("all_to_all", srcs, collective_dim, on_sbuf=())
    require_alone("all_to_all", replica_group)
    _copy("all_to_all", srcs, dsts, name)


def collective_permute(srcs, dsts, source_target_pairs, priority=None, name=None):
    """Each pair (source, target) of ranks: the source's tensor goes to the target. Pairs between other ranks are
    theirs; a rank that is no target keeps its destination."""
    check_tensors("collective_permute", _HBM, srcs=srcs, dsts=dsts)
    check_one("collective_permute", srcs=srcs, dsts=dsts)
    check_priority("collective_permute", priority)
    pairs = [tuple(pair) for pair in source_target_pairs]
    for place, role in enumerate(("source", "target")):
        ranks = [pair[place] for pair in pairs]
        if len(set(ranks)) != len(ranks):
            refuse("collectives.pairs", f"collective_permute: a rank is {role} twice in {pairs}")
    others = [pair for pair in pairs if pair != (OWN_RANK, OWN_RANK)]
    if others:
        needs_fabric("collective_permute", f"the pair {others[0]} of source and target")
    if pairs:
        _copy("collective_permute", srcs, dsts, name)


def collective_permute_implicit(
    srcs_by_channel, dsts_by_channel, replica_group, channel_ids=(0,), priority=None, name=None
):
    """In the ring of the group, each rank sends to its successor and receives from its predecessor."""
    function = "collective_permute_implicit"
    _check_channels(function, replica_group, channel_ids, srcs_by_channel=srcs_by_channel,
                    dsts_by_channel=dsts_by_channel)
    check_priority(function, priority)
    require_alone(function, replica_group)
    for srcs, dsts in zip(srcs_by_channel, dsts_by_channel):
        _copy(function, srcs, dsts, name)


def collective_permute_implicit_reduce(
    srcs0_by_channel, srcs1_by_channel, dsts_by_channel, replica_group, op, channel_ids=(0,), priority=None, name=None
):
    """In the ring of the group, each rank sends op(src0, src1) to its successor."""
    function = "collective_permute_implicit_reduce"
    _check_channels(function, replica_group, channel_ids, srcs0_by_channel=srcs0_by_channel,
                    srcs1_by_channel=srcs1_by_channel, dsts_by_channel=dsts_by_channel)
    check_priority(function, priority)
    op = _operator(function, op)
    require_alone(function, replica_group)
    for (left,), (right,), (dst,) in zip(srcs0_by_channel, srcs1_by_channel, dsts_by_channel):
        for src in (left, right):
            check_equal(function, src, dst)
        _combine(op, left, right, dst, name)


def _check_channels(function, replica_group, channel_ids, **by_channel):
    own_group(function, replica_group)
    channels = list(channel_ids)
    if channels != list(range(len(channels))) or not 1 <= len(channels) <= _CHANNELS:
        refuse(
            "collectives.channels",
            f"{function}: channel_ids is {channel_ids!r}; it must be 0, 1, ... with at most {_CHANNELS} channels",
        )
    for argument, lists in by_channel.items():
        if len(lists) != len(channels):
            refuse(
                "collectives.channels", f"{function}: {argument} has {len(lists)} lists for {len(channels)} channels"
            )
    for lists in zip(*by_channel.values()):
        check_tensors(function, _ANY, **dict(zip(by_channel, lists)))
        check_one(function, **dict(zip(by_channel, lists)))


def _combine(op, left, right, dst, name):
    """dst = left <op> right: on the Vector engine, HBM tensors by way of SBUF."""
    if dst.space == "SBUF":
        isa.tensor_tensor(dst, left, right, op, name=name)
        return
    rows = limits.partitions()
    flat = [tensor.reshape((tensor.size,)) for tensor in (left, right, dst)]
    at = 0
    while at < dst.size:
        columns = min(_CHUNK_COLUMNS, dst.size - at)
        count = min(rows, (dst.size - at) // columns)
        part = slice(at, at + count * columns)
        tiles = [new((count, columns), dst.dtype, "collective") for _ in range(2)]
        for tile, tensor in zip(tiles, flat):
            isa.dma_copy(tile, tensor[part].reshape((count, columns)))
        isa.tensor_tensor(tiles[0], *tiles, op, name=name)
        isa.dma_copy(flat[2][part].reshape((count, columns)), tiles[0])
        at += count * columns


def all_gather_v(
    srcs, dsts, replica_group, metadata_tensor, recv_counts_known=False, has_rdispls=False, priority=None, name=None
):
    """Each rank's chunk, as long as its metadata says, goes to every rank of its four."""
    _check_variable("all_gather_v", srcs, dsts, priority)
    if has_rdispls:
        refuse("collectives.displacements", "all_gather_v: has_rdispls=True is not supported by NKI 0.6")
    ranks = own_group("all_gather_v", replica_group)
    if len(ranks) != _ALL_GATHER_V_RANKS:
        refuse(
            "collectives.group",
            f"all_gather_v: a list of ranks has {_ALL_GATHER_V_RANKS} ranks, those of a chip; got {len(ranks)}",
        )
    needs_fabric("all_gather_v", f"a group of {len(ranks)} ranks")


def all_to_all_v(
    srcs, dsts, replica_group, metadata_tensor, recv_counts_known=False, has_rdispls=False, priority=None, name=None
):
    """Each rank sends to each other one a chunk, as long as its metadata says."""
    _check_variable("all_to_all_v", srcs, dsts, priority)
    ranks = own_group("all_to_all_v", replica_group)
    if len(ranks) == 1:
        refuse("collectives.group", "all_to_all_v: a list of ranks spans several devices or nodes; got one rank")
    needs_fabric("all_to_all_v", f"a group of {len(ranks)} ranks")


def all_gather_v_prepare(*args, **kwargs):
    """all_gather_v up to its metadata; all_gather_v_trigger does the rest. Refused as all_gather_v is."""
    return all_gather_v(*args, **kwargs)


def all_to_all_v_prepare(*args, **kwargs):
    """all_to_all_v up to its metadata; all_to_all_v_trigger does the rest. Refused as all_to_all_v is."""
    return all_to_all_v(*args, **kwargs)


def all_gather_v_trigger(prepare_instr, name=None):
    """Complete a prepared all_gather_v."""
    _trigger("all_gather_v", prepare_instr)


def all_to_all_v_trigger(prepare_instr, name=None):
    """Complete a prepared all_to_all_v."""
    _trigger("all_to_all_v", prepare_instr)


def _trigger(function, prepare_instr):
    refuse(
        "collectives.prepare",
        f"{function}_trigger: prepare_instr must be what {function}_prepare returned, got {prepare_instr!r}",
    )


def _check_variable(function, srcs, dsts, priority):
    check_tensors(function, _HBM, srcs=srcs, dsts=dsts)
    check_one(function, srcs=srcs, dsts=dsts)
    check_priority(function, priority)


def collective_permute_implicit_current_processing_rank_id(iteration_id, replica_group, channel_id=0, name=None):
    """The rank whose data a ring works on in an iteration: a register; always the own rank in a group of one."""
    require_alone("collective_permute_implicit_current_processing_rank_id", replica_group)
    if not 0 <= int(channel_id) < _CHANNELS:
        refuse("collectives.channels", f"channel_id is {channel_id!r}; it must be 0 to {_CHANNELS - 1}")
    return RankRegister(OWN_RANK)


def rank_id(name=None):
    """The number of the rank that runs: a register."""
    return RankRegister(OWN_RANK)
