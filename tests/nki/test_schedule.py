"""Which order the engines take instructions in, as users choose it."""

import numpy as np
import pytest
import trnsim

X = np.zeros((128, 512), np.float32)


@pytest.fixture
def kernel():
    import nki
    import nki.isa as nisa
    import nki.language as nl

    def body(x, in_order):
        loaded, copied, other = (nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf) for _ in range(3))
        nisa.dma_copy(dst=loaded, src=x)
        with nl.no_reorder() if in_order else _nothing():
            nisa.tensor_copy(copied, loaded, engine=nisa.vector_engine, name="waits")
            nisa.memset(other, 0.0, engine=nisa.vector_engine, name="free")
        return x

    @nki.jit
    def plain(x):
        return body(x, False)

    @nki.jit
    def ordered(x):
        return body(x, True)

    yield plain, ordered
    trnsim.install()


class _nothing:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


def first_to_start(kernel):
    kernel(X)
    named = [i for i in trnsim.last_profile().instructions if "name" in i]
    return min(named, key=lambda i: i["start_ns"])["name"]


def test_a_list_scheduler_overtakes_unless_the_kernel_forbids_it(kernel):
    plain, ordered = kernel
    assert first_to_start(plain) == "waits"
    trnsim.install(schedule="list")
    assert first_to_start(plain) == "free"
    assert first_to_start(ordered) == "waits"
    assert "reordered by a list scheduler" in trnsim.last_profile().summary()


def test_an_unknown_schedule_is_refused():
    with pytest.raises(trnsim.ConfigError, match="unknown schedule 'best'"):
        trnsim.install(schedule="best")


@pytest.mark.parametrize("edge", ["ab", ("a",), ("a", "b", "c"), 3])
def test_an_order_that_is_no_pair_is_refused(edge):
    import nki

    with pytest.raises(trnsim.ProgramError, match="takes pairs") as caught:
        nki.jit(lambda x: x).with_schedule([edge])
    assert caught.value.rule == "launch.schedule"
