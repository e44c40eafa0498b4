"""Measured rows: one published figure each, with where it was read and how sure its reader was.

The files are CSV with the columns id, source, kernel (or name), params_json, dtype, chip, lnc, metric, value, unit and
confidence.
"""

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path

import ml_dtypes
import numpy as np

_NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_DTYPES = {"fp32": np.float32, "bf16": ml_dtypes.bfloat16, "fp16": np.float16, "float16": np.float16,
           "fp8_e5m2": ml_dtypes.float8_e5m2, "fp8_e4m3": ml_dtypes.float8_e4m3}


class Unpredicted(Exception):
    """The row is set aside, and why."""


@dataclass(frozen=True)
class Row:
    """A measured figure. `value` is in ns where the unit is a time, in the row's own unit elsewhere."""

    id: str
    source: str
    name: str
    params: dict = field(hash=False)
    dtype: str
    chip: str
    lnc: str
    metric: str
    value: float
    unit: str
    confidence: str
    n_cores: str = ""

    @property
    def is_time(self) -> bool:
        return self.unit == "ns"

    def param(self, name: str):
        """A parameter of the row. Raises Unpredicted naming it where the row does not have it."""
        if name not in self.params:
            raise Unpredicted(f"the row does not give {name}")
        return self.params[name]

    def array(self, *shape) -> np.ndarray:
        """Zeros of the row's dtype. Raises Unpredicted for one that numpy has no type for."""
        if self.dtype not in _DTYPES:
            raise Unpredicted(f"the dtype is given as {self.dtype!r}")
        return np.zeros(shape, _DTYPES[self.dtype])

    def named_arrays(self, *shapes) -> list[np.ndarray]:
        """Zeros of the row's dtype, of the sizes that the parameters of these names give."""
        return [self.array(*(self.param(name) for name in shape)) for shape in shapes]


def read(path: Path) -> list[Row]:
    """The rows of a CSV file. Raises ValueError naming the line where a row cannot be read."""
    rows = []
    with open(path, newline="", encoding="utf-8") as file:
        for line, record in enumerate(csv.DictReader(file), start=2):
            try:
                rows.append(_row(record))
            except (KeyError, ValueError) as error:
                raise ValueError(f"{path}:{line}: {error}") from error
    return rows


def _row(record: dict) -> Row:
    unit = record["unit"]
    scale = _NANOSECONDS.get(unit, 1.0)
    return Row(id=record["id"], source=record["source"], name=record.get("name") or record["kernel"],
               params=json.loads(record["params_json"] or "{}"), dtype=record["dtype"], chip=record["chip"],
               lnc=record["lnc"], metric=record["metric"], value=float(record["value"]) * scale,
               unit="ns" if unit in _NANOSECONDS else unit, confidence=record["confidence"],
               n_cores=record.get("n_cores") or "")
