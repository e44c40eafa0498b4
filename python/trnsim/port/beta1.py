"""What changed in the shape of a kernel since Beta 1: index tiles, masks, block dimensions, assignments, operators."""

import ast

from trnsim.port import aliases, indexing, results
from trnsim.port.known import Known
from trnsim.port.source import Source

_OPERATORS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power",
              ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor"}
_COMPARISONS = {ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal",
                ast.NotEq: "not_equal"}
HANDLED = {"nki.language.arange", "nki.language.mgrid", "nki.language.par_dim"}


def port(source: Source, names: dict[str, str]) -> list[str]:
    """Finds and edits what each function has; returns the imports that the edits need and the file lacks."""
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            _Function(source, names, node).port()
    known, new = {aliases.today(path) for path in names.values()}, source.rewritten()
    wanted = (("nki.isa", "nisa"), ("nki.language", "nl"))
    return [f"import {module} as {name}" for module, name in wanted if module not in known and f"{name}." in new]


def _front(parts: list[str], at: int) -> list[str]:
    """The part at a place moved to the front."""
    return [parts[at], *parts[:at], *parts[at + 1:]]


def _is_ellipsis(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


class _Function(Known):
    """One function, statement by statement: what names are is known from those before."""

    def __init__(self, source: Source, names: dict[str, str], node):
        super().__init__(source, names)
        self.node = node

    def port(self) -> None:
        for statement in self.node.body:
            self._statement(statement)
        self._leave_out_indices()
        if not any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(self.node)):
            self._results_among_the_parameters()

    # Statements

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.note_blocks(node.targets[0].id, node.value)
        inner = [child for field in ("body", "orelse", "finalbody") for child in getattr(node, field, [])]
        for child in ast.iter_child_nodes(node):
            if child not in inner and not isinstance(child, ast.stmt):
                self._expression(child, inside=not (isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) and
                                                    child is getattr(node, "value", None)))
        for child in inner:
            self._statement(child)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._assign(node, node.targets[0])
        elif isinstance(node, ast.AnnAssign) and node.value and isinstance(node.target, ast.Name):
            self.note(node.target.id, node.value, self.instruction(node.value)[0])
        elif isinstance(node, ast.AugAssign):
            self._in_place(node)

    def _assign(self, node: ast.Assign, target: ast.AST) -> None:
        made = indexing.made_by(node.value, self.names_it, self.source.text_of) or self.moved(node.value)
        if made is not None:
            return self.keep_indices(node, target, made)
        instruction, given = self.instruction(node.value)
        if isinstance(target, ast.Name):
            self.note(target.id, node.value, instruction)
            if instruction:
                self._returned(node, target.id, instruction, given)
        elif isinstance(target, ast.Subscript) and self.is_tile(target):
            self._store(node, target, instruction, given)
        elif instruction:
            self._advise_returned(node.value, instruction)

    def _returned(self, node: ast.Assign, name: str, instruction: str, given) -> None:
        """name = nisa.op(...): the tile first, then the instruction into it."""
        text = self.source.text_of
        function = given and self._as_function(instruction, given)
        if function:
            return self.source.replace(node.value, function,
                                       f"nisa.{instruction} returns no tile; nl's functions of tiles do")
        call = given and results.rewritten(text(node.value.func), instruction, name, given, text)
        place = call and results.allocation(instruction, given, text, self.language)
        uses_itself = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.value))
        if not place or uses_itself or results.has_mask(given):
            return self._advise_returned(node.value, instruction)
        self.source.replace(node, f"{name} = {place}\n{self.source.indent_of(node)}{call}",
                            f"nisa.{instruction} writes into dst= and returns no tile", f"{place}, then {call}")

    def _as_function(self, instruction: str, given) -> str | None:
        """nl.add(a, b) for tensor_tensor(a, b, op=nl.add), whose dtype is that of both together."""
        if instruction != "tensor_tensor" or set(given) - {"mask"} != {"data1", "data2", "op"} or \
                results.has_mask(given):
            return None
        op = given["op"]
        numpys = op.attr if isinstance(op, ast.Attribute) and ast.unparse(op.value) in ("np", "numpy") else None
        path = aliases.today(aliases.path_of(op, self.names) or "")
        name = path.removeprefix("nki.language.") if path.startswith("nki.language.") else numpys
        text = self.source.text_of
        return name and f"{self.language}.{name}({text(given['data1'])}, {text(given['data2'])})"

    def _store(self, node: ast.Assign, target: ast.Subscript, instruction: str | None, given) -> None:
        """tile[...] = value."""
        text, value = self.source.text_of, node.value
        what, place = "tiles are not assigned to: instructions write into dst=", self.source.text_of(target)
        if instruction:
            call = given and results.rewritten(text(value.func), instruction, place, given, text)
            if not call or results.has_mask(given):
                return self._advise_returned(value, instruction)
            return self.source.replace(node, call, f"nisa.{instruction} writes into dst= and returns no tile")
        loaded = self._loaded_as_it_is(value, target)
        if loaded is not None:
            return self.source.replace(node, f"{self.isa}.dma_copy(dst={place}, src={text(loaded)})", what)
        if isinstance(value, (ast.Constant, ast.UnaryOp)) and not self.is_tile(value):
            return self.source.replace(node, f"{self.isa}.memset(dst={place}, value={text(value)})", what)
        if self.is_tile(value):
            return self.source.replace(node, f"{self.isa}.tensor_copy(dst={place}, src={text(value)})", what)
        self.source.advise(node, what, f"{self.isa}.tensor_copy(dst={place}, src={text(value)}) for a tile, "
                                       f"{self.isa}.memset(dst={place}, value={text(value)}) for a number")

    def _loaded_as_it_is(self, value: ast.AST, target: ast.Subscript) -> ast.AST | None:
        """What nl.load brings, where it changes no dtype on the way to the target's."""
        if not isinstance(value, ast.Call) or not self.names_it(value.func, "nki.language.load"):
            return None
        given = results.arguments(value, ("src", "mask", "dtype")) or {}
        root = target.value
        while isinstance(root, ast.Subscript):
            root = root.value
        dtype = self.dtypes.get(root.id) if isinstance(root, ast.Name) else None
        kept = "dtype" not in given or ast.unparse(given["dtype"]) == dtype
        return given.get("src") if kept and not results.has_mask(given) else None

    def _in_place(self, node: ast.AugAssign) -> None:
        """tile += value; into PSUM a product accumulates."""
        if not self.is_tile(node.target) or type(node.op) not in _OPERATORS:
            return
        text, place = self.source.text_of, self.source.text_of(node.target)
        instruction, given = self.instruction(node.value)
        if instruction == "nc_matmul" and given and isinstance(node.op, ast.Add) and not results.has_mask(given):
            call = results.rewritten(text(node.value.func), instruction, place, given, text)
            return self.source.replace(node, call[:-1] + ", accumulate=True)", "products accumulate in PSUM by dst=")
        product = self._transposed_product(node.value)
        if product and isinstance(node.op, ast.Add):
            call = f"{self.isa}.nc_matmul(dst={place}, stationary={product[0]}, moving={product[1]}, accumulate=True)"
            return self.source.replace(node, call, "products accumulate in PSUM by dst=")
        op = f"{self.language}.{_OPERATORS[type(node.op)]}"
        what = "tiles have no operators in place"
        if instruction or not self.is_tile(node.value):
            value = text(node.value)
            return self.source.advise(node, what, f"{self.isa}.tensor_scalar(dst={place}, data={place}, op0={op}, "
                                                  f"operand0={value}), or tensor_tensor for a tile")
        self.source.replace(node, f"{self.isa}.tensor_tensor(dst={place}, data1={place}, data2={text(node.value)}, "
                                  f"op={op})", what)

    def _transposed_product(self, value: ast.AST) -> tuple[str, str] | None:
        if not isinstance(value, ast.Call) or not self.names_it(value.func, "nki.language.matmul"):
            return None
        given = results.arguments(value, ("x", "y", "transpose_x", "mask"))
        transposed = given and given.get("transpose_x")
        if not isinstance(transposed, ast.Constant) or transposed.value is not True or results.has_mask(given):
            return None
        return self.source.text_of(given["x"]), self.source.text_of(given["y"])

    # Expressions, innermost first

    def _expression(self, node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            self._expression(child, inside=True)
        if isinstance(node, ast.Subscript):
            self._subscript(node)
        elif isinstance(node, ast.Call):
            self._call(node, inside)
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            self._operator(node, node.left, _OPERATORS[type(node.op)], node.right)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            self._operator(node, node.left, _COMPARISONS[type(node.ops[0])], node.comparators[0])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and self.is_tile(node.operand):
            self.source.replace(node, f"{self.language}.negative({self.source.text_of(node.operand)})",
                                "tiles have no operators")

    def _operator(self, node, left, name, right) -> None:
        if not self.is_tile(left) and not self.is_tile(right):
            return
        text, what = self.source.text_of, "tiles have no operators"
        if name == "divide":
            inverse = f"{self.language}.reciprocal({text(right)})" if self.is_tile(right) else f"1 / ({text(right)})"
            self.source.advise(node, f"{what}, and nl.divide does not compile",
                               f"{self.language}.multiply({text(left)}, {inverse}), which may round otherwise")
        elif name == "power":
            self.source.advise(node, f"{what}, and nl.power takes two tiles",
                               f"multiply, or {self.language}.power with a tile of the exponent")
        else:
            self.source.replace(node, f"{self.language}.{name}({text(left)}, {text(right)})", what)

    def _call(self, node: ast.Call, inside: bool) -> None:
        if self.names_it(node.func, "nki.language.par_dim") and len(node.args) == 1:
            return  # the shape that it stands in is seen to
        for keyword in node.keywords:
            if keyword.arg == "mask" and self.of_nki(node) and not isinstance(keyword.value, ast.Constant):
                self._mask(keyword.value)
        shapes = [*node.args, *(k.value for k in node.keywords)]
        for shape in shapes:
            if isinstance(shape, (ast.Tuple, ast.List)):
                self._shape(shape)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "broadcast_to" and self.is_tile(node.func.value):
            given = ", ".join(map(self.source.text_of, [node.func.value, *node.args]))
            return self.source.replace(node, f"{self.language}.broadcast_to({given})", "broadcast_to is a function")
        instruction, _ = self.instruction(node)
        if instruction:
            return self._advise_returned(node, instruction) if inside else None
        self._language_call(node)

    def _language_call(self, node: ast.Call) -> None:
        """nl.f(..., mask=None): nl's functions have no mask; nl.store does not read PSUM."""
        path = aliases.path_of(node.func, self.names)
        if not aliases.is_old(path) or not path.startswith(f"{aliases.OLD}.language."):
            return
        text = self.source.text_of
        kept = [k for k in node.keywords if not (k.arg == "mask" and isinstance(k.value, ast.Constant))]
        values = [k.value for k in kept if k.arg == "value"] or node.args[1:2]
        in_psum = path.endswith(".store") and values and self.is_psum(values[0])
        if len(kept) == len(node.keywords) and not in_psum:
            return
        shown = {id(values[0]): f"{self.language}.copy({text(values[0])})"} if in_psum else {}
        given = [shown.get(id(a), text(a)) for a in node.args]
        given += [f"{k.arg}={shown.get(id(k.value), text(k.value))}" if k.arg else f"**{text(k.value)}" for k in kept]
        self.source.replace(node, f"{text(node.func)}({', '.join(given)})",
                            "DMA does not read PSUM: copy to SBUF first" if in_psum else "there are no masks")

    def _shape(self, shape) -> None:
        at = self.par_dim_in(shape)
        if at is None or not shape.elts[at].args:
            return
        text = [self.source.text_of(e.args[0] if i == at else e) for i, e in enumerate(shape.elts)]
        first = f"({', '.join(_front(text, at))}{',' if len(text) == 1 else ''})"
        what = "dimension 0 is the partition since release 0.3"
        if at:
            what += "; block dimensions follow it, and all blocks take memory at one time: where that is too much, a " \
                    "tile for each block inside the loop"
        self.source.replace(shape, first, what)

    def _mask(self, mask: ast.AST) -> None:
        ends = []
        for compare in ast.walk(mask):
            if isinstance(compare, ast.Compare) and len(compare.ops) == 1 and isinstance(compare.ops[0], ast.Lt):
                left = indexing.Dimension(compare.left, self.index_tile, self.source.text_of)
                if left.tile is not None and left.affine:
                    end = left.slice().split(":")[1]
                    ends.append(f"end the slices of axis {left.tile.axis} at min({end}, "
                                f"{self.source.text_of(compare.comparators[0])})")
        self.source.advise(mask, "there are no masks: operands are sliced to what they leave",
                           " and ".join(ends) or "slice the operands of this call, or memset and write a part")

    def _subscript(self, node: ast.Subscript) -> None:
        if self.index_tile(node) is not None or indexing.made_by(node, self.names_it, self.source.text_of):
            return
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        used = [t for part in parts for t in map(self.index_tile, ast.walk(part)) if t is not None]
        at = self.blocks.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if at is not None and (len(parts) <= at or any(_is_ellipsis(part) for part in parts)):
            return self.source.advise(node, "block dimensions follow the partition since release 0.3",
                                      f"{node.value.id}[partition, block, ...]")
        if not used:
            if at is not None:
                new = _front([self.source.text_of(part) for part in parts], at)
                self.source.replace(node, f"{node.value.id}[{', '.join(new)}]",
                                    "block dimensions follow the partition since release 0.3")
            return
        origins = [tile.origin for tile in used if tile.origin]
        for origin in origins:
            origin.uses += 1
        text = self.source.text_of
        dimensions = [indexing.Dimension(part, self.index_tile, text) for part in parts]
        new = indexing.sliced(dimensions, [text(part) for part in parts])
        if new is None:
            return self.source.advise(node, "index tiles are gone since release 0.2",
                                      f"{text(node.value)}.ap(...) with a stride for each axis, or slices")
        for origin in origins:
            origin.sliced += 1
        new = new if at is None else _front(new, at)
        self.source.replace(node, f"{text(node.value)}[{', '.join(new)}]", "index tiles are slices since release 0.2")

    def _leave_out_indices(self) -> None:
        for origin in self.origins:
            if origin.uses == origin.sliced:
                self.source.remove(origin.statement, "index tiles are slices since release 0.2")
            else:
                self.source.advise(origin.statement, "index tiles are gone since release 0.2",
                                   "slices where it is used, then leave it out")

    def _advise_returned(self, call: ast.Call, instruction: str) -> None:
        names = results.parameters(instruction)
        given = results.arguments(call, names)
        text = self.source.text_of
        shown = given and results.rewritten(text(call.func), instruction, "tile", given, text)
        self.source.advise(call, f"nisa.{instruction} writes into dst= and returns no tile",
                           f"tile = {self.language}.ndarray(...) for the result, then {shown}" if shown else
                           f"{text(call.func)}(dst=..., ...), whose arguments are others since: trnsim isa "
                           f"{instruction}")

    def _results_among_the_parameters(self) -> None:
        parameters = {a.arg for a in self.node.args.args}
        for call in ast.walk(self.node):
            if isinstance(call, ast.Call) and self.names_it(call.func, "nki.language.store") and call.args:
                root = call.args[0]
                while isinstance(root, ast.Subscript):
                    root = root.value
                if isinstance(root, ast.Name) and root.id in parameters:
                    parameters.discard(root.id)
                    self.source.advise(self.node, f"results are returned: {root.id} is a parameter that is written",
                                       f"{root.id} = {self.language}.ndarray(..., buffer={self.language}.shared_hbm) "
                                       f"in the kernel, and return {root.id}")
