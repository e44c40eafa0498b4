"""aws-neuron/neuronx-distributed-inference: attention with a sliding window, by its own unit test."""

from corpus.case import Case

REPOSITORIES = ("nxdi",)


def cases(checkout):
    yield Case("test/unit/modules/sliding_window/test_attention.py", "tests", ("-k", "numerical"), paths=("src",),
               seconds=1500)
