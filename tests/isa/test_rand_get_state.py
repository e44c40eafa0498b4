"""nki.isa.rand_get_state: what was set comes back, and moves on with each number drawn."""

import numpy as np
import pytest
from random_oracle import lane_words
from vector_oracle import new, nisa, nl, on_tiles, refused, same, sample

ENGINES = (("trn2", "gpsimd", 6), ("trn3", "gpsimd", 6), ("trn3", "vector", 24))


@pytest.mark.parametrize("chip, engine, words", ENGINES)
@pytest.mark.parametrize("partitions", (1, 128))
def test_what_was_set_comes_back(run, chip, engine, words, partitions):
    state, runs_on = sample((partitions, words), "uint32"), getattr(nisa.engine, engine)

    def body(dst, seeds):
        nisa.rand_set_state(seeds, engine=runs_on)
        nisa.rand_get_state(dst=dst, engine=runs_on)

    same(on_tiles(run, body, state, out=[(state.shape, "uint32")], chip=chip), state)


@pytest.mark.parametrize("chip, engine, words", ENGINES)
def test_drawing_moves_it_on(run, chip, engine, words):
    state, runs_on = sample((8, words), "uint32"), getattr(nisa.engine, engine)

    def body(dst, seeds):
        nisa.rand_set_state(seeds, engine=runs_on)
        nisa.rng(new((8, 10), "uint32"), engine=runs_on)
        nisa.rand_get_state(dst, engine=runs_on)

    after = on_tiles(run, body, state, out=[(state.shape, "uint32")], chip=chip)
    for lane in range(8):
        expected = lane_words(state[lane].reshape(-1, 6), 10)[1]
        assert after[lane].tolist() == np.concatenate(expected).tolist()


def test_vector_writes_psum_on_v4(run):
    state = sample((8, 24), "uint32")

    def body(dst, seeds):
        kept = new((8, 24), "uint32", nl.psum)
        nisa.rand_set_state(seeds, engine=nisa.engine.vector)
        nisa.rand_get_state(kept, engine=nisa.engine.vector)
        nisa.tensor_copy(dst, kept)

    same(on_tiles(run, body, state, out=[(state.shape, "uint32")], chip="trn3"), state)


@pytest.mark.parametrize("rule, out, engine, chip", [
    ("engine", ((2, 6), "uint32"), nisa.engine.tensor, "trn2"),
    ("dtype", ((2, 6), "float32"), None, "trn2"),
    ("shape", ((2, 7), "uint32"), None, "trn2"),
    ("generation", ((2, 24), "uint32"), nisa.engine.vector, "trn2"),
    ("generation", ((2, 6), "uint32"), None, "trn1"),
    ("buffer", ((2, 6), "uint32", nl.psum), None, "trn3"),
])
def test_rules(run, rule, out, engine, chip):
    refused(run, "rand_get_state." + rule, lambda dst: nisa.rand_get_state(dst, engine=engine), out=[out], chip=chip)
