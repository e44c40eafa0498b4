"""nki.typing: annotations of kernel parameters. They document; nothing is checked."""

from trnsim import _native


class _Annotation(type):
    def __getitem__(cls, shape):
        return cls


class tensor(metaclass=_Annotation):
    """`x: nt.tensor[128, 512]`: a tensor of that shape."""


class mutable_tensor(tensor):
    """A tensor that the kernel writes to."""


NkiTensor = _native.Tensor
