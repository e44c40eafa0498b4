"""aws-neuron/aws-neuron-sdk: the documentation's unit tests, one instruction or idiom each."""

from corpus.case import ILLEGAL, INTENDED, KERNEL, Case, Finding

REPOSITORIES = ("aws-neuron-sdk",)
NKI = "0.3"

UNITTEST = ("-o", "python_functions=none")  # kernels whose names begin with test_ are not tests
NOTES = {
    "test_nki_isa_dropout.py": "The test draws probabilities up to 100 and sets no seed: in one run of four none is "
    "below 1, everything is dropped, and it fails. Here numpy's seed is 0.",
}


def cases(checkout):
    for path in sorted((checkout / "nki/test").glob("test_*.py")):
        yield Case(f"nki/test/{path.name}", "tests", UNITTEST, note=NOTES.get(path.name, ""))
    for path in sorted((checkout / "nki/examples").rglob("*.py")):
        text = path.read_text()
        if "__main__" in text or not path.stem.endswith("_kernels"):
            says = " match" if "match" in text else ""
            file = path.relative_to(checkout).as_posix()
            yield Case(file, "script", says=says, denies=" differ" if says else "", seconds=900)
    yield Case("nki/deep-dives/src/mxfp-matmul/mx_toplevel.py", "script", says="allclose pass? True",
               denies="pass? False", options={"chip": "trn3"})


FINDINGS = {
    "A layout that the page shows as wrong": Finding(
        r"layout-violation.py.*has 256 partitions; SBUF has 128",
        INTENDED,
        "The page shows it as what not to write: a tile of 256 partitions.",
    ),
    "A file that is no Python": Finding(
        r"layout-dynamic-loop.py.*SyntaxError", KERNEL, "A parenthesis is missing in its last call."
    ),
    "A test that expects bf16 to hold fp32": Finding(
        r"test_nki_isa_activation.py .*AssertionError.*b_act_golden",
        KERNEL,
        "The kernel asks for `dtype=nl.bfloat16`, and the test compares with the unrounded fp32 values to 1 in "
        "100,000. Rounding to bf16 alone moves them by up to 1 in 256. The simulator's result is, bit for bit, "
        "numpy's value rounded to bf16. The first half of the test, the exponential in fp32, passes.",
    ),
    "A test that expects another simulator's exception": Finding(
        r"test_nki_isa_dma_copy.py .*dma_copy: index\[43\] is 129, but \w+ has rows 0 to",
        INTENDED,
        "Row 129 of 128 with `oob_mode.error` is refused, as it should be. But the test wants exactly an `IndexError` "
        "with the text that numpy gives for the flattened array. That is presumably how the vendor's simulator fails; "
        "ours says which index and which row. The tests of `oob_mode.skip` pass.",
    ),
    "A mask joined by `and`, and a tile stored that was half written": Finding(
        r"test_nki_isa_nc_match_replace8.py .*ProgramError: a mask has no single truth value",
        ILLEGAL,
        "The documentation of that release: \"We do not support using `and` for masks\" (its known issues). Python's "
        "`and` does not join two masks: it takes the truth of the first and returns the second. The simulator "
        "refuses and says to write `&`. With `&` in a copy of the file, the kernel goes on to its `nl.store` and is "
        "refused there: it stores the whole tile, of which the masked instruction wrote only a corner.",
    ),
}
