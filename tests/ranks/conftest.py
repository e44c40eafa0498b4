"""Run kernels on several ranks, each with inputs of its own."""

import pytest

import trnsim


@pytest.fixture
def on_ranks():
    """on_ranks(ranks, job, on=...) -> job(rank) of each rank, run side by side."""

    def run(count, job, on="trn2.48xlarge"):
        trnsim.install()
        return trnsim.run_ranks(lambda: job(trnsim.rank()), count, on)

    return run
