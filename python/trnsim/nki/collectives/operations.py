"""The operations of nki.collectives. Sources: nki.collectives of NKI 0.6 and 0.7."""

import numpy as np

from trnsim import arrays, limits, ranks, session
from trnsim.lowering.tiles import isa, new, refuse
from trnsim.lowering.tokens import name_of, token
from trnsim.nki.collectives import exchange
from trnsim.nki.collectives.groups import (
    check_equal,
    check_forms,
    check_one,
    check_priority,
    check_tensors,
    own_group,
    require_switch_or_nodes,
    require_world,
)
from trnsim.nki.isa.registers import LoopRegister

_OPERATORS = ("add", "minimum", "maximum")
_CHANNELS = 4  # of a group of all devices of a node
_CHANNELS_OTHERWISE = 2
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


def _form(srcs, **more):
    """What all ranks of a group must agree on."""
    return {"shapes": [src.shape for src in srcs], "dtypes": [src.dtype_name for src in srcs],
            "memory": srcs[0].space, **more}


def _exchange(function, srcs, dsts, group, name, move, grows=1, shrinks=1, dim=0, **form):
    """A collective of a group: copies within a group of one."""
    own = own_group(function, group)
    if len(own) == 1:
        return _copy(function, srcs, dsts, name)
    require_world(function, own)
    check_forms(function, srcs, dsts, len(own), grows=grows, shrinks=shrinks, dim=dim)
    return exchange.take_part(function, own, _form(srcs, **form), function, list(zip(srcs, dsts)), move(own), name=name)


def all_reduce(srcs, dsts, replica_group, op, priority=None, name=None):
    """Each rank gets op over all ranks' sources."""
    check_tensors("all_reduce", _ANY, srcs=srcs, dsts=dsts)
    check_priority("all_reduce", priority)
    op = str(name_of(op)) if _operator("all_reduce", op) else None
    _exchange("all_reduce", srcs, dsts, replica_group, name,
              lambda own: exchange.reduced("all_reduce", own, op, srcs[0]), op=op)


def all_gather(srcs, dsts, replica_group, collective_dim, priority=None, name=None):
    """Each rank gets all ranks' sources, one after the other along collective_dim."""
    check_tensors("all_gather", _ANY, srcs=srcs, dsts=dsts)
    check_priority("all_gather", priority)
    _dimension("all_gather", srcs, collective_dim, on_sbuf=(0, 1))
    _exchange("all_gather", srcs, dsts, replica_group, name, lambda own: exchange.gathered(collective_dim),
              grows=None, dim=collective_dim, collective_dim=collective_dim)


def reduce_scatter(srcs, dsts, replica_group, collective_dim, op, priority=None, name=None):
    """Each rank gets its part, along collective_dim, of op over all ranks' sources."""
    check_tensors("reduce_scatter", _ANY, srcs=srcs, dsts=dsts)
    check_priority("reduce_scatter", priority)
    _dimension("reduce_scatter", srcs, collective_dim, on_sbuf=(0,))
    op = str(name_of(op)) if _operator("reduce_scatter", op) else None
    _exchange("reduce_scatter", srcs, dsts, replica_group, name,
              lambda own: exchange.reduced("reduce_scatter", own, op, srcs[0]), shrinks=None, op=op)


def all_to_all(srcs, dsts, replica_group, collective_dim, priority=None, name=None):
    """Each rank's r-th part along collective_dim goes to rank r."""
    check_tensors("all_to_all", _HBM, srcs=srcs, dsts=dsts)
    check_priority("all_to_all", priority)
    _dimension("all_to_all", srcs, collective_dim, on_sbuf=())
    size = len(own_group("all_to_all", replica_group))
    for src in srcs:
        if size > 1 and (src.ndim < 1 or src.shape[0] % size):
            refuse("collectives.shape", f"all_to_all: shape {src.shape} cannot be split among {size} ranks")
    _exchange("all_to_all", srcs, dsts, replica_group, name, lambda own: exchange.each_tensor(exchange.transposed))


def collective_permute(srcs, dsts, source_target_pairs, priority=None, name=None):
    """Each pair (source, target) of ranks: the source's tensor goes to the target. Pairs between other ranks are
    theirs; a rank that is no target keeps its destination."""
    function = "collective_permute"
    check_tensors(function, _HBM, srcs=srcs, dsts=dsts)
    check_one(function, srcs=srcs, dsts=dsts)
    check_priority(function, priority)
    pairs = [tuple(pair) for pair in source_target_pairs]
    for place, role in enumerate(("source", "target")):
        named = [pair[place] for pair in pairs]
        if len(set(named)) != len(named):
            refuse("collectives.pairs", f"{function}: a rank is {role} twice in {pairs}")
    own = ranks.rank()
    if all(pair == (own, own) for pair in pairs):
        return _copy(function, srcs, dsts, name) if pairs else None
    group = sorted({rank for pair in pairs for rank in pair})
    require_world(function, group)
    if own not in group:
        return None  # no part of it
    check_equal(function, srcs[0], dsts[0])
    sends, gets = any(a == own for a, _ in pairs), any(b == own for _, b in pairs)
    places = [(group.index(a), group.index(b)) for a, b in pairs]
    return exchange.take_part(function, group, _form(srcs, pairs=pairs), "permute",
                              [(srcs[0] if sends else None, dsts[0] if gets else None)], exchange.permuted(places),
                              permute=places, name=name)


def collective_permute_implicit(
    srcs_by_channel, dsts_by_channel, replica_group, channel_ids=(0,), priority=None, name=None
):
    """In the ring of the group, each rank sends to its successor and receives from its predecessor."""
    function = "collective_permute_implicit"
    own = _check_channels(function, replica_group, channel_ids, srcs_by_channel=srcs_by_channel,
                          dsts_by_channel=dsts_by_channel)
    check_priority(function, priority)
    pairs = [(src, dst) for (src,), (dst,) in zip(srcs_by_channel, dsts_by_channel)]
    if len(own) == 1:
        return _copy(function, *zip(*pairs), name)
    return _in_rings(function, own, pairs, pairs[0][0].space, name)


def collective_permute_implicit_reduce(
    srcs0_by_channel, srcs1_by_channel, dsts_by_channel, replica_group, op, channel_ids=(0,), priority=None, name=None
):
    """In the ring of the group, each rank sends op(src0, src1) to its successor."""
    function = "collective_permute_implicit_reduce"
    own = _check_channels(function, replica_group, channel_ids, srcs0_by_channel=srcs0_by_channel,
                          srcs1_by_channel=srcs1_by_channel, dsts_by_channel=dsts_by_channel)
    check_priority(function, priority)
    op = _operator(function, op)
    pairs = []
    for (left,), (right,), (dst,) in zip(srcs0_by_channel, srcs1_by_channel, dsts_by_channel):
        for src in (left, right):
            check_equal(function, src, dst)
        result = dst
        if len(own) > 1:
            result = session.current().launch.tensor(dst.space, dst.shape, dst.dtype, "reduced")
        _combine(op, left, right, result, name)
        pairs.append((result, dst))
    return _in_rings(function, own, pairs, pairs[0][0].space, name) if len(own) > 1 else None


def _in_rings(function, own, pairs, memory, name):
    require_world(function, own)
    for src, dst in pairs:
        check_equal(function, src, dst)
    form = {"channels": len(pairs), **_form([src for src, _ in pairs])}
    places = list(range(len(own)))
    # The orders of channels alternate, so that two of them use both directions of the links.
    orders = [places if channel % 2 == 0 else places[::-1] for channel in range(len(pairs))]
    ring = [(place, (place + 1) % len(own)) for place in places]
    return exchange.take_part(function, own, form, "permute", pairs, exchange.in_rings(orders), permute=ring, name=name)


def _check_channels(function, replica_group, channel_ids, **by_channel):
    own = own_group(function, replica_group)
    channels = list(channel_ids)
    most = _most_channels(own)
    if channels != list(range(len(channels))) or not 1 <= len(channels) <= most:
        refuse(
            "collectives.channels",
            f"{function}: channel_ids is {channel_ids!r}; it must be 0, 1, ... with at most {most} channels",
        )
    for argument, lists in by_channel.items():
        if len(lists) != len(channels):
            refuse(
                "collectives.channels", f"{function}: {argument} has {len(lists)} lists for {len(channels)} channels"
            )
    for lists in zip(*by_channel.values()):
        check_tensors(function, _ANY, **dict(zip(by_channel, lists)))
        check_one(function, **dict(zip(by_channel, lists)))
    return own


def _most_channels(own):
    """Four where the group has all devices of a node, else two; in a world of one rank the larger number."""
    world = ranks.world()
    if world is None:
        return _CHANNELS
    devices = {rank // world.topology.ranks_per_chip for rank in own}
    in_node = world.topology.ranks_per_instance // world.topology.ranks_per_chip
    return _CHANNELS if len(devices) % in_node == 0 else _CHANNELS_OTHERWISE


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
    function = "all_gather_v"
    _check_variable(function, srcs, dsts, priority)
    if has_rdispls:
        refuse("collectives.displacements", "all_gather_v: has_rdispls=True is not supported by NKI 0.6")
    own = own_group(function, replica_group)
    if len(own) != _ALL_GATHER_V_RANKS:
        refuse(
            "collectives.group",
            f"all_gather_v: a list of ranks has {_ALL_GATHER_V_RANKS} ranks, those of a chip; got {len(own)}",
        )
    require_world(function, own)
    _variable(function, "all_gather", own, srcs[0], dsts[0], metadata_tensor, recv_counts_known, False, name)


def all_to_all_v(
    srcs, dsts, replica_group, metadata_tensor, recv_counts_known=False, has_rdispls=False, priority=None, name=None
):
    """Each rank sends to each other one a chunk, as long as its metadata says."""
    function = "all_to_all_v"
    _check_variable(function, srcs, dsts, priority)
    own = own_group(function, replica_group)
    if len(own) == 1:
        refuse("collectives.group", "all_to_all_v: a list of ranks spans several devices or nodes; got one rank")
    require_world(function, own)
    require_switch_or_nodes(function, own, has_rdispls)
    _variable(function, "all_to_all", own, srcs[0], dsts[0], metadata_tensor, recv_counts_known, has_rdispls, name)


def _variable(function, collective, own, src, dst, metadata, recv_counts_known, has_rdispls, name):
    rows = 4 if has_rdispls else 3
    legal = (rows, len(own)) if metadata.space == "HBM" else (1, rows, len(own))
    if metadata.dtype_name != "uint32" or tuple(metadata.shape) not in (legal, (*legal[:-2], 4, len(own))):
        refuse("collectives.metadata",
               f"{function}: metadata_tensor is {metadata.dtype_name} {metadata.shape}; it must be uint32 {legal}")
    if src.dtype_name != dst.dtype_name:
        refuse("collectives.dtype", f"{function}: src is {src.dtype_name} and dst {dst.dtype_name}; they must be equal")
    extra = {"recv_counts_known": recv_counts_known, "has_rdispls": has_rdispls, "tensor": metadata}
    if session.current().launch.values:
        extra["metadata"] = _inputs_of(metadata, len(own))
    exchange.take_part(function, own, {"dtypes": src.dtype_name}, collective, [(src, dst)],
                       exchange.variable(function, collective == "all_to_all"), extra=extra, name=name)


def _inputs_of(metadata, count):
    """The metadata's values; row 2, where it was never written, as zeros."""
    rows = metadata.shape[-2]
    view = metadata if metadata.space == "HBM" else metadata.reshape((1, rows * count))
    return arrays.from_tensor(view).reshape(rows, count).astype(np.uint32)


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
    """The rank whose data a ring works on in an iteration: its own at first, then its predecessors', a register."""
    function = "collective_permute_implicit_current_processing_rank_id"
    own = own_group(function, replica_group)
    most = _most_channels(own)
    if not 0 <= int(channel_id) < most:
        refuse("collectives.channels", f"channel_id is {channel_id!r}; it must be 0 to {most - 1}")
    if len(own) == 1:
        return RankRegister(own[0])
    require_world(function, own)
    place = own.index(ranks.rank())
    back = int(iteration_id) if int(channel_id) % 2 == 0 else -int(iteration_id)
    return RankRegister(own[(place - back) % len(own)])


def rank_id(name=None):
    """The number of the rank that runs: a register."""
    return RankRegister(ranks.rank())
