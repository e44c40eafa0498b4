"""Measured rows: one published figure each, with where it was read and how sure its reader was.

The files are CSV with the columns id, source, kernel (or name), params_json, dtype, chip, lnc, metric, value, unit and
confidence.
"""

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path

_NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


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

    @property
    def is_time(self) -> bool:
        return self.unit == "ns"


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
               unit="ns" if unit in _NANOSECONDS else unit, confidence=record["confidence"])
