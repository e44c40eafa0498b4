"""Results of instructions: tiles whose place is known only when they are used.

`out[i_p, i_f] = nisa.activation(...)` writes where it is told to, without a copy. The instruction therefore
waits until its result is assigned or used; at most one does at a time, and anything that issues an
instruction lets it go first, so instructions stay in program order. Where the caller's bytecode shows that
the result goes straight into a variable, or nowhere, nothing can be gained by waiting, and the instruction is
issued on the line that wrote it.
"""

import dis
import functools
import os
import re
import sys
from typing import NamedTuple

from trnsim.beta1 import run
from trnsim.beta1.storage import Storage
from trnsim.beta1.tile import Tile
from trnsim.lowering.tiles import refuse

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_VARIABLES = {"STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"}
_LOST = {"POP_TOP", "RETURN_VALUE", "STORE_ATTR"}  # the result never meets a tile to be written into
_NOTHING = (None, None)


class Deferred(Tile):
    """A tile that an instruction will write.

    emit(dst, accumulate): issues the instruction(s) into the tile `dst`; accumulate is nc_matmul's. spaces:
    memories that the result can be written to directly, the first by default. exact: the dtype that the
    instruction must find in its destination (it does not convert, or the kernel asked for that dtype). sums:
    emit can accumulate in PSUM.
    """

    def __init__(self, name, emit, shape, dtype, spaces=("SBUF", "PSUM"), exact=False, sums=False):
        super().__init__(None, _at_least_2d(shape), dtype)
        self.result_name = name
        self.emit = emit
        self.spaces = spaces
        self.exact = exact
        self.sums = sums

    @property
    def waiting(self) -> bool:
        return self._storage is None and self.emit is not None

    @property
    def space(self) -> str:
        return self.spaces[0] if self._storage is None else self._storage.space

    @property
    def name(self) -> str:
        return self.result_name if self._storage is None else self._storage.name

    @property
    def storage(self) -> Storage:
        if self._storage is None:
            self.settle()
        return self._storage

    def settle(self):
        """Issue the instruction into a new tile."""
        if self.emit is None:
            refuse(
                "tensor.never_written",
                f"the result of {self.result_name} was given up when an error ended its instruction",
            )
        emit = self._take()
        storage = Storage.new(self.spaces[0], self.shape, self.dtype, self.result_name)
        _issue(emit, Tile.of(storage), False)
        self._storage = storage

    def settle_into(self, dst: Tile, accumulate=False):
        """Issue the instruction into `dst`; from then on this result is `dst`."""
        _issue(self._take(), dst.with_shape(self.shape), accumulate)
        self._storage, self._view, self._base = dst.storage, dst.with_shape(self.shape)._view, dst._base
        self.dtype = dst.dtype

    def _take(self):
        emit, self.emit = self.emit, None
        active = run.current()
        if active.pending is self:
            active.pending = None
        return emit


def _issue(emit, dst, accumulate):
    """Let the instruction write `dst`, or note that its mask left nothing of it to write."""
    active = run.current()
    active.wrote = False
    emit(dst, accumulate)
    if not active.wrote:
        dst.storage.leave_out()


def _at_least_2d(shape):
    shape = tuple(int(size) for size in shape)
    return shape + (1,) if len(shape) == 1 else shape


def defer(*args, **kwargs) -> Deferred:
    """A new result, issued at once where waiting gains nothing. Issues what was waiting before it."""
    active = run.current()
    active.flush()
    result = Deferred(*args, **kwargs)
    active.pending = result
    operation, variable = use_of_result()
    if operation in _VARIABLES:
        result.result_name = variable
    may_wait = operation not in _VARIABLES and operation not in _LOST
    if not (may_wait or result.sums and _is_added(_kernel_frame())):
        result.settle()
    return result


def _is_added(frame) -> bool:
    """Whether a product that is the result of the call at `frame` goes into a `+=` only.

    `product = nisa.nc_matmul(...); psum += product` accumulates as `psum += nisa.nc_matmul(...)` does, and so
    does `psum += multiply(...)`, with a function of the kernel that returns the product.
    """
    while frame is not None:
        code, at = frame.f_code, frame.f_lasti
        operation, use = _following(code).get(at, _NOTHING)
        if operation == "STORE_FAST":
            operation, use = _only_use(code, at)
        if operation != "RETURN_VALUE":
            return use == "+="
        frame = _outside_package(frame.f_back)
    return False


def variable_name(otherwise: str) -> str:
    """The variable that the kernel assigns this call's result to, for messages."""
    operation, variable = use_of_result()
    return variable if operation in _VARIABLES else otherwise


def value_of_variable(variable):
    """What a variable of the kernel holds before the current call's result is assigned; None if nothing."""
    frame = _kernel_frame()
    return frame.f_locals.get(variable, frame.f_globals.get(variable)) if frame is not None else None


def use_of_result():
    """The operation of the kernel's bytecode that takes the result of the current call, and its argument."""
    code, at = _kernel_position()
    return _following(code).get(at, _NOTHING) if code is not None else _NOTHING


def _kernel_position():
    """The code and the offset at which the kernel called into this package."""
    frame = _kernel_frame()
    return (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)


def _kernel_frame():
    return _outside_package(sys._getframe(2))


def _outside_package(frame):
    """The innermost frame that is not of this package, from `frame` outwards."""
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


class _Operation(NamedTuple):
    offset: int
    name: str
    argument: object  # a variable's name, or an operator such as "+="


@functools.lru_cache(maxsize=4096)
def _operations(code):
    """The code's operations, in the names of Python 3.11: what later releases fuse is taken apart again."""
    operations = []
    for entry in dis.get_instructions(code):
        names = re.findall("(?:LOAD|STORE)_FAST", entry.opname)
        if len(names) == 2:  # as in STORE_FAST_LOAD_FAST (a, b)
            pairs = zip(names, entry.argval)
            operations += [_Operation(entry.offset, name, variable) for name, variable in pairs]
        elif entry.opname != "CACHE":
            name = names[0] if names else entry.opname
            argument = entry.argrepr if name == "BINARY_OP" else entry.argval
            operations.append(_Operation(entry.offset, name, argument))
    return operations


@functools.lru_cache(maxsize=4096)
def _following(code):
    """The operation after each one, as (name, argument), by offset; also by the offsets of its inline
    caches."""
    operations = _operations(code)
    return {
        at: (after.name, after.argument)
        for one, after in zip(operations, operations[1:])
        for at in range(one.offset, after.offset, 2)
    }


@functools.lru_cache(maxsize=4096)
def _only_use(code, at):
    """The operation on the variable that takes the result of the call at `at`, and its argument.

    Nothing if there are several, or anything is called or jumped to before it.
    """
    operations = _operations(code)
    stores = [k for k, entry in enumerate(operations) if entry.offset > at and entry.name == "STORE_FAST"]
    if not stores:
        return _NOTHING
    variable = operations[stores[0]].argument
    uses = [
        k for k, entry in enumerate(operations) if entry.argument == variable and entry.name != "STORE_FAST"
    ]
    if len(uses) != 1 or uses[0] < stores[0] or operations[uses[0]].name != "LOAD_FAST":
        return _NOTHING
    between = operations[stores[0] + 1 : uses[0]]
    if any(entry.name.startswith(("CALL", "FOR", "JUMP", "POP_JUMP")) for entry in between):
        return _NOTHING
    after = operations[uses[0] + 1]
    return after.name, after.argument
