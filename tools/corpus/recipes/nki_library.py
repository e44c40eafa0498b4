"""aws-neuron/nki-library: the tests of its core in simulation mode.

Of each test function run the smallest CASES cases of those that its own switches do not skip as slow. The tests that
exclude Trainium 1 and 2 run as on Trainium 3.
"""

from corpus.case import KERNEL, SIMULATOR, Case, Finding

REPOSITORIES = ("nki-library",)
NKI = "0.3"
# All of their tests exclude Trainium 1 and 2.
NEWER = ("test_rmsnorm_mx_quantize_tkg", "test_mlp_proj_mxfp4", "test_moe_bwmm_mx_cte", "test_quantize_to_mx")

CASES = "1"  # of each test function
SECONDS = 60  # of processor time for each case
OPTIONS = ("-p", "corpus.nki_library_harness", "--test-mode=simulation", "--output-directory=output",
           "--force-local-cleanup")


def cases(checkout):
    core = checkout / "test/integration/nkilib/core"
    config = ("-c", str(checkout / "test/pytest.ini"))
    for path in sorted(core.rglob("test_*.py")):
        text = path.read_text()
        if "def test_" in text and "simulat" not in path.stem:
            newer = path.stem in NEWER
            target = ("--platform-target=trn3",) if newer else ()
            yield Case(path.relative_to(checkout).as_posix(), "tests", (*config, *OPTIONS, *target),
                       environment={"CORPUS_CASES": CASES, "CORPUS_SECONDS": str(SECONDS),
                                    "NKI_NC_VERSION": "gen4" if newer else "gen3"},
                       paths=(".", "src", "src/nkilib_src"), seconds=3 * SECONDS * (2 + text.count("def test_")),
                       note=f"the smallest case of each test function{', on trn3' * newer}")


FINDINGS = {
    "Scales returned with the rows between them": Finding(
        r"test_(rmsnorm_mx_quantize_tkg|quantize_to_mx).py.*which was never written",
        KERNEL,
        "`quantize_mx` stores 4 rows of scales in each 32 partitions. The tests copy the whole scale tile to the "
        "result, or make a result of which they write those rows only, so 28 of 32 rows are whatever lay in the "
        "memory. One test compares only the rows of scales, the other wants zeros between them, which no document "
        "promises. The simulator refuses to hand back bytes that nothing wrote.",
    ),
    "A last block whose flag is never written": Finding(
        r"SHARD_ON_BLOCK.*src reads HBM tensor .* which was never written",
        KERNEL,
        "With an odd number of blocks, core 0 compares one block fewer than it has, reads the flag of the last one all "
        "the same, and lets it decide whether weights are loaded.",
    ),
    "Cases that take too long here": Finding(
        r"stopped after \d+ s",
        SIMULATOR,
        f"The smallest case of the test takes more than {SECONDS} s of processor time, its inputs and its reference "
        "included. No instruction was refused until then. The 21 tests of test_attention_cte.py, whose sizes are "
        "larger still, have not been run to their end, so they are not counted above.",
    ),
}
