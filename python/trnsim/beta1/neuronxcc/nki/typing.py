"""`neuronxcc.nki.typing`: annotations of kernel parameters and tiles; only mutable_tensor has an effect."""


class _Annotation:
    """tensor, or tensor[128, 512] with a shape."""

    def __init__(self, name, shape=None):
        self._name = name
        self._shape = shape

    def __getitem__(self, shape):
        return _Annotation(self._name, shape)

    def __call__(self, *args, **kwargs):
        return self

    def __repr__(self):
        return self._name if self._shape is None else f"{self._name}[{self._shape}]"


tensor = _Annotation("tensor")
mutable_tensor = _Annotation("mutable_tensor")
scalar = _Annotation("scalar")
