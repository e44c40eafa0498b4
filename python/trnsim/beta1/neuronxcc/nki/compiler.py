"""`neuronxcc.nki.compiler`."""

from trnsim.beta1.compiler import (  # noqa: F401
    allocation_scope,
    enable_stack_allocator,
    force_auto_alloc,
    multi_buffer,
    no_reorder,
    psum,
    sbuf,
    skip_middle_end_transformations,
)
