"""What release 0.7 added for tensors cut into tiles, and its 64-bit type: refused by name."""

from trnsim.refusal import refused, refused_class

_GRIDS = "the grids of tiles of release 0.7 are not simulated: slice the tensor, and create tiles with nl.ndarray"

NkiGrid, NkiTileGrid, NkiBlockGrid = (
    refused_class(f"nki.language.{name}", _GRIDS) for name in ("NkiGrid", "NkiTileGrid", "NkiBlockGrid")
)
tiles, blocks, alloc_tiles, alloc_blocks = (
    refused(f"nki.language.{name}", _GRIDS) for name in ("tiles", "blocks", "alloc_tiles", "alloc_blocks")
)
int64 = refused("nki.language.int64", "tensors have no elements of 64 bits: addresses of int32 reach 2 GiB")
