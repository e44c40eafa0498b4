"""`torch_xla.utils.checkpoint`: activation checkpointing is PyTorch's own."""

from torch.utils.checkpoint import checkpoint  # noqa: F401
