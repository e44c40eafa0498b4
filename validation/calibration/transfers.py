"""DMA transfers: what a descriptor takes on one engine, and what a whole transfer takes."""

import re

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
import trnsim

from calibration.rows import Row

_SMALLEST = 64  # bytes: below, a row is a semaphore update or a descriptor, not a user's data


def predict(row: Row) -> float | None:
    """Nanoseconds (GB/s for a rate) for a DMA row; None where the row gives no transfer that a kernel can make."""
    for pattern, build in _FORMS:
        match = re.fullmatch(pattern, row.name)
        if match:
            return build(row, *match.groups())
    return None


def _transfer(rows: int, row_bytes: int, store: bool = False, dge=nisa.dge_mode.unknown) -> dict:
    """The one DMA of a kernel that moves `rows` partitions of `row_bytes` bytes."""

    @nki.jit
    def kernel(x):
        tile = nl.ndarray((rows, row_bytes // 4), dtype=nl.float32, buffer=nl.sbuf)
        if not store:
            nisa.dma_copy(dst=tile, src=x, dge_mode=dge)
            return x
        out = nl.ndarray((rows, row_bytes // 4), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.memset(tile, 0.0)
        nisa.dma_copy(dst=out, src=tile, dge_mode=dge)
        return out

    kernel(np.zeros((rows, row_bytes // 4), np.float32))
    return [i for i in trnsim.last_profile().instructions if i["opcode"] == "dma_copy"][0]


def _span(transfer: dict) -> float:
    return transfer["end_ns"] - transfer["start_ns"]


def _packet(row, _):
    size = int(row.params["bytes"])
    if size < _SMALLEST or size > 4096:
        return None
    # One engine serves eight partitions: what four more rows add is theirs alone.
    return (_span(_transfer(8, size)) - _span(_transfer(4, size))) / 4


def _one_engine(row, *_):
    size = int(row.params["bytes"])
    if size < _SMALLEST:
        return None
    return (_span(_transfer(8, size // 4)) - _span(_transfer(4, size // 4)))


def _accessed(row) -> tuple[int, int] | None:
    match = re.match(r"(\d+)x(\d+) B$", row.params.get("access", ""))
    return (int(match[1]), int(match[2])) if match else None


def _first_packet(row, direction):
    shape = _accessed(row)
    if shape is None:
        return None
    moved = _transfer(*shape, store=direction == "SBUF->HBM", dge=nisa.dge_mode.hwdge)
    return moved["moving_from_ns"] - moved["start_ns"]


def _data_phase(row, direction):
    shape = _accessed(row)
    if shape is None:
        return None
    moved = _transfer(*shape, store=direction == "SBUF->HBM", dge=nisa.dge_mode.hwdge)
    return moved["moving_until_ns"] - moved["moving_from_ns"]


_FORMS = (
    (r"DMA packet, queue type (hardware_dynamic|software_dynamic)", _packet),
    (r"(\d+) KiB (moved by one|descriptor on one) DMA engine", _one_engine),
    (r"DMA of 32 KiB on one engine", _one_engine),
    (r"(?:ACT|SP) hardware DGE, (SBUF->HBM|HBM->SBUF): issue to first data packet", _first_packet),
    (r"(?:ACT|SP) hardware DGE, (SBUF->HBM|HBM->SBUF): data phase", _data_phase),
)
