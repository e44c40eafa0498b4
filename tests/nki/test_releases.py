"""A named release has its names, parameters and behaviour and no others; without a name every release's code runs."""

import importlib
import warnings

import numpy as np
import pytest
import trnsim
from oracle import sample
from trnsim import _native, releases
from trnsim.releases import calls, table

trnsim.install()

NAMED = table.RELEASES[1:]
X = sample((8, 16))


@pytest.fixture(autouse=True)
def installed():
    yield
    trnsim.install()


def modules(release, chip="trn2"):
    trnsim.install(nki=release, chip=chip)
    return [importlib.import_module(name) for name in ("nki", "nki.isa", "nki.language")]


def run(release, body, *arrays, shape=None, dtype=None, chip="trn2"):
    """body(nisa, nl, out, *inputs) as a kernel of a release; what it leaves in `out`."""
    nki, nisa, nl = modules(release, chip)

    def kernel(*inputs):
        out = nl.ndarray(shape or inputs[0].shape, dtype=dtype or inputs[0].dtype, buffer=nl.shared_hbm)
        body(nisa, nl, out, *inputs)
        return out

    return nki.jit(kernel)(*(arrays or (X,)))


def refused(rule, release, body, *arrays, match=None, **options):
    with pytest.raises(trnsim.ProgramError, match=match) as caught:
        run(release, body, *arrays, **options)
    assert caught.value.rule == rule, caught.value


def load(nl, x, buffer=None):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=buffer or nl.sbuf)
    importlib.import_module("nki.isa").dma_copy(dst=tile, src=x)
    return tile


ALL = [(m, n, s) for m, spans in table.NAMES.items() for s in spans for n in s.names.split()]


@pytest.mark.parametrize("release", NAMED)
def test_a_release_has_its_names_and_no_others(release):
    trnsim.install(nki=release)
    for module, name, span in ALL:
        try:
            owner = importlib.import_module(module)
        except ImportError as error:
            owner = _attribute(module) if module in ("nki.language.tile_size", "nki.isa.matmul_perf_mode") else None
            assert owner is not None or "the release here is" in str(error)
        if owner is not None:
            assert hasattr(owner, name) == span.holds(release), (module, name)


def _attribute(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_what_is_absent_says_why():
    _, nisa, nl = modules("0.3")
    with pytest.raises(AttributeError, match=r"nki.isa.activate2 came with release 0.4 \(the release here is 0.3\)"):
        _ = nisa.activate2
    with pytest.raises(trnsim.ProgramError) as caught:
        _ = nl.fori_loop
    assert caught.value.rule == "release.name"
    with pytest.raises(ImportError, match="nki.isa.topk came with release 0.6"):
        from nki.isa import topk  # noqa: F401
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = nisa.nonsense
    with pytest.raises(AttributeError, match="psum_num_banks came with release 0.5"):
        _ = nl.tile_size.psum_num_banks
    with pytest.raises(AttributeError, match="tile_size has no attribute 'nonsense'"):
        _ = nl.tile_size.nonsense
    _, nisa, _ = modules("0.5")
    with pytest.raises(AttributeError, match=r"dynamic_src was removed in release 0.4; use nisa.tensor_copy"):
        _ = nisa.tensor_copy_dynamic_src


def test_modules_that_a_release_lacks():
    trnsim.install(nki="0.2")
    with pytest.raises(ImportError, match="nki.typing came with release 0.3"):
        import nki.typing  # noqa: F401
    trnsim.install(nki="0.3")
    import neuronxcc.nki  # noqa: F401

    trnsim.install(nki="0.4")
    with pytest.raises(ImportError, match=r"is an error since 0.4: import nki \(the release here is 0.4\)"):
        import neuronxcc.nki.language  # noqa: F401
    trnsim.install(nki="beta1")
    import neuronxcc.nki.isa  # noqa: F401

    with pytest.raises(ImportError, match="import nki: it came with release 0.2"):
        import nki  # noqa: F401


def test_operators_of_0_2_are_no_functions():
    def body(nisa, nl, out, x):
        tile = load(nl, x)
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nisa.dma_copy(dst=out, src=tile)
        if calling:
            nl.exp(tile)

    calling = False
    np.testing.assert_allclose(run("0.2", body), np.exp(X), rtol=1e-5)
    calling = True
    refused("release.name", "0.2", body, match="nl.exp is an operator for op= in release 0.2")
    run("0.3", body)


def test_parameters_follow_the_release():
    def with_priority(nisa, nl, out, x):
        nisa.dma_copy(dst=out, src=x, priority=None)

    run("0.4", with_priority)
    refused("release.argument", "0.3", with_priority, match=r"dma_copy\(priority=\) came with release 0.4 \(the rel")
    refused("release.argument", "0.5", lambda nisa, nl, out, x: nisa.dma_copy(dst=out, src=x, dts=out),
            match="isa.dma_copy: no argument is called 'dts'; did you mean 'dst'")
    refused("release.argument", "0.5", lambda nisa, nl, out, x: nisa.dma_copy(out, src=x, dst=out), match="twice")
    refused("release.argument", "0.5", lambda nisa, nl, out, x: nisa.max8(out, x, None, 1), match="at most 3")
    refused("release.argument", "0.2", lambda nisa, nl, out, x: nl.ndarray((2, 2), nl.int8, nl.sbuf, address=(0, 0)),
            match="address=. came with release 0.3")


@pytest.mark.parametrize("release, legal", [("auto", True), ("0.2", True), ("0.3", False), ("0.6", False)])
@pytest.mark.parametrize("keyword", ["dtype", "psum_accumulate_flag", "is_moving_zero"])
def test_keywords_that_went(release, legal, keyword):
    def body(nisa, nl, out, x):
        tile, product = load(nl, x), nl.ndarray((16, 16), nl.float32, nl.psum)
        value = {"dtype": nl.float32, "psum_accumulate_flag": 3, "is_moving_zero": True}[keyword]
        nisa.nc_matmul(dst=product, stationary=tile, moving=tile, **{keyword: value})
        copied = nl.ndarray((16, 16), nl.float32, nl.sbuf)
        nisa.tensor_copy(dst=copied, src=product)
        nisa.dma_copy(dst=out, src=copied)

    if legal:
        np.testing.assert_allclose(run(release, body, shape=(16, 16)), X.T @ X, rtol=1e-5)
    else:
        refused("release.argument", release, body, shape=(16, 16), match=f"{keyword}=. was removed in release 0.3")


def test_masks_are_of_beta_1():
    def body(nisa, nl, out, x):
        nisa.memset(load(nl, x), value=0, mask=None)

    refused("memset.argument", "auto", body, match=r"memset\(mask=\) is of Beta 1 .*: slice the operands")


@pytest.mark.parametrize("release", ["auto", "0.2", "0.3"])
def test_affine_select_had_its_offset_third(release):
    def body(nisa, nl, out, x):
        tile, result = load(nl, x), nl.ndarray(x.shape, x.dtype, nl.sbuf)
        first = (result, [[-1, 16]])
        if old:
            nisa.affine_select(*first, 2, 1, tile, -1.0, nl.greater_equal)
        else:
            nisa.affine_select(*first, 1, tile, -1.0, nl.greater_equal, 2)
        nisa.dma_copy(dst=out, src=result)

    expected = np.where(np.arange(8)[:, None] - np.arange(16) + 2 >= 0, X, np.float32(-1))
    for old in (True, False):
        if release == "auto" or old == (release == "0.2"):
            np.testing.assert_array_equal(run(release, body), expected)
        else:
            with pytest.raises(trnsim.ProgramError):
                run(release, body)


@pytest.mark.parametrize("release", ["auto", "0.2", "0.3"])
def test_numbers_stood_for_enumeration_members(release):
    def body(nisa, nl, out, x):
        nisa.dma_copy(dst=out, src=x, dge_mode=value)

    for value in (1, 3, "swdge"):
        if release == "0.3":
            refused("release.enum", release, body, match="stand for no member since 0.3: write nki.isa")
        else:
            np.testing.assert_array_equal(run(release, body), X)
    for value in (17, "nonsense", 1.5):
        refused("dma_copy.argument", release, body, match="must be a member of nki.isa.dge_mode")


@pytest.mark.parametrize("release", ["auto", "0.2", "0.3"])
def test_buffers_were_strings(release):
    def body(nisa, nl, out, x):
        nisa.dma_copy(dst=out, src=load(nl, x, "sbuf"))

    if release == "0.3":
        refused("tensor.buffer", release, body, match="buffers are objects, such as nl.sbuf, since 0.3, not 'sbuf'")
    else:
        np.testing.assert_array_equal(run(release, body), X)


@pytest.mark.parametrize("release", ["auto", "0.2", "0.3"])
def test_memset_converted(release):
    def body(nisa, nl, out, x):
        tile = nl.ndarray(x.shape, nl.int32, nl.sbuf)
        nisa.memset(dst=tile, value=2.0)
        nisa.dma_copy(dst=out, src=tile)

    if release == "0.3":
        refused("memset.value_dtype", release, body, dtype="int32", match="since 0.3: dst is int32, value is 2.0")
    else:
        assert (run(release, body, dtype=np.dtype("int32")) == 2).all()


def test_tensor_reduce_took_axis_1_for_the_last():
    x = sample((4, 3, 5))

    def body(nisa, nl, out, x):
        tile, total = load(nl, x), nl.ndarray(out.shape, nl.float32, nl.sbuf)
        nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
        nisa.dma_copy(dst=out, src=total)

    np.testing.assert_allclose(run("0.2", body, x, shape=(4, 3)), x.sum(2), rtol=1e-5)
    for release in ("0.3", "auto"):
        refused("tensor_reduce.axis", release, body, x, shape=(4, 3))


def test_dma_copy_read_psum():
    def body(nisa, nl, out, x):
        tile, product = load(nl, x), nl.ndarray((16, 16), nl.float32, nl.psum)
        nisa.nc_matmul(dst=product, stationary=tile, moving=tile)
        nisa.dma_copy(dst=out, src=product)

    np.testing.assert_allclose(run("0.2", body, shape=(16, 16)), X.T @ X, rtol=1e-5)
    for release in ("0.3", "auto"):
        with pytest.raises(trnsim.ProgramError, match="PSUM"):
            run(release, body, shape=(16, 16))


@pytest.mark.parametrize("release", ["auto", "0.2", "0.3"])
def test_hardware_dge_converted(release):
    def body(nisa, nl, out, x):
        nisa.dma_copy(dst=out, src=x, dge_mode=nisa.dge_mode.hwdge)

    if release == "0.3":
        refused("dma_copy.hwdge_dtype", release, body, dtype="bfloat16", match="equal dtypes only since 0.3")


@pytest.mark.parametrize("release", ["auto", "0.3", "0.4"])
def test_dma_transpose_padded_the_rank(release):
    x = sample((16, 1, 8))

    def body(nisa, nl, out, x):
        tile = nl.ndarray((8, 16), nl.float32, nl.sbuf)
        nisa.dma_transpose(dst=tile, src=x)
        nisa.dma_copy(dst=out, src=tile)

    if release == "0.4":
        refused("dma_transpose.dst_shape", release, body, x, shape=(8, 16))
    else:
        np.testing.assert_array_equal(run(release, body, x, shape=(8, 16)), x[:, 0].T)


def test_range_select_ignored_two_arguments():
    def body(nisa, nl, out, x):
        tile, result = load(nl, x), nl.ndarray(x.shape, x.dtype, nl.sbuf)
        low, high = nl.ndarray((8, 1), nl.float32, nl.sbuf), nl.ndarray((8, 1), nl.float32, nl.sbuf)
        nisa.memset(low, 2)
        nisa.memset(high, 5)
        best = nl.ndarray((8, 1), nl.float32, nl.sbuf)
        nisa.range_select(dst=result, on_true_tile=tile, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=low,
                          bound1=high, reduce_res=best, on_false_value=0.0)
        nisa.dma_copy(dst=out, src=result)

    columns = np.arange(16)
    expected = np.where((columns >= 2) & (columns < 5), X, np.finfo(np.float32).min)
    np.testing.assert_array_equal(run("0.2", body), expected)
    refused("range_select.on_false_value", "0.3", body)


def test_what_a_release_asks_of_kernels():
    def kernel(x, *, scale=1.0):
        return x

    def listed(xs):
        return xs[0]

    def private(x):
        import nki.isa as nisa
        import nki.language as nl

        out = nl.ndarray(x.shape, x.dtype, nl.hbm)
        nisa.dma_copy(out, x)
        return out

    for release in ("auto", "0.2"):
        nki = modules(release)[0]
        for function, argument in ((kernel, X), (listed, [X]), (private, X)):
            np.testing.assert_array_equal(nki.jit(function)(argument), X)
        nki.jit(kernel, platform_target="trn2")
    nki = modules("0.3")[0]
    for function, argument, rule, match in (
        (kernel, X, "launch.signature", "no '\\*' since 0.3: move scale before the '\\*'"),
        (listed, [X], "launch.argument", "tuples in place of lists since 0.3: xs is a list"),
        (private, X, "launch.result", "results are nl.shared_hbm since 0.3: .* is in nl.hbm"),
    ):
        with pytest.raises(trnsim.ProgramError, match=match) as caught:
            nki.jit(function)(argument)
        assert caught.value.rule == rule
    with pytest.raises(trnsim.ProgramError, match="set NEURON_PLATFORM_TARGET_OVERRIDE since 0.3") as caught:
        nki.jit(kernel, platform_target="trn2")
    assert caught.value.rule == "launch.platform_target"


def test_deprecated_names_warn_in_the_releases_that_do():
    for release, path, warns in (
        ("0.3", "isa.tensor_copy_dynamic_src", True),
        ("0.2", "isa.tensor_copy_dynamic_src", False),
        ("0.6", "language.dynamic_range", True),
        ("0.5", "language.dynamic_range", False),
        ("auto", "language.dynamic_range", False),
    ):
        module, name = path.split(".")
        modules(release)
        function = getattr(importlib.import_module(f"nki.{module}"), name)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(trnsim.Error):  # outside a kernel
                function(dst=1, src=2) if module == "isa" else list(function(1, 3))
        assert [w.category for w in caught] == [DeprecationWarning] * warns, (release, path)


@pytest.mark.parametrize("name", ["tensor_copy_dynamic_src", "tensor_copy_dynamic_dst"])
def test_dynamic_copies(name):
    def body(nisa, nl, out, x):
        tile, copied = load(nl, x), nl.ndarray(x.shape, x.dtype, nl.sbuf)
        getattr(nisa, name)(dst=copied, src=tile)
        nisa.dma_copy(dst=out, src=copied)

    np.testing.assert_array_equal(run("auto", body), X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(run("0.3", body), X)


def test_the_order_of_parameters_in_each_release():
    assert calls.names_in("nki.isa.dma_copy", _native.isa.dma_copy, "0.3")[:3] == ("dst", "src", "oob_mode")
    assert calls.names_in("nki.isa.dma_copy", _native.isa.dma_copy, "0.4")[:3] == ("dst", "src", "priority")
    matmul = calls.names_in("nki.isa.nc_matmul", _native.isa.nc_matmul, "0.3")
    assert matmul[5:8] == ("is_transpose", "accumulate", "tile_position")
    assert "accumulate" not in calls.names_in("nki.isa.nc_matmul", _native.isa.nc_matmul, "0.2")


def test_the_table_is_sound():
    for spans in (*table.NAMES.values(), *table.PARAMETERS.values(), table.BEHAVIOUR.values()):
        for span in spans:
            assert span.first in table.RELEASES and (not span.last or span.last in table.RELEASES)
    for module, spans in table.NAMES.items():
        for release in table.RELEASES:
            names = [n for span in spans if span.holds(release) for n in span.names.split()]
            assert len(set(names)) == len(names), (module, release)
    assert all(any(n == path.rpartition(".")[2] for _, n, _ in ALL) for path in table.DEPRECATED)
    assert releases.applies("nl.rsqrt on Scalar") is False


@pytest.mark.parametrize("release", ["auto", "0.2", "0.3"])
def test_dma_copy_added(release):
    def body(nisa, nl, out, x):
        nisa.dma_copy(dst=out, src=x)
        nisa.dma_copy(dst=out, src=x, dst_rmw_op=nl.add, unique_indices=True)

    if release == "0.3":
        refused("release.argument", release, body, match="removed in release 0.3 .*use nisa.dma_compute")
    else:
        np.testing.assert_array_equal(run(release, body), X + X)


@pytest.mark.parametrize("release", ["auto", "0.4", "0.5"])
def test_quantize_mx_had_half_the_scale(release):
    x = np.full((32, 8), 1.5, np.float32).astype(nl_dtype("bfloat16"))

    def body(nisa, nl, out, x):
        scale, packed = nl.ndarray((32, 2), nl.uint8, nl.sbuf), nl.ndarray((32, 2), nl.float8_e4m3fn_x4, nl.sbuf)
        nisa.quantize_mx(packed, load(nl, x), scale)
        nisa.dma_copy(dst=out, src=scale[0:1])

    got = run(release, body, x, shape=(1, 2), dtype=np.dtype("uint8"), chip="trn3")
    assert got.tolist() == [[127 - 8 + (release != "0.4")] * 2]  # 1.5 has exponent 0, the largest e4m3 8


def nl_dtype(name):
    return getattr(importlib.import_module("trnsim.dtypes"), name)


@pytest.mark.parametrize("release", ["auto", "0.2", "0.3"])
def test_old_releases_know_the_memories_by_name(release):
    nki, nisa, nl = modules(release)

    def kernel(a):
        tile = sbuf.view(dtype=a.dtype, shape=a.shape)  # noqa: F821
        nisa.dma_copy(dst=tile, src=a)
        moved = psum.view(dtype=nl.float32, shape=a.shape)  # noqa: F821
        nisa.tensor_copy(dst=moved, src=tile)
        nisa.tensor_copy(dst=tile, src=moved)
        out = (hbm if release != "0.3" else nl.shared_hbm).view(dtype=a.dtype, shape=a.shape)  # noqa: F821
        nisa.dma_copy(dst=out, src=tile)
        return out

    np.testing.assert_array_equal(nki.jit(kernel)(X), X)
    with pytest.raises(NameError):
        _ = sbuf  # noqa: F821  (only while a kernel runs)


def test_names_of_the_kernel_itself_go_before_those_of_the_compiler():
    nki, _, nl = modules("0.2")
    sbuf = "mine"

    def kernel(a):
        assert sbuf == "mine"
        return a

    nki.jit(kernel)(X)


@pytest.mark.parametrize("release", ["0.4", "0.6"])
def test_later_releases_do_not_know_the_memories_by_name(release):
    nki, _, nl = modules(release)
    with pytest.raises(NameError, match="sbuf"):
        nki.jit(lambda a: sbuf.view(dtype=a.dtype, shape=a.shape))(X)  # noqa: F821
    refused("tensor.view", release, lambda nisa, nl, out, a: nl.sbuf.view(a.dtype, a.shape),
            match="nl.ndarray since 0.4")


def test_par_dim_marks_dimension_0_only():
    def body(nisa, nl, out, a):
        tile = nl.ndarray((nl.par_dim(8), 16), dtype=a.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=a)
        nisa.dma_copy(dst=out, src=tile)

    np.testing.assert_array_equal(run("0.2", body), X)
    refused("tensor.par_dim", "0.2", lambda nisa, nl, out, a: nl.ndarray((2, nl.par_dim(8), 16), nl.float32, nl.sbuf),
            match="block dimensions")
