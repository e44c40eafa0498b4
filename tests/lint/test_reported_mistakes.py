"""Mistakes that users reported the compiler to refuse with an obscure message: lint names operand, limit and line."""

import pytest

from lint_samples import OLD_HEAD, kernel
from trnsim.lint import check


def one(path):
    (finding,) = [f for f in check.check(path) if f.level != "note"]
    return finding


def test_store_by_the_index_of_a_loop_that_has_ended(write):
    body = """
        acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
        for m in nl.affine_range(2):
            for r in nl.affine_range(2):
                acc += nisa.nc_matmul(x[r], x[m])
        nl.store(out[m], value=acc)
    """
    finding = one(write(kernel(body, head=OLD_HEAD, signature="x, out")))
    assert finding.rule == "beta1.ended_loop" and finding.line == 11 and "'m'" in finding.message


def test_matmul_into_sbuf_names_the_operand_and_the_buffer(write):
    body = """
        c = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.sbuf)
        nisa.nc_matmul(dst=c, stationary=x, moving=x)
    """
    finding = one(write(kernel(body)))
    assert finding.rule == "tensor.matmul_dst" and "'c' is in nl.sbuf" in finding.message and "nl.psum" in finding.fix


@pytest.mark.parametrize("row, wrong", [(217, False), (218, True)])
def test_window_that_slides_one_row_too_far(write, row, wrong):
    body = f"""
        image = nl.ndarray((64, 224), dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.tensor_copy(dst=x, src=image[0:64, {row}:{row} + 7])
    """
    found = check.check(write(kernel(body)))
    assert bool(found) == wrong
    if wrong:
        assert found[0].rule == "tensor.bounds" and "ends at 225 of 224" in found[0].message


@pytest.mark.parametrize("start, rows, legal", [
    (0, 128, True), (0, 16, True), (32, 32, True), (64, 64, True), (96, 32, True), (32, 64, False), (17, 16, False),
    (64, 16, True), (96, 16, True), (16, 16, False),
])  # fmt: skip
def test_partition_that_an_engine_cannot_start_at(write, start, rows, legal):
    body = f"""
        t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=t[{start}:{start + rows}, :], src=x)
        nisa.dma_copy(dst=t[{start}:{start + rows}, :], src=x)
    """
    found = check.check(write(kernel(body)))
    assert [f.rule for f in found] == ([] if legal else ["tensor.start_partition"])
    assert legal or f"starts at {start}" in found[0].message
