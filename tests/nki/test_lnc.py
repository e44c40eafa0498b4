"""Launches on the two cores of a logical core: who runs when, what they share, and what is noticed."""

import signal
import subprocess
import sys
import textwrap
import threading
import traceback

import numpy as np
import pytest
import trnsim

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl

X = np.arange(4 * 64 * 32, dtype=np.float32).reshape(4, 64, 32)


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.delenv("NEURON_LOGICAL_NC_CONFIG", raising=False)
    trnsim.install()
    yield
    trnsim.install()


def load(x):
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def shared(shape=(4, 64, 32), name=""):
    return nl.ndarray(shape, nl.float32, buffer=nl.shared_hbm, name=name)


@nki.jit
def incremented(x):
    """Each program adds its number plus one to its part."""
    out = shared(x.shape)
    rows = x.shape[0] // nl.num_programs()
    for i in range(rows):
        at = nl.program_id(0) * rows + i
        tile = load(x[at])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=float(at))
        nisa.dma_copy(dst=out[at], src=tile)
    return out


EXPECTED = X + np.arange(4, dtype=np.float32)[:, None, None]


def test_two_cores_are_faster_than_one_and_give_the_same_values():
    latencies = []
    for cores in (1, 2):
        np.testing.assert_array_equal(incremented[cores](X), EXPECTED)
        profile = trnsim.last_profile()
        assert profile.cores == cores and {i["core"] for i in profile.instructions} == set(range(cores))
        latencies.append(profile.latency_us)
    np.testing.assert_array_equal(incremented(X), EXPECTED)
    assert trnsim.last_profile().latency_us == latencies[0]
    assert latencies[1] < latencies[0]


@pytest.mark.parametrize("chip, grid, cores", [("trn1", 2, 1), ("trn2", 4, 1), ("trn2", (2, 1), 1), ("trn3", 2, 2)])
def test_grids_that_do_not_fit_a_logical_core_take_turns(chip, grid, cores):
    trnsim.install(chip=chip)
    np.testing.assert_array_equal(incremented[grid](X), EXPECTED)
    assert trnsim.last_profile().cores == cores


def test_a_program_is_traced_once_per_core(capsys):
    @nki.jit
    def kernel(x):
        print("program", nl.program_id(0), "of", nl.num_programs(), nl.program_ndim())
        out = shared()
        if nl.program_id(0) == 0:
            nisa.dma_copy(dst=out, src=x)
        return out

    kernel[2](X)
    assert capsys.readouterr().out == "program 0 of 2 1\nprogram 1 of 2 1\n"


def test_cores_take_turns_in_a_fixed_order():
    seen = []

    @nki.jit
    def kernel(x):
        out = shared()
        for step in range(3):
            seen.append((step, nl.program_id(0)))
            nisa.core_barrier(out, (0, 1))
        nisa.dma_copy(dst=out[nl.program_id(0) * 2 : nl.program_id(0) * 2 + 2], src=x[0:2])
        return out

    kernel[2](X)
    assert seen == [(step, core) for step in range(3) for core in range(2)]


def test_each_core_has_registers_memory_and_random_numbers_of_its_own():
    tiles = {}

    @nki.jit
    def kernel(x):
        out, me = shared((2, 64, 32)), nl.program_id(0)
        tiles[me] = load(x[me])
        tiles[me].place = None
        nisa.dropout(dst=tiles[me], data=tiles[me], prob=0.5)
        nisa.dma_copy(dst=out[me], src=tiles[me])
        return out

    got = kernel[2](np.ones_like(X))
    assert (got[0] != got[1]).any()
    assert tiles[0].address == tiles[1].address


def test_a_tile_of_the_other_core_is_out_of_reach():
    tiles = {}

    @nki.jit
    def kernel(x):
        me = nl.program_id(0)
        tiles[me] = load(x[me])
        if me:
            nisa.tensor_copy(dst=tiles[1], src=tiles[0])

    with pytest.raises(trnsim.ProgramError, match="in the SBUF of another core") as caught:
        kernel[2](X)
    assert caught.value.rule == "memory.other_core"


def test_private_hbm_is_private_and_inputs_are_shared():
    @nki.jit
    def kernel(x):
        out, me = shared((2, 64, 32)), nl.program_id(0)
        own = nl.ndarray((64, 32), nl.float32, buffer=nl.hbm)
        nisa.dma_copy(dst=own, src=x[3 - me])
        nisa.dma_copy(dst=out[me], src=own)
        return out

    np.testing.assert_array_equal(kernel[2](X), X[[3, 2]])


def test_shared_tensors_are_matched_by_line_name_and_order():
    @nki.jit
    def kernel(x):
        me = nl.program_id(0)
        if me == 1:
            nl.ndarray((2, 2), nl.float32, buffer=nl.shared_hbm)  # on one core only
        parts = [shared((64, 32)) for _ in range(2)]
        named = [shared((64, 32), name) for name in (("a", "b") if me else ("b", "a"))]
        nisa.dma_copy(dst=parts[me], src=x[me])
        nisa.dma_copy(dst=named[me], src=x[2 + me])  # 'b' from both
        return parts[0], parts[1]

    a, b = kernel[2](np.stack([X[0], X[1], X[2], X[2]]))
    np.testing.assert_array_equal(a, X[0])
    np.testing.assert_array_equal(b, X[1])


def test_shared_constants_are_one():
    @nki.jit
    def kernel(x):
        constant = nl.shared_constant(np.full((64, 32), 7, np.float32))
        out = shared((2, 64, 32))
        nisa.dma_copy(dst=out[nl.program_id(0)], src=constant)
        return out

    assert (kernel[2](X) == 7).all()


def user_line(error):
    package = str(trnsim.__file__).rpartition("/")[0]
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(package)]
    return next(f.line for f in reversed(frames) if f.filename == __file__)


def failing(body, rule, chip="trn2", match=None):
    before = len(trnsim.profiles()), threading.active_count()
    trnsim.install(chip=chip)
    with pytest.raises(trnsim.ProgramError, match=match) as caught:
        nki.jit(body)[2](X)
    assert caught.value.rule == rule
    assert (len(trnsim.profiles()), threading.active_count()) == (before[0] + 1, before[1])
    assert trnsim.last_profile().latency_us >= 0
    return caught.value


def test_a_core_that_ends_before_the_barrier():
    def kernel(x):
        out = shared()
        if nl.program_id(0) == 1:
            nisa.core_barrier(out, (0, 1))

    error = failing(kernel, "launch.deadlock", match=r"core 0 has ended; core 1 waits in core_barrier at test_lnc.py:")
    assert user_line(error) == "nisa.core_barrier(out, (0, 1))"


def test_a_core_that_waits_for_one_that_ends():
    def kernel(x):
        out = shared()
        nisa.core_barrier(out, (0, 1))
        if nl.program_id(0) == 0:
            nisa.core_barrier(data=out, cores=(0, 1))

    error = failing(kernel, "launch.deadlock", match="core 0 waits in core_barrier .*; core 1 has ended, after 1 ")
    assert user_line(error) == "nisa.core_barrier(data=out, cores=(0, 1))"


def test_cores_that_wait_for_different_things():
    def kernel(x):
        out, tile = shared(), load(x[0])
        if nl.program_id(0) == 0:
            nisa.core_barrier(out, (0, 1))
        else:
            nisa.sendrecv(tile, tile, 0, 0, 0)

    failing(kernel, "launch.deadlock", match="core 0 waits in core_barrier at .*; core 1 waits in sendrecv at ")


@pytest.mark.parametrize("failing_core", [0, 1])
def test_an_exception_of_one_core_ends_both(failing_core):
    ended = []

    def kernel(x):
        out, me = shared(), nl.program_id(0)
        try:
            nisa.core_barrier(out, (0, 1))
            if me == failing_core:
                raise KeyError("mine")
            nisa.core_barrier(out, (0, 1))
        finally:
            ended.append(me)

    before = threading.active_count()
    with pytest.raises(KeyError, match="mine") as caught:
        nki.jit(kernel)[2](X)
    assert user_line(caught.value) == 'raise KeyError("mine")'
    assert sorted(ended) == [0, 1] and threading.active_count() == before
    np.testing.assert_array_equal(incremented[2](X), EXPECTED)


def test_of_two_errors_the_lower_core_is_heard():
    def kernel(x):
        raise KeyError(nl.program_id(0))

    with pytest.raises(KeyError, match="0"):
        nki.jit(kernel)[2](X)


RACES = {}


def race(function):
    RACES[function.__name__] = function
    return function


@race
def write_then_read(x, out, me):
    if me == 0:
        nisa.dma_copy(dst=out[0], src=load(x[0]))
    else:
        nisa.dma_copy(dst=out[1], src=load(out[0]))


@race
def read_then_write(x, out, me):
    tile = load(x[0])
    if me == 0:
        load(x[1])
    else:
        nisa.dma_copy(dst=x[1, 5:7], src=tile[0:2])


@race
def different_values(x, out, me):
    nisa.dma_copy(dst=out[0], src=load(x[me]))


@race
def different_values_in_one_byte(x, out, me):
    nisa.dma_copy(dst=out[0], src=load(x[0]))
    if me == 1:
        nisa.dma_copy(dst=out[0, 3:4, 4:5], src=load(x[1])[3:4, 4:5])


@race
def after_a_barrier_again(x, out, me):
    nisa.dma_copy(dst=out[me], src=load(x[me]))
    nisa.core_barrier(out, (0, 1))
    nisa.dma_copy(dst=out[1 - me], src=load(x[2]))
    load(out[me])


@pytest.mark.parametrize("name", RACES)
def test_races_are_reported_with_both_accesses(name):
    def kernel(x):
        out = shared(name="out")
        RACES[name](x, out, nl.program_id(0))

    failing(kernel, "race.shared_hbm",
            match=r"shared tensor '(out|x)' at byte \d+ .*core 0 (reads|writes) it at test_lnc.py:\d+ \(dma_copy, "
                  r"instruction \d+\); core 1 (reads|writes) it at test_lnc.py:\d+ \(dma_copy, instruction \d+\)")


def test_the_byte_of_a_race():
    def kernel(x):
        out = shared(name="out")
        different_values_in_one_byte(x, out, nl.program_id(0))

    failing(kernel, "race.shared_hbm", match=r"at byte 40[0-3] \(within bytes ")


HARMLESS = {}


def harmless(function):
    HARMLESS[function.__name__] = function
    return function


@harmless
def same_values(x, out, me):
    for i in range(4):
        nisa.dma_copy(dst=out[i], src=load(x[i]))


@harmless
def same_values_written_twice_and_read_back(x, out, me):
    for i in range(4):
        nisa.dma_copy(dst=out[i], src=load(x[3 - i]))
    for i in range(4):
        load(out[i])
        nisa.dma_copy(dst=out[i], src=load(x[i]))


@harmless
def interleaved_rows(x, out, me):
    nisa.dma_copy(dst=out[me:4:2], src=x[me:4:2])


@harmless
def zeros_first(x, out, me):
    zeros = nl.zeros((4, 64, 32), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=zeros[me], src=load(x[me]))
    nisa.core_barrier(zeros, (0, 1))
    if me == 0:
        nisa.dma_copy(dst=out, src=zeros)
        nisa.dma_copy(dst=out, src=x)


@harmless
def ordered_by_sendrecv(x, out, me):
    tile = load(x[0])
    if me == 0:
        nisa.dma_copy(dst=out, src=x)
    nisa.sendrecv(tile, tile, 1 - me, 1 - me, 0)
    if me == 1:
        load(out[0])


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("timing_only", [False, True])
def test_what_is_no_race(name, timing_only):
    @nki.jit
    def kernel(x):
        out = shared()
        HARMLESS[name](x, out, nl.program_id(0))
        return out

    trnsim.install(timing_only=timing_only)
    got = kernel[2](X)
    if not timing_only:
        np.testing.assert_array_equal(got, X)


def test_the_same_bytes_whatever_the_run():
    def once(**options):
        trnsim.install(**options)
        out = exchange_and_add(X)
        profile = trnsim.last_profile()
        return out.tobytes(), profile.to_json(), profile.summary()

    first = once()
    assert first == once()
    results = []
    threads = [threading.Thread(target=lambda: results.append(exchange_and_add(X).tobytes())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [first[0]] * 2
    assert once(timing_only=True)[1:] == first[1:]


def exchange_and_add(x):
    @nki.jit
    def kernel(x):
        me, out = nl.program_id(0), shared((2, 64, 32))
        tile, theirs = load(x[me]), nl.ndarray((64, 32), nl.float32, buffer=nl.sbuf)
        nisa.sendrecv(tile, theirs, 1 - me, 1 - me, 0)
        nisa.dropout(dst=tile, data=tile, prob=0.3)
        nisa.tensor_tensor(dst=tile, data1=tile, data2=theirs, op=nl.add)
        nisa.dma_copy(dst=out[me], src=tile)
        nisa.core_barrier(out, (0, 1))
        return out

    return kernel[2](x)


def test_two_cores_share_the_bandwidth_of_their_stack():
    @nki.jit
    def kernel(x):
        for i in range(8):
            load(x[i * 2 + nl.program_id(0)])

    x = np.zeros((16, 128, 16384), np.float32)
    trnsim.install(timing_only=True)
    latencies = []
    for cores in (1, 2):
        kernel[cores](x)
        latencies.append(trnsim.last_profile().latency_us)
    stack = 2900 / 4  # GB/s
    assert latencies[1] > latencies[0]
    assert 16 * 128 * 16384 * 4 / (latencies[1] * 1e3) < stack


def test_the_environment_must_agree(monkeypatch):
    monkeypatch.setenv("NEURON_LOGICAL_NC_CONFIG", "1")
    with pytest.raises(trnsim.ProgramError, match="launched on 2 cores, but NEURON_LOGICAL_NC_CONFIG is 1") as caught:
        incremented[2](X)
    assert caught.value.rule == "launch.lnc"
    incremented(X)
    monkeypatch.setenv("NEURON_LOGICAL_NC_CONFIG", "2")
    incremented[2](X)
    assert trnsim.last_profile().cores == 2
    with pytest.warns(UserWarning, match="launched on one core, but NEURON_LOGICAL_NC_CONFIG is 2"):
        incremented(X)
    for chip, value in (("trn2", "3"), ("trn2", "two"), ("trn1", "2")):
        monkeypatch.setenv("NEURON_LOGICAL_NC_CONFIG", value)
        trnsim.install(chip=chip)
        with pytest.raises(trnsim.ConfigError, match=f"NEURON_LOGICAL_NC_CONFIG is '{value}'"):
            incremented[2](X)


SCRIPT = textwrap.dedent("""
    import os, signal, threading
    import numpy as np
    import nki, nki.isa as nisa, nki.language as nl

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out[nl.program_id(0)], src=x[nl.program_id(0)])
        nisa.core_barrier(out, (0, 1))
        if nl.program_id(0) == INTERRUPTED:
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                nl.program_id(0)
        nisa.core_barrier(out, (0, 1))

    kernel[2](np.zeros((2, 8, 8), np.float32))
    """)


@pytest.mark.parametrize("core", [0, 1])
def test_an_interrupt_ends_both_and_leaves_the_profile(tmp_path, core):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("INTERRUPTED", str(core)))
    done = subprocess.run([sys.executable, "-m", "trnsim", "run", script], capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # even in the background
    assert done.returncode == 130
    assert "interrupted; reporting what was recorded so far" in done.stderr
    assert "kernel on 2 cores side by side" in done.stdout


def test_a_debugger_stops_in_either_core(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent("""
        import numpy as np
        import nki, nki.language as nl

        @nki.jit
        def kernel(x):
            me = nl.program_id(0)
            breakpoint()
            return None

        kernel[2](np.zeros((2, 2), np.float32))
        """))
    command = [sys.executable, "-m", "trnsim", "run", "--quiet", str(script)]
    typed = "p 'core', me\nc\n" * 2
    done = subprocess.run(command, capture_output=True, text=True, input=typed, timeout=60)
    assert "('core', 0)" in done.stdout and "('core', 1)" in done.stdout and done.returncode == 0
