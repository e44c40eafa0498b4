"""Samples for lint, written to a file."""

import pytest


@pytest.fixture
def write(tmp_path):
    """write(text) -> the path of a script of that text."""

    def to_file(text, name="sample.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return to_file
