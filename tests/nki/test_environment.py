"""The vendor's environment variables, read when a kernel starts; what the user says goes before them."""

import subprocess
import sys

import numpy as np
import pytest
import trnsim
from oracle import sample

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl

TARGETS = {"trn1": 2, "inf2": 2, "gen2": 2, "trn2": 3, "gen3": 3, "trn3": 4, "gen4": 4}


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    for name in ("NEURON_PLATFORM_TARGET_OVERRIDE", "NEURON_RT_STOCHASTIC_ROUNDING_EN", "NKI_PRECISE_FP",
                 "NEURON_RT_STOCHASTIC_ROUNDING_SEED", "NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE"):
        monkeypatch.delenv(name, raising=False)
    trnsim.install()
    yield
    trnsim.install()


def generation(**options):
    seen = []

    @nki.jit(**options)
    def kernel(x):
        seen.append(int(nisa.get_nc_version()))
        out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nisa.dma_copy(out, x)
        return out

    kernel(sample((4, 4)))
    return seen[0]


@pytest.mark.parametrize("target", TARGETS)
def test_the_platform_target_is_the_chip(monkeypatch, target):
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", target)
    assert generation() == TARGETS[target]
    assert generation(platform_target="trn1") == TARGETS[target]
    trnsim.install(chip="trn3")
    assert generation() == 4


@pytest.mark.parametrize("target", TARGETS)
def test_the_decorator_names_a_target(target):
    assert generation(platform_target=target) == TARGETS[target]
    assert generation() == 3
    trnsim.install(chip="trn1")
    assert generation(platform_target=target) == 2


def test_beta_1_names_a_target():
    import neuronxcc.nki as nki1
    import neuronxcc.nki.isa as nisa1
    import neuronxcc.nki.language as nl1

    seen = []

    @nki1.jit(platform_target="trn1")
    def kernel(x):
        seen.append(int(nisa1.get_nc_version()))
        out = nl1.ndarray(x.shape, dtype=x.dtype, buffer=nl1.shared_hbm)
        nl1.store(out, nl1.load(x))
        return out

    kernel(sample((4, 4)))
    assert seen == [2]
    trnsim.install(chip="trn3")
    kernel(sample((4, 4)))
    assert seen == [2, 4]


def test_an_unknown_target_is_refused(monkeypatch):
    with pytest.raises(trnsim.ConfigError, match="platform_target=. is 'trn9'; it must be one of trn1, inf2"):
        generation(platform_target="trn9")
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn9")
    with pytest.raises(trnsim.ConfigError, match="NEURON_PLATFORM_TARGET_OVERRIDE is 'trn9'"):
        generation()


def rounded():
    x = np.full((64, 64), np.float32(1 + 2**-10))

    @nki.jit
    def kernel(x):
        tile, narrow = nl.load(x), nl.ndarray(x.shape, nl.bfloat16, nl.sbuf)
        nisa.tensor_scalar(narrow, tile, nl.multiply, 1.0)
        out = nl.ndarray(x.shape, nl.bfloat16, nl.shared_hbm)
        nisa.dma_copy(out, narrow)
        return out

    return np.asarray(kernel(x)).astype(np.float32)


def test_stochastic_rounding(monkeypatch):
    assert (rounded() == 1).all()
    monkeypatch.setenv("NEURON_RT_STOCHASTIC_ROUNDING_EN", "1")
    up = rounded() > 1
    assert 0.05 < up.mean() < 0.25  # an eighth of the way to the next bfloat16
    monkeypatch.setenv("NEURON_RT_STOCHASTIC_ROUNDING_SEED", "7")
    seeded = rounded()
    assert (seeded > 1).tolist() != up.tolist() and (rounded() == seeded).all()
    trnsim.install(seed=7, stochastic_rounding=True)
    assert (rounded() == seeded).all()
    trnsim.install(stochastic_rounding=False)
    assert (rounded() == 1).all()
    trnsim.install()
    for value, error in (("yes", "must be 1, 0, true or false"), ("", "must be 1, 0")):
        monkeypatch.setenv("NEURON_RT_STOCHASTIC_ROUNDING_EN", value)
        with pytest.raises(trnsim.ConfigError, match=error):
            rounded()
    monkeypatch.setenv("NEURON_RT_STOCHASTIC_ROUNDING_EN", "true")
    monkeypatch.setenv("NEURON_RT_STOCHASTIC_ROUNDING_SEED", "-1")
    with pytest.raises(trnsim.ConfigError, match="STOCHASTIC_ROUNDING_SEED is '-1'; it must be an integer from 0 on"):
        rounded()


def test_imprecise_floats_are_refused(monkeypatch):
    monkeypatch.setenv("NKI_PRECISE_FP", "1")
    rounded()
    monkeypatch.setenv("NKI_PRECISE_FP", "0")
    with pytest.raises(trnsim.Unsupported, match="NKI_PRECISE_FP=0, .*because tiles keep their true bytes"):
        rounded()


@pytest.mark.parametrize("chip, banks", [("trn1", 8), ("trn2", 7), ("trn3", 7)])
def test_transposes_on_the_tensor_engine_keep_a_bank(monkeypatch, chip, banks):
    trnsim.install(chip=chip)
    assert nl.tile_size.psum_num_banks == 8
    monkeypatch.setenv("NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE", "true")
    assert nl.tile_size.psum_num_banks == banks


SCRIPT = """
import os
import sys
if len(sys.argv) > 1:
    os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = sys.argv[1]
import nki.isa as nisa, nki.language as nl, nki, numpy as np

@nki.jit
def kernel(x):
    print("generation", int(nisa.get_nc_version()))
    out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
    nisa.dma_copy(out, x)
    return out

kernel(np.ones((4, 4), np.float32))
"""


@pytest.mark.parametrize("options, arguments, expected", [
    ([], [], 3), ([], ["trn1"], 2), ([], ["trn3"], 4), (["--chip", "trn2"], ["trn3"], 3),
])
def test_scripts_may_set_it_themselves(tmp_path, options, arguments, expected):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, "-m", "trnsim", "run", *options, str(script), *arguments],
                          capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)})
    assert f"generation {expected}" in done.stdout, done.stderr
