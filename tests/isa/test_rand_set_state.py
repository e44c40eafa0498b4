"""nki.isa.rand_set_state: each partition is the state of its lane, and numbers follow from it."""

import numpy as np
import pytest
from random_oracle import lane_words
from vector_oracle import nisa, nl, on_tiles, refused, sample

WORDS = {"gpsimd": 6, "vector": 24}


@pytest.mark.parametrize("chip, engine", (("trn2", "gpsimd"), ("trn3", "gpsimd"), ("trn3", "vector")))
@pytest.mark.parametrize("partitions", (1, 33, 128))
def test_numbers_follow_from_the_state(run, chip, engine, partitions):
    words = WORDS[engine]
    state = sample((partitions, words), "uint32", seed=partitions)
    state[0] = 0  # even no bit set is a state
    runs_on = getattr(nisa.engine, engine)

    def body(dst, seeds):
        nisa.rand_set_state(src_seeds=seeds, engine=runs_on)
        nisa.rng(dst, engine=runs_on)

    bits = on_tiles(run, body, state, out=[((partitions, 11), "uint32")], chip=chip)
    for lane in range(partitions):
        assert bits[lane].tolist() == lane_words(state[lane].reshape(-1, 6), 11)[0]


def test_the_first_partition_of_the_tile_names_the_lane(run):
    state = sample((32, 6), "uint32")

    def body(dst, seeds):
        moved = nl.ndarray((128, 6), dtype=nl.uint32, buffer=nl.sbuf)
        nisa.tensor_copy(moved[64:96], seeds)
        nisa.rand_set_state(moved[64:96])
        nisa.rng(dst, engine=nisa.engine.gpsimd)

    bits = on_tiles(run, body, state, out=[((128, 3), "uint32")])
    assert bits[64].tolist() == lane_words(state[:1], 3)[0]


def set_state(engine=None):
    return lambda dst, seeds: nisa.rand_set_state(seeds, engine=engine)


OUT = [((1, 1), "uint32")]


@pytest.mark.parametrize("rule, seeds, engine, chip", [
    ("engine", sample((2, 6), "uint32"), nisa.engine.scalar, "trn2"),
    ("dtype", sample((2, 6), "int32"), None, "trn2"),
    ("shape", sample((2, 24), "uint32"), None, "trn2"),
    ("shape", sample((2, 6), "uint32"), nisa.engine.vector, "trn3"),
    ("shape", sample((2, 2, 3), "uint32"), None, "trn2"),
    ("generation", sample((2, 24), "uint32"), nisa.engine.vector, "trn2"),
    ("generation", sample((2, 6), "uint32"), None, "trn1"),
])
def test_rules(run, rule, seeds, engine, chip):
    refused(run, "rand_set_state." + rule, set_state(engine), seeds, out=OUT, chip=chip)


def test_seeds_come_from_sbuf(run):
    def body(dst, seeds):
        moved = nl.ndarray((2, 6), dtype=nl.uint32, buffer=nl.psum)
        nisa.tensor_copy(moved, seeds)
        nisa.rand_set_state(moved)

    refused(run, "rand_set_state.buffer", body, sample((2, 6), "uint32"), out=OUT)
