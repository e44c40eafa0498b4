"""trnsci/trnfft and trnsci/trnsolver: their tests of the kernels, which a variable sends to the simulator."""

from corpus.case import Case

REPOSITORIES = ("trnfft", "trnsolver")
NKI = "0.3"


def cases(checkout):
    switch = {f"{checkout.name.upper()}_USE_SIMULATOR": "1", f"{checkout.name.upper()}_REQUIRE_NKI": "1"}
    yield Case("tests/test_nki_sim.py", "tests", environment=switch, paths=(".",))
