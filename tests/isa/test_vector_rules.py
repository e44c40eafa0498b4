"""The rules that every elementwise and reducing instruction of the Vector and Scalar Engines shares."""

import pytest

from vector_oracle import new, nisa, nl, refused, sample

# Each writes `dst` from `data`, legal in everything but what a test makes wrong; both are [P, F].
ELEMENTWISE = {
    "tensor_scalar": lambda dst, data: nisa.tensor_scalar(dst, data, nl.add, 1.0),
    "tensor_scalar_reduce": lambda dst, data: nisa.tensor_scalar_reduce(dst, data, nl.add, 1.0, nl.add),
    "scalar_tensor_tensor": lambda dst, data: nisa.scalar_tensor_tensor(dst, data, nl.add, 1.0, nl.add, data),
    "activation": lambda dst, data: nisa.activation(dst, nl.exp, data),
    "activation_reduce": lambda dst, data: nisa.activation_reduce(dst, nl.exp, data, nl.add, None),
    "reciprocal": lambda dst, data: nisa.reciprocal(dst, data),
    "tensor_tensor_scan": lambda dst, data: nisa.tensor_tensor_scan(
        dst, data, data, 0.0, nl.multiply, nl.add
    ),
    "tensor_scalar_cumulative": lambda dst, data: nisa.tensor_scalar_cumulative(
        dst, data, nl.add, nl.add, 1.0
    ),
    "dropout": lambda dst, data: nisa.dropout(dst, data, 0.5),
}
REDUCING = {
    "tensor_reduce": lambda dst, data: nisa.tensor_reduce(dst, nl.add, data, 1),
    "bn_stats": lambda dst, data: nisa.bn_stats(dst, data),
    "bn_aggr": lambda dst, data: nisa.bn_aggr(dst, data),
}
ALL = ELEMENTWISE | REDUCING
elementwise = pytest.mark.parametrize("name", ELEMENTWISE)
every = pytest.mark.parametrize("name", ALL)


@every
def test_operands_are_on_chip(run, name):
    def body(_, data):
        ALL[name](nl.ndarray((32, 6), dtype=nl.float32, buffer=nl.shared_hbm), data)

    message = refused(run, f"{name}.buffer", body, sample((32, 6)), out=[((32, 6), "float32")])
    assert "HBM" in message and "NeuronCore-v3" in message


@every
def test_partitions_start_at_a_quadrant(run, name):
    def body(wide, data):
        nisa.memset(wide, 0.0)
        ALL[name](wide[16:48], data)

    refused(run, f"{name}.start_partition", body, sample((32, 6)), out=[((128, 6), "float32")])


@every
def test_partitions_must_match(run, name):
    refused(run, f"{name}.same_partitions", ALL[name], sample((32, 6)), out=[((31, 6), "float32")])


@elementwise
def test_elements_must_match(run, name):
    refused(run, f"{name}.same_free_size", ELEMENTWISE[name], sample((32, 6)), out=[((32, 5), "float32")])


@every
def test_packed_types_are_for_the_mx_matmul(run, name):
    def body(_, data):
        ALL[name](new((32, 6), "float8_e4m3fn_x4"), data)

    refused(run, f"{name}.packed", body, sample((32, 6)), out=[((32, 6), "float32")])
