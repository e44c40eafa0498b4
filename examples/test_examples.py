"""Every example runs under the command `trnsim run` and finds its own results right."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SCRIPTS = sorted(path.relative_to(FOLDER) for path in FOLDER.glob("[0-9]*/*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_example(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "trnsim", "run", "--trace", tmp_path / "trace", FOLDER / script],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout and "FAIL" not in done.stdout
    assert "verdict" in done.stdout and "time lost to" in done.stdout
    assert (tmp_path / "trace").stat().st_size > 1000


@pytest.mark.parametrize("folder", sorted({script.parent for script in SCRIPTS}), ids=str)
def test_readme_names_its_script(folder):
    text = (FOLDER / folder / "README.md").read_text()
    assert all(f"trnsim run examples/{script}" in text for script in SCRIPTS if script.parent == folder)


@pytest.mark.parametrize("notebook", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.name)
def test_the_cells_of_a_notebook_run(notebook, capsys):
    names = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert capsys.readouterr().out
