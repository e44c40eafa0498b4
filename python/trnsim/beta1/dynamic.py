"""Tiles at an address that another tile holds: what tensor_copy_dynamic_src and _dst read and write.

Execution is eager, so the offset is read on the spot and the rest is an ordinary view; the tile that held it
stays with the view, for the instruction to wait for.
"""

from trnsim import _native
from trnsim.beta1 import run
from trnsim.beta1.index import DynamicIndex
from trnsim.beta1.tile import Tile
from trnsim.nki.language.indirect import value_of


class DynamicTile(Tile):
    """A part of a tile at a run-time offset; `offset` is the tile that holds it."""

    offset: Tile


def subscript(tile: Tile, key) -> DynamicTile:
    """tile[key], where one entry of the key holds a tile of one integer."""
    entries, offsets = [], []
    for entry in key if isinstance(key, tuple) else (key,):
        expression, offset = (0, entry) if isinstance(entry, Tile) else (entry, None)
        if isinstance(entry, DynamicIndex):
            expression, offset = entry.expression, entry.tile
        if offset is not None:
            offsets.append(offset)
            run.current().flush()
            expression = expression + value_of(offset.tensor)
        entries.append(expression)
    if len(offsets) > 1:
        raise _native.Unsupported(
            f"subscript of '{tile.name}' with {len(offsets)} offsets from tiles, because the documented copies "
            "take one"
        )
    view = tile[tuple(entries)]
    dynamic = DynamicTile(view._storage, view.shape, view.dtype, view._view, view._base)
    dynamic.offset = offsets[0]
    return dynamic
