"""aws-neuron/nki-library: the tests of its core in simulation mode, a few cases of each test function."""

from corpus.case import Case

REPOSITORIES = ("nki-library",)
NKI = "0.3"

CASES = "3"  # of each test function
OPTIONS = ("-p", "corpus.nki_library_harness", "--test-mode=simulation", "--output-directory=output",
           "--force-local-cleanup")


def cases(checkout):
    core = checkout / "test/integration/nkilib/core"
    config = ("-c", str(checkout / "test/pytest.ini"))
    for path in sorted(core.rglob("test_*.py")):
        text = path.read_text()
        if "def test_" in text and "simulat" not in path.stem:
            yield Case(path.relative_to(checkout).as_posix(), "tests", (*config, *OPTIONS),
                       environment={"CORPUS_CASES": CASES, "NKI_NC_VERSION": "gen3"},
                       paths=(".", "src", "src/nkilib_src"), seconds=1800)
