"""The command: runs cases one after the other, each in a process of its own, and keeps the results."""

import argparse
import atexit
import functools
import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import ChainMap, defaultdict
from dataclasses import asdict
from pathlib import Path

from corpus import page, recipes
from corpus.case import Section

TOOLS = Path(__file__).resolve().parents[1]
RESULTS = TOOLS.parent / "validation" / "corpus"
PAGE = TOOLS.parent / "docs" / "compatibility.md"


def load_recipes():
    """The recipes of each repository by the repository's name; mostly there is one."""
    found = defaultdict(list)
    for entry in pkgutil.iter_modules(recipes.__path__):
        recipe = importlib.import_module(f"corpus.recipes.{entry.name}")
        for repository in getattr(recipe, "REPOSITORIES", ()):
            found[repository].append(recipe)
    return found


def run(case, recipe, checkout):
    """The outcome of `case`: a process of its own, with an empty working folder and a time limit."""
    with tempfile.TemporaryDirectory(prefix="corpus") as folder:
        if case.commit:
            checkout = files_of(checkout, case.commit)
        job = Path(folder) / "job.json"
        outcome = Path(folder) / "outcome.json"
        work = Path(folder) / "work"
        work.mkdir()
        job.write_text(json.dumps({"checkout": str(checkout), "recipe": recipe.__name__.rpartition(".")[2],
                                   "case": asdict(case), "outcome": str(outcome)}))
        # The checkouts are not ours to write to.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        environment["PYTHONPATH"] = os.pathsep.join([str(TOOLS), *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-c", f"from corpus.runners import main; main({str(job)!r})"]
        try:
            done = subprocess.run(command, env=environment, cwd=work, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=case.seconds)
        except subprocess.TimeoutExpired:
            return _nothing("time", f"stopped after {case.seconds:.0f} s")
        if os.environ.get("CORPUS_VERBOSE"):
            print(done.stdout[-4000:], done.stderr[-8000:], sep="\n", file=sys.stderr)
        if outcome.exists():
            return json.loads(outcome.read_text().replace(f"{work}/", ""))
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        return _nothing("process", f"exit code {done.returncode}: {last}")


@functools.lru_cache
def files_of(checkout, commit):
    """A folder with the files of an earlier commit; it goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="corpus")
    atexit.register(shutil.rmtree, folder)
    archive = subprocess.run(["git", "-C", str(checkout), "archive", commit], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return Path(folder)


def _nothing(name, problem):
    return {"problems": {name: (problem, {})}, "tests": 1, "kernels": [], "beta1": False}


def dialect(case, outcome, recipe, checkout):
    """The release that a case is written for: what it says, else as it was launched, else what its file imports."""
    if case.dialect:
        return case.dialect
    path = (files_of(checkout, case.commit) if case.commit else checkout) / case.file
    text = path.read_text(errors="replace") if path.is_file() and not outcome["kernels"] else ""
    beta1 = outcome["beta1"] or re.search(r"neuronxcc|torch_neuronx", text)
    return "Beta 1" if beta1 else getattr(recipe, "NKI", "Beta 1")


def finding(findings, row, problem):
    """The title of what was found out about a problem, or "" if nobody has looked at it yet."""
    text = f"{row['file']} {row['name']} {problem['name']}: {problem['problem']}"
    return next((title for title, entry in findings.items() if re.search(entry.pattern, text, re.DOTALL)), "")


def commit_of(checkout):
    command = ["git", "-C", str(checkout), "log", "-1", "--format=%h"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"


def run_repository(repository, recipes_of_it, checkout, only):
    """Run every case; the results as the page needs them. With `only`, the earlier results of the others stay."""
    stored = RESULTS / f"{repository}.json"
    earlier = json.loads(stored.read_text()) if only and stored.exists() else {"cases": [], "sections": {}}
    kept = {key(row): row for row in earlier["cases"]}
    rows, sections = [], {}
    known = ChainMap(*(getattr(recipe, "FINDINGS", {}) for recipe in recipes_of_it))
    for recipe, case in cases_of(recipes_of_it, checkout):
        name = case.title if isinstance(case, Section) else case.name
        if only and not re.search(only, f"{case.file} {name}"):
            if isinstance(case, Section):
                sections[case.title] = earlier["sections"].get(case.title, "")
            elif key(asdict(case)) in kept:
                rows.append(kept[key(asdict(case))])
        elif isinstance(case, Section):
            outcome = run(case.case, recipe, checkout)
            sections[case.title] = outcome.get("remark") or "; ".join(p for p, _ in outcome["problems"].values())
        else:
            rows.append(run_row(case, repository, recipe, checkout))
    # The findings may have been written since a kept row was run.
    for row in rows:
        for problem in row["problems"]:
            problem["finding"] = finding(known, row, problem)
    used = {problem["finding"] for row in rows for problem in row["problems"]}
    findings = {title: {"fault": entry.fault, "text": entry.text.strip()}
                for title, entry in known.items() if title in used}
    return {"repository": repository, "commit": commit_of(checkout), "cases": rows, "sections": sections,
            "findings": findings}


def cases_of(recipes_of_it, checkout):
    return [(recipe, case) for recipe in recipes_of_it for case in recipe.cases(checkout)]


def run_row(case, repository, recipe, checkout):
    began = time.monotonic()
    outcome = run(case, recipe, checkout)
    problems = [{"name": name, "problem": text.replace(str(checkout), repository)[:600], "launches": launches}
                for name, (text, launches) in outcome["problems"].items()]
    row = {"file": case.file, "name": case.name, "dialect": dialect(case, outcome, recipe, checkout),
           "tests": outcome["tests"], "problems": problems, "kernels": outcome["kernels"],
           "skipped": outcome.get("skipped", {}), "remark": outcome.get("remark", ""), "note": case.note}
    found = getattr(recipe, "FINDINGS", {})
    state = "; ".join(f"{p['name']}: {p['problem'][:300]} [{finding(found, row, p) or 'UNEXPLAINED'}]"
                      for p in problems)
    seconds = time.monotonic() - began
    print(f"{repository} {case.file} {case.name}: {state or row['remark'] or 'ok'} ({row['tests']} tests, "
          f"{seconds:.1f} s)", file=sys.stderr, flush=True)
    return row


def key(row):
    return f"{row['file']} {row['name']}"


def main(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with the checkouts")
    parser.add_argument("repositories", nargs="*", help="only these (default: every one that has a recipe)")
    parser.add_argument("--only", help="only cases whose file and name match this expression")
    parser.add_argument("--list", action="store_true", help="list the cases, run nothing")
    parser.add_argument("--no-page", action="store_true", help="leave docs/compatibility.md as it is")
    options = parser.parse_args()
    known = load_recipes()
    names = options.repositories or [name for name in sorted(known) if (options.folder / name).is_dir()]
    for name in names:
        if name not in known:
            parser.error(f"no recipe for {name}; there are recipes for {', '.join(sorted(known))}")
        checkout = (options.folder / name).resolve()
        if not checkout.is_dir():
            parser.error(f"{checkout} is not a folder")
        if options.list:
            for _, case in cases_of(known[name], checkout):
                print(name, case.file, case.title if isinstance(case, Section) else f"{case.name} {case.run}")
            continue
        results = run_repository(name, known[name], checkout, options.only)
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    if not options.list and not options.no_page:
        stored = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
        PAGE.write_text(page.write(stored))
    return 0
