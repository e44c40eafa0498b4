"""The results of all repositories as one markdown page."""

import re
from collections import defaultdict

from corpus.case import ILLEGAL, INTENDED, KERNEL, SIMULATOR, SURROUNDINGS

INTRODUCTION = """\
# Published kernels under trnsim

Written by `python tools/corpus.py FOLDER` from a folder of checkouts. Do not edit: change the recipes in
`tools/corpus/recipes/` and run it again.

Every file is run as it was published, in processes of its own, on trn2 unless stated; a recipe says only how to call
what is there, and with which sizes. A *kernel* is a function that was launched (kernels that it calls are part of it).
It *runs* if no launch of it was refused, and *agrees* if every check that it took part in held: the repository's own
tests and tolerances where there are any, else numpy by the operation's definition. *Rightly refused* are kernels that
are there to be refused, and those that no chip takes, each with the evidence below; the last column counts them as
right, the column *agree* does not. *Skipped* are tests that the repository's own switches leave out of a simulation, or
for which it holds no cases.
"""

# The repositories that the project holds itself to.
NAMED = ("AccelOpt", "autocomp", "nki-library", "nki-samples", "nkipy", "trnfft", "trnsolver")

FAULTS = {
    INTENDED: "refused, as intended",
    ILLEGAL: "illegal on the chip, refused rightly",
    KERNEL: "the kernel's or its test's own",
    SIMULATOR: "trnsim's",
    SURROUNDINGS: "wants what is not here",
    "": "unexplained",
}


class Tally:
    """The kernels of some cases, by "file:name": tried, refused rightly or wrongly, differing."""

    def __init__(self):
        self.tried, self.refused, self.differing, self.rightly = set(), set(), set(), set()
        self.cases = self.failed_cases = 0

    def add(self, row, faults):
        self.cases += row["tests"]
        self.tried.update(row["kernels"])
        for problem in row["problems"]:
            rightly = faults.get(problem["finding"]) in (INTENDED, ILLEGAL)
            self.failed_cases += not rightly
            # What fails before any launch counts as a kernel that was tried.
            for kernel, ended_well in (problem["launches"] or {f"{row['file']}:{row['name']}": False}).items():
                self.tried.add(kernel)
                (self.differing if ended_well else self.rightly if rightly else self.refused).add(kernel)

    @property
    def counts(self):
        """Kernels tried, run, agreeing, refused rightly; one that is refused wrongly in some case counts as that."""
        rightly = self.rightly - self.refused - self.differing
        runs = len(self.tried - self.refused - rightly)
        return len(self.tried), runs, runs - len(self.differing - self.refused), len(rightly)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(map(str, r)) + " |" for r in rows]


def escape(text):
    return re.sub(r"([|<>*_`])", r"\\\1", text)


def share(part, whole):
    return f"{part} ({100 * part // whole} %)" if whole else "0"


def named(repository):
    return repository in NAMED or repository.startswith("asst4-")


def write(repositories):
    """The page. repositories: results as tools/corpus.py stores them."""
    rows, details = [], []
    totals = {"the repositories that the project holds itself to": [0] * 4, "all": [0] * 4}
    for results in repositories:
        faults = {title: entry["fault"] for title, entry in results["findings"].items()}
        by_dialect = defaultdict(Tally)
        for row in results["cases"]:
            by_dialect[row["dialect"]].add(row, faults)
        for dialect, tally in sorted(by_dialect.items()):
            for total in list(totals)[not named(results["repository"]) :]:
                totals[total] = [a + b for a, b in zip(totals[total], tally.counts, strict=True)]
            name = f"[{results['repository']}](#{results['repository']}){'*' * named(results['repository'])}"
            rows.append((name, results["commit"], dialect, tally.cases, *shares(tally.counts)))
        details += repository_section(results, faults)
    header = ("repository", "commit", "dialect", "checks", "kernels tried", "run", "agree", "rightly refused",
              "right in all")
    rows += [(total, "", "", "", *shares(counts)) for total, counts in totals.items()]
    note = "The repositories that the project holds itself to are marked *."
    return "\n".join([INTRODUCTION, *table(header, rows), "", note, "", *details]).rstrip() + "\n"


def shares(counts):
    """The columns of the table for a Tally's counts."""
    tried, runs, agree, rightly = counts
    return tried, share(runs, tried), share(agree, tried), rightly or "", share(agree + rightly, tried)


def repository_section(results, faults):
    lines = [f"## {results['repository']}", ""]
    files = defaultdict(list)
    for row in results["cases"]:
        files[row["file"], row["dialect"]].append(row)
    rows = []
    for (file, dialect), cases in files.items():
        tally = Tally()
        for case in cases:
            tally.add(case, faults)
        tried, runs, agree, rightly = tally.counts
        remarks = "; ".join(dict.fromkeys(c["note"] or c["remark"] for c in cases if c["note"] or c["remark"]))
        skipped = sum(len(c["skipped"]) for c in cases)
        passed = f"{tally.cases - tally.failed_cases} of {tally.cases}" + f", {skipped} skipped" * bool(skipped)
        rows.append((escape(file), dialect, passed, f"{tried}, {runs}, {agree}, {rightly}",
                     escape(remarks)[:200]))
    lines += table(("file", "dialect", "checks that hold", "kernels: tried, run, agree, rightly refused",
                    "remarks"), rows) + [""]
    for title, text in results["sections"].items():
        lines += [f"### {title}", "", text, ""]
    misses = [(row, problem) for row in results["cases"] for problem in row["problems"]]
    if misses:
        lines += ["What does not run or differs:", ""]
        lines += [
            f"- {escape(row['file'])} {escape(row['name'])} `{problem['name']}`: {escape(problem['problem'][:300])} — "
            + (f"*{problem['finding']}*" if problem["finding"] else "**unexplained**")
            for row, problem in misses
        ]
        lines.append("")
    for title, entry in results["findings"].items():
        lines += [f"**{title}** ({FAULTS[entry['fault']]}). {entry['text']}", ""]
    return lines
