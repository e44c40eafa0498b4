"""What release 0.7 brought and took away: scalars, loops, configurations, prepared collectives."""

import importlib
import warnings

import numpy as np
import pytest
import trnsim
from oracle import same, sample

trnsim.install()

import nki
import nki.collectives as ncc
import nki.isa as nisa
import nki.language as nl
import nki.compiler as compiler

X = sample((4, 16, 8))


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.delenv("NKI_COMPILER_FRONTEND", raising=False)
    monkeypatch.delenv("NEURON_LOGICAL_NC_CONFIG", raising=False)
    trnsim.install()
    yield
    trnsim.install()


def number(value, dtype=nl.int32):
    tile = nl.ndarray((1, 1), dtype, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=value)
    return tile


def stored(scalar):
    tile = nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf)
    nisa.scalar_store(tile, scalar)
    out = nl.ndarray((1, 1), nl.int32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


def computed(run, function, *values):
    """What a function of scalars gives, as it comes back from the device."""
    return int(run(lambda _: stored(function(*(nisa.scalar_load(number(v)) for v in values))), X)[0, 0])


LARGEST = 2**31 - 1


@pytest.mark.parametrize(
    "function, values, expected",
    [
        (lambda i: i * 4 + 1, (5,), 21),
        (lambda i: 4 * i, (5,), 20),
        (lambda i: 1 + i, (5,), 6),
        (lambda i: 10 - i, (12,), -2),
        (lambda i: i - 10, (12,), 2),
        (lambda i: -i, (12,), -12),
        (lambda i: +i, (12,), 12),
        (lambda i: -i, (-(2**31),), -(2**31)),
        (lambda i, j: i * j, (100000, 100000), 1410065408),  # as documented
        (lambda i: i + 1, (LARGEST,), -(2**31)),  # as documented
        (lambda i, j: i - j, (-(2**31), 1), LARGEST),
        (lambda i, j: i + j, (LARGEST, LARGEST), -2),
    ],
)
def test_scalars_compute_and_wrap(run, function, values, expected):
    assert computed(run, function, *values) == expected


def test_a_scalar_is_an_address_and_a_bound(run):
    def kernel(x, index):
        out = nl.ndarray((16, 8), x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=index)
        i = nisa.scalar_load(tile)
        assert i.dtype == nl.int32 and isinstance(i, nisa.NkiScalar)
        nisa.dma_copy(dst=out, src=x.ap([[8, 16], [1, 8]], scalar_offset=i + 1))
        kinds = []
        nl.fori_loop(0, i * 2, lambda k: (kinds.append(type(k)), nisa.dma_copy(dst=out[k], src=x[0, k + 1])))
        assert kinds == [nisa.NkiScalar] * 4
        return out

    expected = X[3].copy()
    expected[:4] = X[0, 1:5]
    same(run(kernel, X, np.array([[2]], np.int32)), expected)


def scalar_program(body):
    def kernel(x):
        body(nisa.scalar_load(number(3)))
        return x

    return kernel


def branch(i):
    if i:
        pass


@pytest.mark.parametrize(
    "rule, body",
    [
        ("loop.index_in_python", lambda i: i == 3),
        ("loop.index_in_python", lambda i: i < 3),
        ("loop.index_in_python", branch),
        ("scalar.operand", lambda i: i + 1.5),
        ("scalar.operand", lambda i: nisa.register_alloc(2) * i),
        ("scalar.operand", lambda i: nisa.scalar_store(number(0), 3)),
        ("scalar.operand", lambda i: nisa.scalar_store(number(0), nisa.register_alloc(2))),
        ("scalar.tensor", lambda i: nisa.scalar_store(number(0, nl.int16), i)),
        ("scalar.tensor", lambda i: nisa.scalar_load(number(0, nl.uint32))),
        ("scalar.tensor", lambda i: nisa.scalar_load(3)),
        ("register_move.read_only", lambda i: nisa.register_move(i, 3)),
    ],
)
def test_what_a_scalar_does_not_do(run, rule, body):
    with pytest.raises(trnsim.ProgramError) as caught:
        run(scalar_program(body), X)
    assert caught.value.rule == rule


def test_a_scalar_needs_values(run):
    trnsim.install(timing_only=True)
    with pytest.raises(trnsim.Unsupported, match="register_load"):
        nki.jit(scalar_program(lambda i: i))(X)


def test_the_older_frontend_has_no_scalars(run, monkeypatch):
    monkeypatch.setenv("NKI_COMPILER_FRONTEND", "custom")
    with pytest.raises(trnsim.ProgramError) as caught:
        run(scalar_program(lambda i: i), X)
    assert caught.value.rule == "scalar.frontend"


def launched(release, body):
    trnsim.install(nki=release)
    module = importlib.import_module("nki")

    def kernel(x):
        body(importlib.import_module("nki.isa"), importlib.import_module("nki.language"))
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return module.jit(kernel)(X)


def dynamic_range(nisa, nl):
    for _ in nl.dynamic_range(2):
        pass


def register_decides(nisa, nl):
    register = nisa.register_alloc(1)
    while register:
        nisa.register_move(register, 0)


@pytest.mark.parametrize(
    "body, rule", [(dynamic_range, "loop.dynamic_range"), (register_decides, "loop.register_in_python")]
)
def test_older_loops_are_gone(body, rule, monkeypatch):
    launched("0.6", body)
    launched("auto", body)
    with pytest.raises(trnsim.ProgramError, match="since 0.7") as caught:
        launched("0.7", body)
    assert caught.value.rule == rule
    monkeypatch.setenv("NKI_COMPILER_FRONTEND", "custom")
    launched("0.7", body)
    monkeypatch.setenv("NKI_COMPILER_FRONTEND", "other")
    with pytest.raises(trnsim.ConfigError, match="NKI_COMPILER_FRONTEND is 'other'"):
        launched("0.7", body)


def test_a_while_loop_still_runs():
    rounds = []

    def body(nisa, nl):
        def once(register):
            rounds.append(int(register))
            nisa.register_move(register, 0)
            return register

        nl.while_loop(nisa.register_alloc(3), once)

    launched("0.7", body)
    assert rounds == [3]


def test_the_launch_degree_is_that_of_the_logical_core(monkeypatch):
    monkeypatch.setenv("NEURON_LOGICAL_NC_CONFIG", "2")
    with pytest.warns(UserWarning, match="launch degree"):
        launched("0.6", lambda *_: None)
    with pytest.raises(trnsim.ProgramError, match="must be equal since 0.7") as caught:
        launched("0.7", lambda *_: None)
    assert caught.value.rule == "launch.lnc"


@pytest.mark.parametrize("name", ("affine_range", "sequential_range", "static_range"))
def test_ranges_are_announced_to_go(name):
    trnsim.install(nki="0.7")
    with pytest.warns(DeprecationWarning, match=f"{name} is deprecated since release 0.7: use range"):
        assert list(getattr(importlib.import_module("nki.language"), name)(2)) == [0, 1]


def test_configurations_of_a_kernel():
    config = compiler.CompileConfig(address_rotation=compiler.AddressRotation.DISABLE, barrier_check=True)
    kernel = nki.jit(lambda x: x, compile_config=config, specialization_config=compiler.SpecializationConfig())
    same(kernel(X), X)
    with pytest.raises(trnsim.ProgramError, match="compile_config must be a nki.compiler.CompileConfig") as caught:
        nki.jit(compile_config={"barrier_check": True})
    assert caught.value.rule == "launch.config"


@pytest.mark.parametrize("name", ("all_gather_v", "all_to_all_v"))
def test_prepared_collectives_follow_the_rules_of_the_whole(run, name):
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        prepare = {"all_gather_v": ncc.all_gather_v_prepare, "all_to_all_v": ncc.all_to_all_v_prepare}[name]
        prepare([x], [out], ncc.ReplicaGroup([[0]]), x)

    with pytest.raises(trnsim.ProgramError) as caught:
        run(kernel, X)
    assert caught.value.rule == "collectives.group"
    trigger = {"all_gather_v": ncc.all_gather_v_trigger, "all_to_all_v": ncc.all_to_all_v_trigger}[name]
    with pytest.raises(trnsim.ProgramError, match=f"what {name}_prepare returned"):
        trigger(None)


@pytest.mark.parametrize("refused", (nl.tiles, nl.blocks, nl.alloc_tiles, nl.alloc_blocks, nl.int64,
                                     nl.NkiGrid, nl.NkiTileGrid, nl.NkiBlockGrid))
def test_what_is_not_simulated_says_so(refused):
    with pytest.raises(trnsim.Unsupported, match="because"):
        refused()
