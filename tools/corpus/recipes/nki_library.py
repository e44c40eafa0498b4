"""aws-neuron/nki-library: the tests of its core in simulation mode.

Of each test function run the smallest CASES cases of those that its own switches do not skip as slow. The tests that
exclude Trainium 1 and 2 run as on Trainium 3.
"""

from corpus.case import SURROUNDINGS, Case, Finding

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
    "Tests of the vendor's tracer": Finding(
        r"test_tensor_view.py.*No module named 'nki.compiler.frontend'",
        SURROUNDINGS,
        "The file checks views at compile time and asks the private front end of the vendor's compiler for a trace.",
    ),
}
