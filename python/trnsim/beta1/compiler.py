"""neuronxcc.nki.compiler: tiles at addresses that the kernel chooses, and directives to the vendor's
compiler."""

import inspect
import operator

from trnsim.beta1 import run, traced
from trnsim.beta1.tensors import Placement
from trnsim.lowering.tiles import refuse
from trnsim.nki.language import buffers
from trnsim.refusal import refused


def _linear(index, sizes) -> int:
    """Position of index modulo sizes, row-major; without sizes all blocks share one place."""
    sizes = tuple(sizes) if sizes else (1,) * len(index)
    position = 0
    for i, size in zip(index, sizes):
        position = position * size + i % size
    return position


class _Sbuf:
    """nki.compiler.sbuf: placements in SBUF."""

    @staticmethod
    def auto_alloc():
        """nl.sbuf: let the simulator place the tensor."""
        return buffers.sbuf

    @staticmethod
    def alloc(func) -> Placement:
        """func(index, partitions, bytes) -> (start partition, byte) for each block's tile."""

        def place(index, partitions, size):
            return _integers("sbuf.alloc", _asked(func, index, partitions, size), 2)

        return Placement("SBUF", place)

    @staticmethod
    def mod_alloc(*, base_addr, base_partition=0, num_par_tiles=(), num_free_tiles=()) -> Placement:
        """Blocks go round through num_par_tiles x num_free_tiles places from base_partition and base_addr
        (bytes) on."""
        base_addr, base_partition = traced.fixed("sbuf.mod_alloc", (base_addr, base_partition))

        def place(index, partitions, size):
            return (
                base_partition + _linear(index, num_par_tiles) * partitions,
                base_addr + _linear(index, num_free_tiles) * size,
            )

        return Placement("SBUF", place)


class _Psum:
    """nki.compiler.psum: placements in PSUM, by bank."""

    @staticmethod
    def auto_alloc():
        """nl.psum: let the simulator place the tensor."""
        return buffers.psum

    @staticmethod
    def alloc(func) -> Placement:
        """func(index, partitions, bytes) -> (bank, start partition, byte in the bank) for each block's
        tile."""

        def place(index, partitions, size):
            return _bank_address(*_integers("psum.alloc", _asked(func, index, partitions, size), 3), size)

        return Placement("PSUM", place)

    @staticmethod
    def mod_alloc(
        *, base_bank=0, base_addr=0, base_partition=0, num_bank_tiles=(), num_par_tiles=(), num_free_tiles=()
    ) -> Placement:
        """Blocks go round through num_bank_tiles banks from base_bank on."""
        base = traced.fixed("psum.mod_alloc", (base_bank, base_addr, base_partition))
        base_bank, base_addr, base_partition = base

        def place(index, partitions, size):
            return _bank_address(
                base_bank + _linear(index, num_bank_tiles),
                base_partition + _linear(index, num_par_tiles) * partitions,
                base_addr + _linear(index, num_free_tiles) * size,
                size,
            )

        return Placement("PSUM", place)


def _asked(func, index, partitions, size):
    """What an allocation function says; one whose first parameters are bound already is called by the names of the
    others (functools.partial over a keyword)."""
    try:
        inspect.signature(func).bind(index, partitions, size)
    except TypeError:
        return func(idx=index, pdim_size=partitions, fdim_size=size)
    return func(index, partitions, size)


def _integers(name, values, count):
    try:
        result = tuple(operator.index(value) for value in values)
    except TypeError:
        result = ()
    if len(result) != count:
        refuse("compiler.alloc", f"{name}: the function must return {count} integers, got {values!r}")
    return result


def _bank_address(bank, partition, byte, size):
    """(partition, byte) of a PSUM tile. Tiles start a bank and fit into it, as the compiler demands."""
    launch = run.current().launch
    banks = launch.psum_bytes // launch.psum_bank_bytes
    if not 0 <= bank < banks:
        refuse("compiler.psum", f"PSUM bank {bank} does not exist; banks are 0 to {banks - 1}")
    if partition or byte:
        refuse(
            "compiler.psum",
            f"a PSUM tile starts at partition 0 and byte 0 of its bank, not at {partition} and {byte}",
        )
    if size > launch.psum_bank_bytes:
        refuse(
            "compiler.psum",
            f"a PSUM tile of {size} bytes per partition exceeds a bank of {launch.psum_bank_bytes}",
        )
    return partition, bank * launch.psum_bank_bytes


sbuf = _Sbuf()
psum = _Psum()


def _unchanged(function=None, **_):
    return function if function is not None else _unchanged


# Decorators for the vendor's compiler, which the simulator has no use for.
skip_middle_end_transformations = enable_stack_allocator = force_auto_alloc = _unchanged


class _Directive:
    def __repr__(self):
        return "no_reorder"


def no_reorder(*_, **__) -> _Directive:
    """A loop directive: keep instructions in program order, as the simulator does anyway."""
    return _Directive()


allocation_scope = refused("nki.compiler.allocation_scope", "no public document says what a scope does")
multi_buffer = refused("nki.compiler.multi_buffer", "no public document says what the directive does")
