"""What a tile's elements lie in: a tensor of the launch, possibly pushed out of PSUM."""

import weakref

import numpy as np

from trnsim import _native
from trnsim.beta1 import run
from trnsim.lowering.tiles import refuse

isa = _native.isa


class Storage:
    """A tensor of the launch and what the dialect must remember about it.

    read_only: an input of the kernel. zero: declared zero, but no instruction has written the zeros yet,
    because the first matmul of an accumulation may overwrite them for nothing. groups: views that matmuls
    have been accumulating in.
    """

    __slots__ = (
        "_tensor",
        "space",
        "shape",
        "dtype",
        "name",
        "read_only",
        "zero",
        "groups",
        "epoch",
        "_evictable",
        "_parked",
        "__weakref__",
    )

    def __init__(self, tensor, evictable=False, read_only=False, zero=False):
        self._tensor = tensor
        self.space = tensor.space
        self.shape = tensor.shape
        self.dtype = tensor.dtype
        self.name = tensor.name
        self.read_only = read_only
        self.zero = zero
        self.groups = set()
        self.epoch = 0
        self._evictable = evictable
        self._parked = None  # bytes of a tile that was pushed out

    @staticmethod
    def new(space, shape, dtype, name, zero=False) -> "Storage":
        """A tensor placed by the simulator."""
        launch = run.current().launch
        storage = Storage(launch.tensor(space, shape, dtype, name), evictable=space == "PSUM", zero=zero)
        storage.touch()
        return storage

    @property
    def complete(self) -> bool:
        return self._tensor is not None and not self.zero and self._tensor.written

    @property
    def parked(self) -> bool:
        return self._tensor is None

    def touch(self):
        if self._evictable:
            run.current().used(self)

    def tensor(self):
        """The whole tensor, with its values."""
        if self._tensor is None:
            self._bring_back()
        self.touch()
        if self.zero:
            self.zero = False
            isa.memset(self._tensor, 0)
        return self._tensor

    def peek(self):
        """The whole tensor, to look at its form only."""
        if self._tensor is None:
            self._bring_back()
        return self._tensor

    def target(self, whole: bool):
        """The tensor, for an instruction that writes all of it (`whole`) or a part."""
        if self.read_only:
            refuse(
                "tensor.immutable",
                f"'{self.name}' is an input of the kernel and cannot be written. Create the output with "
                "nl.ndarray(..., buffer=nl.shared_hbm) and return it, or annotate the parameter with "
                "nt.mutable_tensor and return it.",
            )
        run.current().wrote = True
        if self._tensor is None and whole:
            self._parked = None
            self._tensor = run.current().launch.tensor(self.space, self.shape, self.dtype, self.name)
        if whole:
            self.zero = False
        return self.tensor()

    def leave_out(self):
        """Note that a mask left out all that an instruction was to write: its bytes are nobody's, but no mistake."""
        self.peek().leave_out()

    def park(self):
        """Give up the place on the chip; the values are kept aside."""
        tensor, self._tensor = self._tensor, None
        self._parked = b""
        if run.current().launch.values:
            self._parked = np.empty(tensor.size * tensor.itemsize, np.uint8)
            tensor.read_into(self._parked)
        self.groups.clear()
        run.current().forget(self)

    def _bring_back(self):
        """Into SBUF, at the cost of a spill's DMA traffic, to HBM and from there."""
        launch = run.current().launch
        tensor = launch.tensor("SBUF", self.shape, self.dtype, self.name)
        if launch.values:
            tensor.write_from(self._parked)
        else:
            tensor.mark_written()
        spill = launch.tensor("HBM", self.shape, self.dtype, self.name + ".spill")
        self._tensor, self._parked, self.space, self._evictable = tensor, None, "SBUF", False
        if not self.zero:
            isa.dma_copy(spill, tensor)
            isa.dma_copy(tensor, spill)


class Broadcast(Storage):
    """A row on all partitions, as the Tensor Engine left it in PSUM; in SBUF only once something needs it there."""

    __slots__ = ("_product",)

    def __init__(self, product):
        super().__init__(product)
        self.space = "SBUF"
        self._tensor = None
        self._product = _Product(product, self)
        self._product.touch()

    def where_it_lies(self):
        """The whole tensor, in PSUM if it is still there alone."""
        return self.tensor() if self._product is None else self._product.tensor()

    def target(self, whole: bool):
        if not whole:
            self.tensor()
        self._product = None
        return super().target(whole)

    def _bring_back(self):
        if self._product is None:
            super()._bring_back()
            return
        self._tensor = run.current().launch.tensor("SBUF", self.shape, self.dtype, self.name)
        isa.tensor_copy(self._tensor, self._product.tensor())
        self._product = None


class _Product(Storage):
    """The tile in PSUM of a Broadcast, which moves to SBUF when others need the place."""

    __slots__ = ("_owner",)

    def __init__(self, tensor, owner):
        super().__init__(tensor, evictable=True)
        self._owner = weakref.ref(owner)

    def park(self):
        owner = self._owner()
        if owner is not None:
            owner.tensor()
        self._tensor = None
        run.current().forget(self)
