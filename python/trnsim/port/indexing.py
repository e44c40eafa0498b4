"""Index tiles of Beta 1, nl.arange and nl.mgrid, as slices: x[base + i_p, i_f] is x[base:base + 128, 0:512]."""

import ast
from dataclasses import dataclass

_FIELDS = "pxyzw"  # nl.mgrid's attributes, by axis


@dataclass
class Tile:
    """One index tile: `size` elements from `start` along an axis of `rank`."""

    size: str
    axis: int | None  # None before [:, None]
    rank: int
    start: str = ""
    origin: "Origin | None" = None


@dataclass
class Origin:
    """The statement that makes an index tile: it can go when every use of it became a slice."""

    statement: ast.Assign
    uses: int = 0
    sliced: int = 0


def made_by(value: ast.AST, is_name, text) -> list[Tile] | None:
    """The index tiles that an expression makes: of nl.arange(n)[:, None] one, of nl.mgrid[0:n, 0:m] one an axis."""
    if isinstance(value, ast.Call) and is_name(value.func, "nki.language.arange") and not value.keywords:
        return [_arange(value.args, text)] if 1 <= len(value.args) <= 2 else None
    if isinstance(value, ast.Subscript):
        if is_name(value.value, "nki.language.mgrid"):
            parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
            if all(isinstance(part, ast.Slice) and part.upper and not part.step for part in parts):
                return [_range(part, axis, len(parts), text) for axis, part in enumerate(parts)]
        flat = made_by(value.value, is_name, text)
        if flat and len(flat) == 1 and flat[0].axis is None:
            return expanded(flat[0], value.slice)
    return None


def _arange(arguments, text) -> Tile:
    if len(arguments) == 1:
        return Tile(text(arguments[0]), None, 1)
    return Tile(f"{text(arguments[1])} - {text(arguments[0])}", None, 1, text(arguments[0]))


def _range(part: ast.Slice, axis: int, rank: int, text) -> Tile:
    start = "" if part.lower is None or text(part.lower) == "0" else text(part.lower)
    return Tile(text(part.upper) if not start else f"{text(part.upper)} - {start}", axis, rank, start)


def expanded(flat: Tile, index: ast.AST) -> list[Tile] | None:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    whole = [i for i, part in enumerate(parts) if isinstance(part, ast.Slice)]
    if len(whole) != 1 or not all(isinstance(p, ast.Slice) or _is_none(p) for p in parts):
        return None
    return [Tile(flat.size, whole[0], len(parts), flat.start, flat.origin)]


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


class Dimension:
    """An index along one dimension as scalar terms and at most one index tile, perhaps a multiple of it."""

    def __init__(self, node: ast.AST, tile_of, text):
        self.tile, self.terms, self.factor, self.affine = None, [], "", True
        self._tile_of, self._text = tile_of, text
        self._add(node, "")

    def _add(self, node, sign) -> None:
        tile = self._tile_of(node)
        if tile is not None:
            self._take(tile, sign)
        elif not self._speaks_of_tiles(node):
            self.terms.append((sign, self._text(node), node))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            self._add(node.left, sign)
            minus = isinstance(node.op, ast.Sub)
            self._add(node.right, sign if not minus else "" if sign else "-")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = [(node.left, node.right), (node.right, node.left)]
            for tile_side, factor in sides:
                tile = self._tile_of(tile_side)
                if tile is not None and not self._speaks_of_tiles(factor):
                    self.factor = self._text(factor)
                    return self._take(tile, sign)
            self.affine = False
        else:
            self.affine = False

    def _take(self, tile, sign) -> None:
        self.affine = self.affine and self.tile is None and not sign and tile.axis is not None
        self.tile = tile

    def _speaks_of_tiles(self, node) -> bool:
        return any(self._tile_of(inner) is not None for inner in ast.walk(node))

    def start(self) -> str:
        terms = [*self.terms, *([("", self.tile.start, None)] if self.tile and self.tile.start else [])]
        text = ""
        for sign, term, node in terms:
            term = f"({term})" if sign and isinstance(node, ast.BinOp) else term
            text += f" {sign or '+'} {term}" if text else f"{sign}{term}"
        return "" if text == "0" else text

    def slice(self) -> str:
        start, size = self.start(), self.tile.size
        if self.factor:
            end = f"({size}) * {self.factor}" if not size.isalnum() else f"{size} * {self.factor}"
            return f"{start or 0}:{f'{start} + ' if start else ''}{end}:{self.factor}"
        return f"{start}:{start} + {size}" if start else f"0:{size}"


def sliced(dimensions: list[Dimension], texts: list[str]) -> list[str] | None:
    """The dimensions with slices in the place of index tiles; None where slices cannot say the same."""
    tiles = [d.tile for d in dimensions if d.tile]
    if not all(d.affine for d in dimensions):
        return None
    axes = [tile.axis for tile in tiles]
    if axes != sorted(set(axes)) or len({tile.rank for tile in tiles}) > 1:
        return None
    parts = [d.slice() if d.tile else text for d, text in zip(dimensions, texts)]
    missing = tiles[0].rank - len(tiles)
    scalars = [i for i, d in enumerate(dimensions) if not d.tile and d.terms and not _is_slice(d)]
    if missing > len(scalars):
        return None
    for i in scalars[len(scalars) - missing:] if missing else ():  # an axis of length one stays an axis
        parts[i] = f"{parts[i]}:{parts[i]} + 1" if not parts[i].isdigit() else f"{parts[i]}:{int(parts[i]) + 1}"
    return parts


def _is_slice(dimension: Dimension) -> bool:
    return isinstance(dimension.terms[0][2], (ast.Slice, ast.Constant)) and not (
        isinstance(dimension.terms[0][2], ast.Constant) and isinstance(dimension.terms[0][2].value, int))


def field(name: str) -> int | None:
    """The axis of nl.mgrid's attribute of that name."""
    return _FIELDS.index(name) if name in _FIELDS and len(name) == 1 else None
