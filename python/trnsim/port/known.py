"""What the names of one function are: tiles, PSUM, index tiles, blocks; and what an expression of NKI is."""

import ast

from trnsim.port import aliases, indexing, results
from trnsim.port.source import Source

_NO_TILES = ("par_dim", "arange", "ds", "affine_range", "sequential_range", "static_range", "program_id",
             "num_programs", "store", "device_print")


class Known:
    """Filled in the order of the statements."""

    def __init__(self, source: Source, names: dict[str, str]):
        self.source, self.names = source, names
        self.tiles: set[str] = set()
        self.psum: set[str] = set()
        self.dtypes: dict[str, str] = {}  # as allocations spell them
        self.blocks: dict[str, int] = {}  # how many block dimensions stand before the partition
        self.indices: dict[str, list[indexing.Tile]] = {}
        self.language = next((n for n, path in names.items() if aliases.today(path) == "nki.language"), "nl")
        self.isa = next((n for n, path in names.items() if aliases.today(path) == "nki.isa"), "nisa")
        self.origins: list[indexing.Origin] = []

    def note(self, name: str, value: ast.AST, instruction: str | None) -> None:
        path = aliases.today(aliases.path_of(value.func, self.names) or "") if isinstance(value, ast.Call) else ""
        self.indices.pop(name, None)
        if path.startswith("nki.language."):
            self.dtypes[name] = next((ast.unparse(k.value) for k in value.keywords if k.arg == "dtype"), "")
        if instruction or path.startswith("nki.language.") or self.is_tile(value) or _is_method(value):
            self.tiles.add(name)
        if instruction in ("nc_matmul", "nc_transpose") or self.is_psum(value) or isinstance(value, ast.Call) and any(
                k.arg == "buffer" and "psum" in ast.unparse(k.value) for k in value.keywords):
            self.psum.add(name)

    def note_blocks(self, name: str, value: ast.AST) -> None:
        self.blocks.pop(name, None)
        for shape in (a for a in [*value.args, *(k.value for k in value.keywords)]
                      if isinstance(a, (ast.Tuple, ast.List))) if isinstance(value, ast.Call) else ():
            at = self.par_dim_in(shape)
            if at:
                self.blocks[name] = at

    def par_dim_in(self, shape) -> int | None:
        return next((i for i, e in enumerate(shape.elts)
                     if isinstance(e, ast.Call) and self.names_it(e.func, "nki.language.par_dim")), None)

    def moved(self, value: ast.AST) -> list[indexing.Tile] | None:
        """base + nl.arange(n)[:, None]: an index tile that starts elsewhere."""
        used = [t for t in map(self.index_tile, ast.walk(value)) if t is not None and t.axis is not None]
        if not used:
            return None
        moved = indexing.Dimension(value, self.index_tile, self.source.text_of)
        if moved.tile is None or not moved.affine or moved.factor:
            return None
        for tile in used:
            if tile.origin:
                tile.origin.uses += 1
                tile.origin.sliced += 1
        return [indexing.Tile(moved.tile.size, moved.tile.axis, moved.tile.rank, moved.start())]

    def keep_indices(self, node: ast.Assign, target: ast.AST, made: list[indexing.Tile]) -> None:
        origin = indexing.Origin(node)
        for tile in made:
            tile.origin = origin
        if isinstance(target, ast.Name):
            self.indices[target.id] = made
        elif isinstance(target, ast.Tuple) and len(target.elts) == len(made):
            for element, tile in zip(target.elts, made):
                if isinstance(element, ast.Name):
                    self.indices[element.id] = [tile]
        self.origins.append(origin)

    def index_tile(self, node: ast.AST) -> indexing.Tile | None:
        """The index tile that an expression is by itself."""
        if isinstance(node, ast.Name) and len(self.indices.get(node.id, ())) == 1:
            return self.indices[node.id][0]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            made, axis = self.indices.get(node.value.id, ()), indexing.field(node.attr)
            return made[axis] if axis is not None and axis < len(made) else None
        if isinstance(node, ast.Subscript):
            flat = self.index_tile(node.value)
            made = indexing.expanded(flat, node.slice) if flat is not None and flat.axis is None else None
            return made[0] if made else None
        if isinstance(node, ast.Call):
            made = indexing.made_by(node, self.names_it, self.source.text_of)
            return made[0] if made else None
        return None

    def names_it(self, node: ast.AST, path: str) -> bool:
        return aliases.today(aliases.path_of(node, self.names) or "") == path

    def of_nki(self, call: ast.Call) -> bool:
        return aliases.path_of(call.func, self.names) is not None

    def instruction(self, node: ast.AST):
        """(instruction, arguments) of a call of Beta 1 that returns a tile; (None, None) otherwise."""
        path = aliases.path_of(node.func, self.names) if isinstance(node, ast.Call) else None
        module, _, name = (path or "").rpartition(".")
        names = results.parameters(name) if module == f"{aliases.OLD}.isa" else None
        return (name, results.arguments(node, names)) if names else (None, None)

    def is_tile(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.tiles and node.id not in self.indices
        if isinstance(node, ast.Subscript):
            return self.is_tile(node.value)
        if isinstance(node, ast.BinOp):
            return self.is_tile(node.left) or self.is_tile(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_tile(node.operand)
        if isinstance(node, ast.Compare):
            return any(map(self.is_tile, [node.left, *node.comparators]))
        if isinstance(node, ast.Call):
            path = aliases.today(aliases.path_of(node.func, self.names) or "")
            return path.startswith("nki.language.") and path.rpartition(".")[2] not in _NO_TILES
        return False

    def is_psum(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Call):
            return self.names_it(node.func, "nki.language.matmul")
        return isinstance(node, ast.Name) and node.id in self.psum


def _is_method(value: ast.AST) -> bool:
    """x.broadcast_to(...) and the like, whose result is a tile as x is."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in (
        "broadcast_to", "astype", "reshape", "view")
