"""CS521's second assignment (University of Illinois): a convolution, with the course's harness."""

import importlib

from corpus.case import Case

REPOSITORIES = ("cs521",)


def cases(checkout):
    for use_bias in (False, True):
        name = "smaller images, bias" if use_bias else "smaller images"
        yield Case("npu/test_harness.py", "harness", (use_bias,), name=name, seconds=1200)


def harness(path, use_bias):
    """The harness's own correctness test, with simulate_kernel in the kernel's place as its --simulate does."""
    module = importlib.import_module(path.stem)
    kernel = module.simulate_kernel_wrapper(module.conv2d)
    assert module.test_correctness_conv2d_kernel(kernel, use_bias=use_bias), "the outputs differ"
    return "by its own check"
