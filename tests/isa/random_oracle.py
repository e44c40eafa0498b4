"""The generators bit by bit, as docs/assumptions.md describes them, for the tests of random numbers."""

import numpy as np

WORD = 0xFFFFFFFF


def lfsr_words(state, count):
    """32 steps of the Galois register with taps 32, 22, 2, 1 for each word."""
    words = []
    for _ in range(count):
        for _ in range(32):
            state = (state >> 1) ^ (0x80200003 if state & 1 else 0)
        words.append(state)
    return words


def xorwow_words(state, count):
    """(words, the state after them) of Marsaglia's xorwow from [x, y, z, w, v, d]."""
    x, y, z, w, v, d = (int(word) for word in state)
    words = []
    for _ in range(count):
        t = x ^ (x >> 2)
        x, y, z, w = y, z, w, v
        v = (v ^ (v << 4) ^ t ^ (t << 1)) & WORD
        d = (d + 362437) & WORD
        words.append((v + d) & WORD)
    return words, [x, y, z, w, v, d]


def lane_words(states, count):
    """The words of a lane whose xorwow states [n, 6] take turns, and the states after them."""
    n = len(states)
    words, after = [0] * count, []
    for k, state in enumerate(states):
        words[k::n], last = xorwow_words(state, len(range(k, count, n)))
        after.append(last)
    return words, after


def splitmix64_state(seed):
    """Six words from a 64-bit seed."""
    mask, words = (1 << 64) - 1, []
    for _ in range(3):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        words += [z & WORD, z >> 32]
    return words


def unit(words):
    """The upper 24 bits as a fraction."""
    return ((np.asarray(words, np.uint64) >> 8).astype(np.float32) * np.float32(2.0**-24)).astype(np.float32)
