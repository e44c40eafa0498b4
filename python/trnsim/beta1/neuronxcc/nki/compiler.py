"""`neuronxcc.nki.compiler`."""

from trnsim.beta1.compiler import (  # noqa: F401
    enable_stack_allocator,
    force_auto_alloc,
    no_reorder,
    psum,
    sbuf,
    skip_middle_end_transformations,
)
