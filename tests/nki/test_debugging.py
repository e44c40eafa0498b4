"""Debugging from Python: device_print, handles and depends_on, notebooks, refusals of install."""

import linecache

import numpy as np
import pytest
import trnsim

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl


@pytest.fixture(autouse=True)
def installed():
    trnsim.install()
    yield
    trnsim.install()


def tile(shape, dtype=nl.float32, buffer=nl.sbuf):
    return nl.ndarray(shape, dtype, buffer)


DTYPES = [nl.float32, nl.bfloat16, nl.float16, nl.float8_e4m3, nl.float8_e5m2, nl.int8, nl.int32, nl.uint8, nl.uint16,
          nl.bool_]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("space", ["SBUF", "PSUM"])
def test_device_print_shows_any_dtype_and_memory(capsys, dtype, space):
    @nki.jit
    def kernel():
        t = tile((2, 3), dtype, nl.sbuf if space == "SBUF" else nl.psum)
        nisa.memset(dst=t, value=1)
        nl.device_print("t:", t)

    kernel()
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("t: ") and head.endswith(f"[2, 3] in {space}:")
    assert len(rows) == 2 and all(row.count("1") == 3 or row.count("True") == 3 for row in rows)


def test_device_print_shows_hbm_and_abbreviates(capsys):
    @nki.jit
    def kernel(x):
        nl.device_print("x", x)

    kernel(np.arange(5000, dtype=np.float32))
    out = capsys.readouterr().out
    assert out.startswith("x float32[5000] in HBM:\n[0.000e+00 1.000e+00") and "..." in out and len(out) < 300


def test_device_print_says_which_program_of_the_grid(capsys):
    @nki.jit
    def kernel(x):
        t = tile((1, 1))
        nisa.memset(dst=t, value=float(nl.program_id(0)))
        nl.device_print("t", t)

    kernel[2](np.zeros((1, 1), np.float32))
    out = capsys.readouterr().out.splitlines()
    assert out == ["t program (0,) float32[1, 1] in SBUF:", "[[0.]]", "t program (1,) float32[1, 1] in SBUF:", "[[1.]]"]


def test_device_print_without_values_says_so(capsys):
    trnsim.install(timing_only=True)

    @nki.jit
    def kernel(x):
        nl.device_print("x", x)

    kernel(np.zeros((2, 2), np.float32))
    assert capsys.readouterr().out == "x float32[2, 2] in HBM: no values in a timing-only run\n"


@pytest.mark.parametrize("arguments, rule", [
    (lambda: ("t", tile((2, 2))), "memory.unwritten"), (lambda: (3, tile((2, 2))), "device_print.prefix"),
    (lambda: ("t", 3), "device_print.tensor")])
def test_device_print_refuses(arguments, rule):
    @nki.jit
    def kernel():
        nl.device_print(*arguments())

    with pytest.raises(trnsim.ProgramError) as caught:
        kernel()
    if rule.startswith("device_print"):
        assert caught.value.rule == rule
    else:
        assert "never written" in str(caught.value)


def start_of_second(order):
    """Start in ns of an instruction on GpSimd, which touches nothing of the one on Vector before it."""

    @nki.jit
    def kernel():
        a, b = tile((128, 4096)), tile((128, 16))
        first = nisa.memset(dst=a, value=0.0, engine=nisa.vector_engine)
        second = nisa.memset(dst=b, value=0.0, engine=nisa.gpsimd_engine)
        if order:
            assert second.depends_on(first) is second

    kernel()
    return trnsim.last_profile().instructions


def test_depends_on_delays_the_consumer_until_the_producer_has_ended():
    free = start_of_second(False)
    assert free[1]["start_ns"] == 0
    tied = start_of_second(True)
    assert tied[1]["start_ns"] > tied[0]["end_ns"] and tied[1]["waited_for"] == 0
    assert tied[0]["end_ns"] == free[0]["end_ns"]


def test_depends_on_takes_several_and_chains():
    @nki.jit
    def kernel():
        t = tile((4, 4))
        a, b, c = (nisa.memset(dst=t, value=0.0) for _ in range(3))
        c.depends_on(b, a).depends_on(a)
        assert repr(c) == "<NkiInstruction 2>" and isinstance(c, nisa.NkiInstruction)

    kernel()
    text = trnsim.last_profile().program_text()
    assert text.count("after #1") == 1 and text.count("after #0") == 1


def refused(body):
    with pytest.raises(trnsim.ProgramError) as caught:
        nki.jit(body)()
    assert caught.value.rule == "instruction.depends_on"
    return str(caught.value)


def test_depends_on_refuses_wrong_use():
    def itself():
        a = nisa.memset(dst=tile((4, 4)), value=0.0)
        a.depends_on(a)

    def later():
        a, b = (nisa.memset(dst=tile((4, 4)), value=0.0) for _ in range(2))
        a.depends_on(b)

    def word():
        nisa.memset(dst=tile((4, 4)), value=0.0).depends_on("load")

    kept = []

    def keeps():
        kept.append(nisa.memset(dst=tile((4, 4)), value=0.0))

    def foreign():
        nisa.memset(dst=tile((4, 4)), value=0.0).depends_on(kept[0])

    assert "does not come before it" in refused(itself) and "issue the producer first" in refused(later)
    assert "takes the handles" in refused(word)
    nki.jit(keeps)()
    assert "another launch" in refused(foreign)
    with pytest.raises(trnsim.ProgramError, match="has ended"):
        kept[0].depends_on()


def loop_of(kind, body):
    """body() in a dynamic loop of two rounds."""
    if kind == "fori_loop":
        nl.fori_loop(0, 2, lambda _: body())
    elif kind == "dynamic_range":
        for _ in nl.dynamic_range(2):
            body()
    else:
        rounds = iter((1, 0))

        def once(register):
            body()
            nisa.register_move(register, next(rounds))
            return register

        nl.while_loop(nisa.register_alloc(1), once)


@pytest.mark.parametrize("kind", ("fori_loop", "dynamic_range", "while_loop"))
def test_depends_on_does_not_reach_out_of_a_dynamic_loop(kind):
    def written():
        return nisa.memset(dst=tile((4, 4)), value=0.0)

    def kernel(body, after=lambda: None, before=lambda: None):
        def whole():
            first = before()
            loop_of(kind, lambda: body(first) if first else body())
            after()

        return nki.jit(whole)

    kernel(lambda first: written().depends_on(first), before=written)()  # from around it
    kept = []

    def tied_within():
        kept.append(written())
        written().depends_on(kept[-1])

    kernel(tied_within)()
    kept.clear()
    out = kernel(lambda: kept.append(written()), after=lambda: written().depends_on(kept[-1]))
    with pytest.raises(trnsim.ProgramError, match="stands in a dynamic loop that instruction \\d+ is") as caught:
        out()
    assert caught.value.rule == "instruction.depends_on"
    kept.clear()

    def inner():
        loop_of(kind, lambda: kept.append(written()))
        written().depends_on(kept[-1])

    with pytest.raises(trnsim.ProgramError, match="stands in a dynamic loop"):
        kernel(inner)()


CELL = '''\
@nki.jit
def in_a_cell(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out

in_a_cell(np.ones((4, 8), np.float32))
'''


def shows_the_cell(profile, name):
    places = {(i["file"], i["line"]) for i in profile.instructions}
    assert places == {(name, 4)} and "nl.store" in linecache.getline(name, 4)
    assert profile._repr_html_().startswith("<pre>in_a_cell on one NeuronCore")


def test_cells_of_a_notebook_are_places():
    name = "<ipython-input-7-cell>"
    linecache.cache[name] = (len(CELL), None, CELL.splitlines(True), name)
    exec(compile(CELL, name, "exec"), {"np": np, "nki": nki, "nl": nl})
    shows_the_cell(trnsim.last_profile(), name)


def test_ipython_runs_a_cell():
    shell_module = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    shell = shell_module.InteractiveShell.instance()
    shell.run_cell("import trnsim; trnsim.install()\nimport numpy as np, nki, nki.language as nl").raise_error()
    shell.run_cell(CELL, store_history=True).raise_error()
    profile = trnsim.last_profile()
    shows_the_cell(profile, profile.instructions[0]["file"])


def test_profiles_escape_html():
    @nki.jit
    def kernel(x):
        nl.store(nl.ndarray(x.shape, x.dtype, nl.shared_hbm), nl.load(x))

    kernel.function.__name__ = "a<b"
    kernel(np.ones((2, 2), np.float32))
    assert "a&lt;b" in trnsim.last_profile()._repr_html_()


def test_fp32_everywhere_is_refused_by_name():
    with pytest.raises(trnsim.Unsupported, match="NKI_PRECISE_FP=0"):
        trnsim.install(precise=False)
