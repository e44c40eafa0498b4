"""Reports about what a release of NKI dropped: names, keywords, buffers; each is refused by its name."""

import importlib

import numpy as np
import pytest
import trnsim

CURRENT = ("0.2", "0.3", "0.4", "0.5", "0.6", "0.7")


@pytest.fixture
def release():
    """release("0.3", chip=...): the modules nki, nki.isa and nki.language of that release."""

    def of(name, **install):
        trnsim.install(nki=name, **install)
        return [importlib.import_module(module) for module in ("nki", "nki.isa", "nki.language")]

    yield of
    trnsim.install()


def doubling(nki, nisa, nl, **options):
    def doubled(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
        nisa.dma_copy(dst=out, src=tile)
        return out

    return nki.jit(doubled, **options)


X = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)


@pytest.mark.parametrize("chip", ("trn1", "inf2", "trn2", "trn3"))
@pytest.mark.parametrize("name", CURRENT)
def test_every_release_runs_on_every_generation(release, name, chip):
    np.testing.assert_array_equal(doubling(*release(name, chip=chip))(X), 2 * X)


@pytest.mark.parametrize("name", CURRENT)
def test_the_platform_as_a_keyword_was_dropped(release, name):
    modules = release(name)
    if name == "0.2":
        np.testing.assert_array_equal(doubling(*modules, platform_target="trn1")(X), 2 * X)
        assert trnsim.last_profile().chip == "trainium1"
        return
    with pytest.raises(trnsim.ProgramError, match="NEURON_PLATFORM_TARGET_OVERRIDE") as error:
        doubling(*modules, platform_target="trn1")(X)
    assert error.value.rule == "launch.platform_target"


# What the published attention kernels of Beta 1 call, and later releases lack.
BETA1_CALLS = ("arange", "mgrid", "par_dim")
LOST = [(name, call) for name in CURRENT for call in BETA1_CALLS if (name, call) != ("0.2", "par_dim")]


@pytest.mark.parametrize("name, call", LOST)
def test_a_call_that_only_beta1_has_is_refused_by_name(release, name, call):
    _, _, nl = release(name)
    with pytest.raises((trnsim.Error, AttributeError), match=call):
        getattr(nl, call)


@pytest.mark.parametrize("name, has", [("0.2", False), ("0.3", True), ("0.6", True)])
def test_load_and_store_came_back(release, name, has):
    _, _, nl = release(name)
    assert hasattr(nl, "load") is has
    assert hasattr(nl, "store") is has


@pytest.mark.parametrize("chosen", (False, True), ids=("without a buffer", "with a buffer"))
@pytest.mark.parametrize("name", CURRENT)
def test_zeros_in_every_release(release, name, chosen):
    nki, nisa, nl = release(name)

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.zeros(x.shape, dtype=x.dtype, **({"buffer": nl.sbuf} if chosen else {}))
        nisa.dma_copy(dst=out, src=tile)
        return out

    np.testing.assert_array_equal(kernel(X), np.zeros_like(X))
