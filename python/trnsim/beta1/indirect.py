"""HBM tensors of which one dimension is indexed by a tile: gathers and scatters of rows by DMA."""

from trnsim.beta1.index import Affine, broadcast_shapes
from trnsim.beta1.tile import Tile
from trnsim.lowering.tiles import refuse


class Indirect:
    """`tensor[index_tile, i_f]`, `tensor[b, index_tile, i_f]`: rows of one dimension chosen at run time. Only
    nl.load, nl.store and DMA instructions take it.

    rows: tile of all rows, the row axis first, narrowed to the elements that one row contributes. index: the
    row numbers, int32 or uint32 in SBUF, one per partition.
    """

    def __init__(self, rows: Tile, index: Tile, shape):
        self.rows = rows
        self.index = index
        self.shape = tuple(shape)
        self.dtype = rows.dtype
        self.name = rows.name
        self.space = rows.space

    @staticmethod
    def of(tile: Tile, key) -> "Indirect":
        entries = list(key) if isinstance(key, tuple) else [key]
        places = [dim for dim, entry in enumerate(entries) if isinstance(entry, Tile)]
        if len(places) > 1 or (places[0] and tile.space != "HBM"):
            refuse(
                "index.tile",
                f"subscript of '{tile.name}': a subscript takes one tile of indices, on the chip in the first "
                "dimension",
            )
        at = places[0]
        index = entries.pop(at)
        if len(entries) + 1 != tile.ndim:
            refuse(
                "index.count",
                f"'{tile.name}' with shape {tile.shape} has {tile.ndim} dimensions; the subscript has "
                f"{len(entries) + 1}. Index every dimension.",
            )
        if any(isinstance(entry, slice) or entry is Ellipsis for entry in entries):
            refuse(
                "index.mixed",
                f"subscript of '{tile.name}' mixes an index tile with slices; use nl.arange for the other "
                "dimensions",
            )
        if index.size != index.shape[0]:
            refuse(
                "index.tile",
                f"the index tile '{index.name}' has shape {index.shape}; it must have one index per"
                " partition, shape [P, 1]",
            )
        affine = [entry for entry in entries if isinstance(entry, Affine)]
        free = broadcast_shapes([entry.shape for entry in affine]) if affine else (1, 1)
        if free[0] != 1:
            # mgrid's expressions span the partition axis too, where the index tile rules
            entries = [_without_partition(entry) if isinstance(entry, Affine) else entry for entry in entries]
            free = (1,) + free[1:]
        every_row = Affine((tile.shape[at],) + (1,) * (len(free) - 1), 0, (1,) + (0,) * (len(free) - 1))
        entries.insert(at, every_row)
        return Indirect(tile[tuple(entries)], index, (index.shape[0],) + free[1:])

    def part(self, ranges) -> "Indirect":
        """The elements in a range (start, stop) of each axis: fewer indices, and less of each row."""
        return Indirect(
            self.rows.part([None, *ranges[1:]]),
            self.index.part([ranges[0]] + [None] * (self.index.ndim - 1)),
            [stop - start for start, stop in ranges],
        )

    @property
    def tensor(self):
        return refuse(
            "index.tile",
            f"'{self.name}' indexed by a tile can be read and written only by nl.load, nl.store, "
            "nisa.dma_copy and nisa.dma_transpose",
        )

    def _refuse(self, *_):
        return self.tensor

    __getitem__ = __setitem__ = __add__ = __mul__ = _refuse


def _without_partition(entry: Affine) -> Affine:
    if entry.coefs[0]:
        refuse(
            "index.tile", "beside an index tile, the other index expressions cannot vary along the partition"
        )
    return Affine((1,) + entry.shape[1:], entry.const, entry.coefs)
