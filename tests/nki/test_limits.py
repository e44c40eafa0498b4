"""nl.tile_size says what the catalogue says of the chip, inside kernels and out, in both dialects."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
import trnsim

CORES = Path(__file__).resolve().parents[2] / "hardware" / "cores"
CHIPS = {"trn1": "neuroncore_v2", "inf2": "neuroncore_v2", "trn2": "neuroncore_v3", "trn3": "neuroncore_v4"}
KIB = {"B": 1, "KiB": 1024, "count": 1}


def expected(chip):
    """From the TOML files themselves, by the definitions of the vendor's documentation."""
    core = tomllib.loads((CORES / f"{CHIPS[chip]}.toml").read_text())

    def figure(path):
        group, name = path.split(".")
        return core[group][name]["value"] * KIB[core[group][name]["unit"]]

    bank, sbuf = figure("psum.bank_bytes"), figure("sbuf.usable_bytes_per_partition")
    return {
        "pmax": 128,
        "psum_fmax": bank // 4,
        "psum_bank_fmax": bank // 4,
        "psum_bank_fmax_bytes": bank,
        "psum_num_banks": figure("psum.banks"),
        "gemm_stationary_fmax": 128,
        "gemm_moving_fmax": 512,
        "bn_stats_fmax": 512,
        "psum_min_align": figure("psum.min_align"),
        "sbuf_min_align": figure("sbuf.min_align"),
        "sbuf_fmax_bytes": sbuf,
        "total_available_sbuf_size": sbuf,
        "sbuf_fmax": sbuf // 4,
        "sbuf_size_bytes": sbuf * 128,
    }


@pytest.fixture(autouse=True)
def installed():
    yield
    trnsim.install()


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dialect", ["nki", "neuronxcc.nki"])
def test_tile_size_is_that_of_the_chip(chip, dialect):
    trnsim.install(chip=chip)
    if dialect == "nki":
        import nki
        import nki.language as nl
    else:
        import neuronxcc.nki as nki
        import neuronxcc.nki.language as nl
    names = expected(chip)
    assert {name: getattr(nl.tile_size, name) for name in names} == names
    seen = {}

    @nki.jit
    def kernel(x):
        seen.update({name: getattr(nl.tile_size, name) for name in names})
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x))
        return out

    kernel(np.ones((4, 4), np.float32))
    assert seen == names


def test_an_unknown_figure_is_an_error():
    from trnsim import limits

    with pytest.raises(trnsim.ConfigError, match="no number 'psum.colour' in its core"):
        limits.number("psum.colour")
