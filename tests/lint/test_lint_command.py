"""The command `trnsim lint`, and what `trnsim run` says of it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lint_samples import HEAD, OLD_HEAD, kernel
from trnsim.lint import table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lint.md"
TRY = kernel("try:\n    pass\nexcept ValueError:\n    pass")
RUNS = """
y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
nisa.dma_copy(dst=t, src=x)
sizes = [n for n in x.shape]
nisa.dma_copy(dst=y, src=t)
return y
"""
LAUNCH = "\nprint('result', float(kernel(np.ones((128, 64), np.float32)).sum()))\n"


@pytest.fixture
def trnsim(tmp_path):
    def run(*arguments):
        done = subprocess.run([sys.executable, "-m", "trnsim", *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        assert "Traceback" not in done.stderr and "python/trnsim" not in done.stderr
        return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)

    return run


def test_finding_names_place_level_rule_and_fix(trnsim, write):
    done = trnsim("lint", write(TRY))
    assert done.code == 1
    line = TRY.splitlines().index("    try:") + 1
    assert re.search(rf"sample\.py:{line}:5: error: .*; decide with if/else.* \[python\.try\]$", done.out.strip())


def test_clean_file_prints_nothing(trnsim, write):
    done = trnsim("lint", write(kernel("n = x.shape[0]")))
    assert (done.code, done.out, done.err) == (0, "", "")


def test_warnings_alone_leave_the_exit_code_at_zero(trnsim, write):
    done = trnsim("lint", write(kernel("for i in nl.affine_range(4):\n    pass")))
    assert done.code == 0 and "warning" in done.out


def test_json_has_every_field(trnsim, write):
    (finding,) = json.loads(trnsim("lint", "--json", write(TRY)).out)
    assert finding["rule"] == "python.try" and finding["level"] == "error" and finding["column"] == 5
    assert set(finding) == {"file", "line", "column", "level", "rule", "message", "fix"}


def test_folder_is_searched(trnsim, write, tmp_path):
    write(TRY)
    assert "python.try" in trnsim("lint", tmp_path).out


def test_release_chooses_the_rules(trnsim, write):
    path = write(kernel("nisa.topk(dst=x)\nif x.shape[0] is True:\n    pass"))
    assert trnsim("lint", path).out.count("error") == 1
    assert "nki.isa.topk came with release 0.6" in trnsim("lint", "--nki", "0.4", path).out
    assert "python.is" not in trnsim("lint", "--nki", "0.2", path).out


@pytest.mark.parametrize("arguments, said", [
    ((), "needs a Python file"),
    (("nowhere.py",), "nowhere.py: no such file"),
    (("--nki", "9.9", "x.py"), "unknown NKI release '9.9'"),
    (("--strict",), "--strict"),
])
def test_wrong_use_is_said_in_one_line(trnsim, arguments, said):
    done = trnsim("lint", *arguments)
    assert done.code == 2 and said in done.err and done.err.count("\n") == 1 and not done.out


def test_older_package_is_refused_where_kernels_use_it(trnsim, write):
    old = write(kernel("pass", head=OLD_HEAD), "old.py")
    assert trnsim("lint", old).code == 0 and trnsim("lint", "--nki", "0.3", old).code == 0
    assert "release.import" in trnsim("lint", "--nki", "0.4", old).out
    dtypes = write("import neuronxcc.nki.language as nl\nDTYPE = nl.bfloat16\n", "dtypes.py")
    assert trnsim("lint", "--nki", "0.4", dtypes).out == ""


def test_binary_file(trnsim, tmp_path):
    (tmp_path / "a.py").write_bytes(b"\x7fELF\0\0")
    done = trnsim("lint", "a.py")
    assert done.code == 2 and "a.py: this is a binary file" in done.err


def test_one_unreadable_file_of_a_folder_hides_no_findings(trnsim, write, tmp_path):
    (tmp_path / "a.py").write_bytes(b"\0")
    (tmp_path / "folder.py").mkdir()
    write(TRY)
    done = trnsim("lint", tmp_path)
    assert done.code == 2 and "a.py: this is a binary file" in done.err and "python.try" in done.out


def test_file_that_is_not_utf8(trnsim, tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = '\xff\xfe'\n")
    done = trnsim("lint", "a.py")
    assert done.code == 1 and "a.py:1:" in done.out and "python.syntax" in done.out


def test_syntax_error_is_a_finding_at_its_line(trnsim, write):
    done = trnsim("lint", write("x = 1\ny = (\n"))
    assert done.code == 1 and "sample.py:2:5: error: not Python" in done.out


def test_deep_nesting_is_no_crash(trnsim, write):
    done = trnsim("lint", write("x = " + "(" * 5000 + "1" + ")" * 5000))
    assert done.code in (0, 1)


def test_run_warns_and_runs_all_the_same(trnsim, write):
    done = trnsim("run", "--quiet", write(kernel(RUNS) + LAUNCH))
    assert done.code == 0 and "result 8192.0" in done.out
    assert "trnsim: lint: " in done.err and "python.comprehension" in done.err


def test_run_without_lint(trnsim, write):
    done = trnsim("run", "--no-lint", "--quiet", write(kernel(RUNS) + LAUNCH))
    assert done.code == 0 and "result 8192.0" in done.out and "lint" not in done.err


def test_option_after_the_script_is_the_scripts_own(trnsim, write):
    path = write("import sys\nprint(sys.argv[1:])\n")
    assert "['--no-lint']" in trnsim("run", path, "--no-lint").out


def test_run_shows_five_findings_and_a_count(trnsim, write):
    body = RUNS.replace("sizes =", "\n".join(f"s{n} = [n for n in x.shape]" for n in range(7)) + "\nsizes =")
    done = trnsim("run", "--quiet", write(kernel(body) + LAUNCH))
    assert done.err.count("python.comprehension") == 5 and "and 3 more" in done.err


def test_run_says_nothing_of_a_script_without_kernels(trnsim, write):
    done = trnsim("run", write(HEAD + "print([n for n in range(3)], f'{1:>3}')\n"))
    assert done.code == 0 and "lint" not in done.err


def test_run_says_nothing_of_names_that_only_other_releases_lack(trnsim, write):
    done = trnsim("run", "--quiet", write(kernel(RUNS.replace("sizes = [n for n in x.shape]",
                                                              "for i in nl.affine_range(2):\n    pass")) + LAUNCH))
    assert done.code == 0 and "lint" not in done.err


def test_docs_page_has_the_rules_that_the_command_prints(trnsim):
    rules = trnsim("lint", "--rules").out
    assert rules == table.page() and rules in PAGE.read_text()


def test_a_defect_of_lint_is_said_and_stops_no_run(tmp_path, monkeypatch, capsys):
    from trnsim.lint import check, command

    def broken(*_):
        raise IndexError("somewhere")

    monkeypatch.setattr(check, "check", broken)
    command.warn(tmp_path / "script.py", "auto")
    assert "a defect of trnsim: IndexError: somewhere" in capsys.readouterr().err
